"""Kernel ridge regression: one criterion, through features and through the kernel, exactly and in the span of few rows.

A wave with noise. With a folder as argument, draws the fits of three penalties there.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from hiperplano import KernelRidge, KernelRidgeCV, Ridge
from hiperplano.kernels import Polynomial


def wave(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 6, size=(n, 1))
    return x, np.sin(2 * x[:, 0]) + 0.5 * x[:, 0] + 0.3 * rng.normal(size=n)


def main():
    x, y = wave(300, seed=0)
    x_new, y_new = wave(2000, seed=1)

    kernel = Polynomial(degree=6, gamma=0.1)
    through_features = Ridge(0.1, fit_intercept=False).fit(kernel.features(x), y)
    through_kernel = KernelRidge(0.1, kernel=kernel).fit(x, y)
    difference = through_features.predict(kernel.features(x_new)) - through_kernel.predict(x_new)
    print(
        f"(K + alpha)·a = y against ridge on {kernel.features(x).shape[1]} features: {np.abs(difference).max():.0e}\n"
    )

    chosen = KernelRidgeCV(np.logspace(-5, 3, 9), kernel="rbf", gamma=2.0, cv=None).fit(x, y)
    print(f"leave-one-out chooses alpha = {chosen.alpha_:g}, lambda = alpha/n = {chosen.alpha_ / len(y):.1e}\n")
    print("alpha     training error   error on new rows")
    for alpha in (1e-5, chosen.alpha_, 1000.0):
        model = KernelRidge(alpha, kernel="rbf", gamma=2.0).fit(x, y)
        seen, unseen = np.mean((y - model.predict(x)) ** 2), np.mean((y_new - model.predict(x_new)) ** 2)
        print(f"{alpha:<10g}{seen:14.3f}{unseen:20.3f}")

    rough = KernelRidge(chosen.alpha_, kernel="rbf", gamma=2.0, solver="nystroem", n_components=30).fit(x, y)
    print(f"\n{rough.solution_.status}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        figure, axes = plt.subplots(layout="constrained")
        axes.plot(x[:, 0], y, "o", markersize=3, color="0.6")
        grid = np.linspace(0, 6, 400)[:, None]
        for alpha in (1e-5, chosen.alpha_, 1000.0):
            model = KernelRidge(alpha, kernel="rbf", gamma=2.0).fit(x, y)
            axes.plot(grid[:, 0], model.predict(grid), label=f"alpha = {alpha:g}")
        axes.set(xlabel="x", ylabel="y")
        axes.legend()
        figure.savefig(folder / "kernel_ridge.png", dpi=80)


if __name__ == "__main__":
    main()
