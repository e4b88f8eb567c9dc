"""Many classes from binary rules, and where such rules contradict each other.

Three groups in the plane. One-versus-rest leaves regions that nobody claims or that two classes claim; one-versus-one
leaves regions where the votes tie; one K-way linear discriminant has neither, and its regions are convex. Prints how
much of the plane each rule leaves open; with a folder as argument, draws the pictures of docs/discriminant.md there.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from hiperplano import LeastSquaresClassifier, LinearDiscriminantAnalysis, ambiguous

CENTRES = [[-2.0, -1.0], [2.0, -1.0], [0.0, 2.0]]


def groups():
    """Of different sizes, and stretched in different directions."""
    X, y = make_blobs([40, 120, 80], centers=np.zeros((3, 2)), cluster_std=0.8, random_state=0)
    stretch = np.array([[[1.8, 0.0], [0.0, 0.5]], [[0.7, 0.9], [0.0, 0.7]], [[0.8, -0.8], [0.0, 1.0]]])
    return np.einsum("ni,nij->nj", X, stretch[y]) + np.array(CENTRES)[y], y


def rules(X, y):
    binary = LeastSquaresClassifier()
    return {
        "one-versus-rest": OneVsRestClassifier(binary).fit(X, y),
        "one-versus-one": OneVsOneClassifier(binary).fit(X, y),
        "one K-way discriminant": LinearDiscriminantAnalysis().fit(X, y),
    }


def plane(X, points=400):
    low, high = X.min(axis=0) - 1.0, X.max(axis=0) + 1.0
    across, up = (np.linspace(a, b, points) for a, b in zip(low, high, strict=True))
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    return across, up, grid.reshape(-1, 2)


def draw(folder, X, y, models):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    across, up, grid = plane(X)
    colours = ListedColormap(["#9ecae1", "#fdae6b", "#a1d99b"])
    figure, panels = plt.subplots(1, len(models), figsize=(12, 4.2), sharex=True, sharey=True, layout="constrained")
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        decided = np.asarray(model.predict(grid)).reshape(len(up), len(across))
        open_rows = ambiguous(model, grid).reshape(len(up), len(across))
        panel.pcolormesh(across, up, decided, cmap=colours, vmin=0, vmax=2, rasterized=True)
        if open_rows.any():
            panel.contourf(across, up, open_rows, levels=[0.5, 1.5], colors=["#333333"], alpha=0.75)
        panel.scatter(
            *X.T, c=y, cmap=ListedColormap(["#08519c", "#a63603", "#006d2c"]), s=8, edgecolors="white", lw=0.3
        )
        panel.set_title(f"{name}: {100 * open_rows.mean():.1f}% open")
        panel.set_aspect("equal")
    Path(folder).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(folder) / "regions.png", dpi=80)
    plt.close(figure)


def main():
    X, y = groups()
    models = rules(X, y)
    grid = plane(X)[2]
    for name, model in models.items():
        print(f"{name}: {100 * ambiguous(model, grid).mean():.1f}% of the plane is claimed by no class or by several")
    if len(sys.argv) > 1:
        draw(sys.argv[1], X, y, models)


if __name__ == "__main__":
    main()
