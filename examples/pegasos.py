"""Pegasos against the exact support vector machine: how near do its steps come, and how fast?

Both minimise (λ/2)·‖w‖² + mean hinge. Pegasos penalises its intercept too, as the weight of a constant column, so the
exact machine gets that column here. With a folder as argument, draws the distance to the minimum there.
"""

import sys
from pathlib import Path

import numpy as np

from hiperplano import LinearSVC, Pegasos
from hiperplano.losses import Hinge

STRENGTH = 0.01
PASSES = (1, 3, 10, 30, 100, 300)


def objective(w, rows, y):
    return STRENGTH / 2 * w @ w + Hinge().value(y, rows @ w).mean()


def main():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2000) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(2000, 10)) + 0.4 * y[:, None]
    rows = np.column_stack([X, np.ones(len(X))])

    exact = LinearSVC(C=1 / (STRENGTH * len(X)), loss="hinge", fit_intercept=False, tol=1e-8).fit(rows, y)
    least = objective(exact.coef_[0], rows, y)
    print(f"exact: {least:.6f} (proved to {exact.solution_.gap:.0e} of it), {exact.score(rows, y):.3f} right")

    excess = {}
    for average in (False, True):
        excess[average] = []
        for passes in PASSES:
            model = Pegasos(alpha=STRENGTH, average=average, max_iter=passes, tol=None, random_state=0).fit(X, y)
            w = np.append(model.coef_[0], model.intercept_[0])
            excess[average].append(objective(w, rows, y) / least - 1)
            name = "averaged" if average else "last step"
            print(f"{passes:4d} passes, {name:9s}: {excess[average][-1]:8.1e} above it, {model.score(X, y):.3f} right")
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for average, name in ((False, "last step"), (True, "averaged")):
            ax.loglog(PASSES, excess[average], "o-", lw=2, label=name)
        ax.set(xlabel="passes over the rows", ylabel="objective above its minimum, relative")
        ax.legend(frameon=False)
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "pegasos.png", dpi=80)


if __name__ == "__main__":
    main()
