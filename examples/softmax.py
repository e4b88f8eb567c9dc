"""Softmax regression: one linear score for each class, and probabilities that sum to one.

Three species of iris by two measures. Near the borders probabilities are shared, and the odds between two classes are
exp of the difference of their scores. With a folder as argument, draws the regions there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict

from hiperplano import LogisticRegression, RegionsDisplay


def main():
    data = load_iris(as_frame=True)
    X, y = data.data[["petal length (cm)", "petal width (cm)"]], data.target_names[data.target]
    model = LogisticRegression(C=10.0).fit(X, y)
    print(model.solution_)

    flower = X.iloc[[77]]  # one of the hard ones
    scores, shares = model.decision_function(flower)[0], model.predict_proba(flower)[0]
    print(f"\nflower 77 is {y[77]}:")
    for name, score, share in zip(model.classes_, scores, shares, strict=True):
        print(f"{name:12s} score {score:7.2f}   probability {share:.3f}")
    ratio = np.exp(scores[2] - scores[1])
    print(f"odds of virginica against versicolor: {shares[2] / shares[1]:.3f} = exp(difference) {ratio:.3f}")

    predicted = cross_val_predict(model, X, y, cv=5)
    print(f"\nright on flowers not seen in the fit: {np.mean(predicted == y):.3f}")
    unsure = model.predict_proba(X).max(axis=1) < 0.8
    print(
        f"{unsure.sum()} flowers have no class above 80%; {np.mean(predicted[unsure] == y[unsure]):.2f} of them right"
    )
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        RegionsDisplay.from_estimator(model, X, y).figure_.savefig(folder / "softmax.png", dpi=80)


if __name__ == "__main__":
    main()
