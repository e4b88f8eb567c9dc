"""Many classes from binary rules, and where such rules contradict each other.

Three groups in the plane. One-versus-rest leaves regions that nobody claims or that two classes claim; one-versus-one
leaves regions where the votes tie; one K-way linear discriminant has neither, and its regions are convex. Prints how
much of the plane each rule leaves open; with a folder as argument, draws the picture of docs/discriminant.md there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from hiperplano import LeastSquaresClassifier, LinearDiscriminantAnalysis, RegionsDisplay, ambiguous

CENTRES = [[-2.0, -1.0], [2.0, -1.0], [0.0, 2.0]]
RULES = {
    "one-versus-rest": OneVsRestClassifier(LeastSquaresClassifier()),
    "one-versus-one": OneVsOneClassifier(LeastSquaresClassifier()),
    "one K-way discriminant": LinearDiscriminantAnalysis(),
}


def groups():
    """Of different sizes, and stretched in different directions."""
    X, y = make_blobs([40, 120, 80], centers=np.zeros((3, 2)), cluster_std=0.8, random_state=0)
    stretch = np.array([[[1.8, 0.0], [0.0, 0.5]], [[0.7, 0.9], [0.0, 0.7]], [[0.8, -0.8], [0.0, 1.0]]])
    return np.einsum("ni,nij->nj", X, stretch[y]) + np.array(CENTRES)[y], y


def main():
    X, y = groups()
    grid = np.stack(np.meshgrid(*np.linspace(X.min(axis=0), X.max(axis=0), 300).T), axis=-1).reshape(-1, 2)
    for name, rule in RULES.items():
        share = ambiguous(rule.fit(X, y), grid).mean()
        right = rule.score(X, y)
        print(
            f"{name}: {100 * share:.1f}% of the plane is claimed by no class or by several; {right:.3f} of rows right"
        )
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, panels = plt.subplots(1, 3, figsize=(12, 4.4), sharex=True, sharey=True, layout="constrained")
        for panel, (name, rule) in zip(panels, RULES.items(), strict=True):
            display = RegionsDisplay.from_estimator(rule, X, y, ax=panel, s=12)
            panel.set_xlabel(f"{name}: {100 * display.open_share:.1f}% ambiguous")
            panel.set_ylabel("")
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "regions.png", dpi=80)


if __name__ == "__main__":
    main()
