"""Kernels by the four rules of construction, and whether a given matrix can be a Gram matrix.

Prints kernels with their formulas and features, rebuilds the kernel of radial basis functions from exp(x·x′), and tests
matrices.
"""

import numpy as np

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


def main():
    X = np.random.default_rng(0).normal(size=(30, 2))
    rules(X)
    validity(X)


if __name__ == "__main__":
    main()
