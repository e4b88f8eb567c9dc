"""A circle is a plane in other columns: φ(x) = (x₁, x₂, x₁², x₂²) makes classes inside and outside it separable.

No line separates them in the plane, and `separability` proves it; with φ a plane does, and its coefficients are those
of the circle. With a folder as argument, draws the boundary there.
"""

import sys
from pathlib import Path

import numpy as np

from hiperplano import HardMarginSVC, separability

CENTRE, RADIUS = np.array([1.0, -0.5]), 1.5


def phi(X):
    return np.column_stack([X, X**2])


def main():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 4, size=(600, 2))
    distance = np.linalg.norm(X - CENTRE, axis=1) - RADIUS
    X, inside = X[np.abs(distance) > 0.15], distance[np.abs(distance) > 0.15] < 0
    y = np.where(inside, "inside", "outside")

    print(f"in the plane: {type(separability(X, y)).__name__}")
    print(f"with squares: {type(separability(phi(X), y)).__name__}")
    model = HardMarginSVC().fit(phi(X), y)
    linear, square = model.coef_[0, :2], model.coef_[0, 2:]
    centre = -linear / (2 * square)
    radius = np.sqrt(np.mean(centre**2) * 2 - float(model.intercept_[0]) / square.mean())
    print(f"centre: {centre[0]:.2f}, {centre[1]:.2f}")
    print(f"radius: {radius:.2f}")
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, ax = plt.subplots(figsize=(5.2, 5.0), layout="constrained")
        for side, mark in ((True, "o"), (False, "s")):
            ax.plot(*X[inside == side].T, mark, ms=4, label="inside" if side else "outside")
        across, up = np.meshgrid(np.linspace(-3, 4, 200), np.linspace(-3, 4, 200))
        scores = model.decision_function(phi(np.column_stack([across.ravel(), up.ravel()])))
        ax.contour(across, up, scores.reshape(across.shape), levels=[0.0], colors="black")
        ax.legend(frameon=False)
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "circle.png", dpi=80)


if __name__ == "__main__":
    main()
