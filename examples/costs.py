"""Cost-sensitive decisions.

A missed tumour costs as much as ten false alarms. The most probable class is then not the best decision: the cut-off
moves to where the expected costs of both decisions are equal, 1/(1 + 10) of probability. With a folder as argument,
draws the cost of every cut-off there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hiperplano import CostSensitiveClassifier, LogisticRegression, confusion_at, savings_score

COSTS = np.array([[0.0, 10.0], [1.0, 0.0]])  # decide 0 (benign) where 1 (malignant) is true: 10


def main():
    data = load_breast_cancer()
    rows, tumour = data.data[:, :10], (data.target == 0).astype(int)
    X, X_new, y, y_new = train_test_split(rows, tumour, test_size=0.5, random_state=1, stratify=tumour)
    plain = LogisticRegression().fit(X, y)
    careful = CostSensitiveClassifier(LogisticRegression(), costs=COSTS).fit(X, y)
    for name, model in (("most probable class", plain), ("least expected cost", careful)):
        decided = model.predict(X_new)
        missed, alarms = np.sum((decided == 0) & (y_new == 1)), np.sum((decided == 1) & (y_new == 0))
        cost = 10 * missed + alarms
        saved = savings_score(y_new, decided, COSTS)
        print(f"{name}: {missed} missed, {alarms} false alarms, cost {cost}, {100 * saved:.0f}% saved")

    cutoffs = np.linspace(0.005, 0.995, 199)
    at = confusion_at(y_new, plain.predict_proba(X_new)[:, 1], cutoffs)
    cost = 10 * at.fn + at.fp
    print(
        f"Bayes' cut-off {1 / 11:.3f}; the cheapest on these rows, known only afterwards: {cutoffs[cost.argmin()]:.3f}"
    )
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        ax.plot(cutoffs, cost, color="#0072B2", lw=2)
        ax.axvline(1 / 11, color="black", ls="--", label="Bayes' cut-off 1/11")
        ax.axvline(0.5, color="grey", ls=":", label="most probable class")
        ax.set(xlabel="probability from which a tumour is assumed", ylabel="cost on new rows", ylim=(0, None))
        ax.legend(frameon=False, loc="lower right")
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "costs.png", dpi=80)


if __name__ == "__main__":
    main()
