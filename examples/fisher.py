"""Fisher's discriminant: the direction along which two groups lie farthest apart, beside the first principal component.

Two species of iris and their four measures. T = F + W splits the scatter of scores into that between groups and that
inside; Fisher's u has the largest F/W of all directions. The first principal component has the largest T, which need
not separate anything. With a folder as argument, draws the scores there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

from hiperplano import LinearDiscriminantAnalysis


def scatter(scores, y):
    """F and W of scores: between the groups and inside them."""
    groups = [scores[y == k] for k in np.unique(y)]
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    return ((scores - scores.mean()) ** 2).sum() - within, within


def main():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    model = LinearDiscriminantAnalysis().fit(X, y)
    fisher = model.fisher()
    component = PCA(1).fit(X).components_[0]
    print("u =", fisher.u.round(3))
    print("centroids at", fisher.centroids.round(2), "cut-off at", round(fisher.cutoff, 2))
    print(f"wrong: {np.sum(model.predict(X) != y)} of {len(y)} flowers\n")
    for name, direction in (("Fisher's u", fisher.u), ("first principal component", component)):
        between, within = scatter(X @ direction, y)
        print(f"{name:26s} F/W = {between / within:.2f}, share of F in T = {between / (between + within):.2f}")
    print(f"largest eigenvalue of W^-1 F: {model.axes().eigenvalues[0]:.2f}")
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
        for ax, direction, name in zip(panels, (fisher.u, component), ("Fisher's u", "first component"), strict=True):
            ax.hist(
                [X[y == k] @ direction for k in (1, 2)],
                bins=18,
                color=["#0072B2", "#D55E00"],
                histtype="stepfilled",
                alpha=0.6,
            )
            ax.set(xlabel=f"score along {name}", ylabel="flowers")
        panels[0].axvline(fisher.cutoff, color="black", ls="--")
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "fisher.png", dpi=80)


if __name__ == "__main__":
    main()
