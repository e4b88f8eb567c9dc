"""The step size η of gradient descent: too small is slow, too large diverges, and the border is 2 over the curvature.

Least squares on two columns, ½·mean (y − x·w)²: each step multiplies the error along an eigenvector of the mean xxᵀ
by 1 − η·eigenvalue, so that it shrinks for η below 2 over the largest one. With a folder as argument, draws the losses
there.
"""

import sys
from pathlib import Path

import numpy as np

from hiperplano import LinearRegression
from hiperplano.losses import Squared

STEPS = 60


def descend(X, y, step):
    """The excess of the loss over its minimum after every step."""
    best = LinearRegression(fit_intercept=False).fit(X, y)
    least = Squared().value(y, best.predict(X)).mean()
    w, excess = np.zeros(X.shape[1]), []
    for _ in range(STEPS):
        w -= step * X.T @ Squared().slope(y, X @ w) / len(X)
        excess.append(Squared().value(y, X @ w).mean() - least)
    return np.array(excess)


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [1.0, 0.4]
    y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=400)
    largest = float(np.linalg.eigvalsh(X.T @ X / len(X))[-1])
    print(f"largest curvature: {largest:.3f}, so steps must stay below {2 / largest:.3f}")
    found = {}
    for share in (0.05, 0.5, 0.99, 1.01):
        step = share * 2 / largest
        found[share] = descend(X, y, step)
        word = "shrinks" if found[share][-1] < found[share][0] else "grows"
        print(f"step of {share:.2f} times that: the loss {word}, {found[share][-1]:.1e} above its minimum at the end")
    if len(sys.argv) > 1:
        from matplotlib import pyplot as plt

        figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for share, excess in found.items():
            ax.semilogy(range(1, STEPS + 1), excess, lw=2, label=f"{share:g} of the border")
        ax.set(xlabel="steps", ylabel="loss above its minimum")
        ax.legend(frameon=False)
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(sys.argv[1]) / "step_size.png", dpi=80)


if __name__ == "__main__":
    main()
