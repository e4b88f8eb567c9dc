"""How many features a kernel has."""

from __future__ import annotations

import math

from hiperplano.kernels.algebra import Constant, Kernel, Product, Scaled, Sum
from hiperplano.kernels.inner_product import Linear, Polynomial


def n_features(kernel: Kernel, n_columns: int) -> float:
    """Number of entries of `kernel.features` for rows with so many columns; infinite where it is not known."""
    match kernel:
        case Linear():
            return n_columns
        case Polynomial() if kernel.positive_definite:
            degree = int(kernel.degree)
            return math.comb(n_columns + degree - (kernel.coef0 == 0), degree)
        case Constant():
            return 1
        case Sum():
            return n_features(kernel.left, n_columns) + n_features(kernel.right, n_columns)
        case Product():
            return n_features(kernel.left, n_columns) * n_features(kernel.right, n_columns)
        case Scaled():
            return n_features(kernel.kernel, n_columns)
    return math.inf
