"""The passive-aggressive rule: every row moves the plane just as far as it must, and no further than C lets it.

One in ten labels is wrong. Without a limit (PA) each wrong label throws the plane away; PA-I and PA-II limit the step.
With a folder as argument, draws the accuracy after every pass there.
"""

import sys
from pathlib import Path

import numpy as np

from hiperplano import PassiveAggressiveClassifier

RULES = {"PA": ("hinge", 1e9), "PA-I": ("hinge", 0.01), "PA-II": ("squared_hinge", 0.01)}
PASSES = 20


def rows(n, seed):
    """Points on both sides of a line, one label in ten turned; and the labels as they were."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    true = np.where(X @ [1.0, -2.0, 0.5, 0.0, 1.0] > 0, 1, -1)
    return X, np.where(rng.random(n) < 0.1, -true, true), true


def main():
    X, y, _ = rows(2000, 0)
    new, _, true = rows(5000, 1)
    right = {}
    for name, (loss, limit) in RULES.items():
        model = PassiveAggressiveClassifier(C=limit, loss=loss, random_state=0)
        right[name] = []
        for _ in range(PASSES):
            model.partial_fit(X, y, classes=[-1, 1])
            right[name].append(model.score(new, true))
        print(f"{name}: {min(right[name]):.3f} to {max(right[name]):.3f} of new rows right after {PASSES} passes")
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for name, shares in right.items():
            ax.plot(range(1, PASSES + 1), shares, "o-", lw=2, label=name)
        ax.set(xlabel="passes over the rows", ylabel="share of new rows decided rightly")
        ax.legend(frameon=False)
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "passive_aggressive.png", dpi=80)


if __name__ == "__main__":
    main()
