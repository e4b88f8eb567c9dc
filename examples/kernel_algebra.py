"""Kernels by the four rules of construction, and whether a given matrix can be a Gram matrix.

Prints kernels with their formulas and features, rebuilds the kernel of radial basis functions from exp(x·x′), and tests
matrices. With a folder as argument, draws what a sum of kernels can fit there.
"""

import sys
from pathlib import Path

import numpy as np

from hiperplano import KernelRidge
from hiperplano.kernels import RBF, Constant, Exponential, Linear, Sigmoid, is_valid_gram


def f(X):
    return np.exp(-np.square(X).sum(axis=1) / 2)


def rules(X):
    one = Constant(1.0)  # rule 1
    scaled = Exponential().scaled(f)  # rule 2: f(x)·k(x, x′)·f(x′)
    added = Linear() + one  # rule 3
    multiplied = added * added  # rule 4: (x·x′ + 1)², without its square ever written down
    for kernel in (one, scaled, added, multiplied):
        print(f"{kernel!s:32} of two rows: {kernel(X[0], X[1]):.4f}")
    print(f"{RBF(gamma=0.5)!s:32} of two rows: {RBF(gamma=0.5)(X[0], X[1]):.4f}  (the second, by another name)")
    products = multiplied.features(X) @ multiplied.features(X).T
    print(f"features of the last: {multiplied.features(X).shape[1]}; their products are the kernel: ", end="")
    print(np.allclose(products, multiplied(X)))


def validity(X):
    for kernel in (RBF(0.5), Linear() * RBF(0.5), Sigmoid(gamma=2.0, coef0=-1.0)):
        print(f"\n{kernel}: {is_valid_gram(kernel(X))}")


def draw(folder):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, size=60))
    y = 0.7 * x + np.sin(3 * x) + 0.2 * rng.normal(size=60)
    grid = np.linspace(-2, 8, 400)
    figure, axes = plt.subplots(layout="constrained")
    axes.plot(x, y, "o", markersize=4, color="0.5")
    for kernel in (Linear() + 1.0, RBF(2.0), Linear() + 1.0 + RBF(2.0)):
        model = KernelRidge(0.1, kernel=kernel).fit(x[:, None], y)
        axes.plot(grid, model.predict(grid[:, None]), label=str(kernel))
    axes.set(xlabel="x", ylabel="y", title="Kernel ridge regression: a sum of kernels has both their features")
    axes.legend()
    figure.savefig(folder / "kernel_algebra.png", dpi=80)
    plt.close(figure)


def main():
    X = np.random.default_rng(0).normal(size=(30, 2))
    rules(X)
    validity(X)
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        draw(folder)


if __name__ == "__main__":
    main()
