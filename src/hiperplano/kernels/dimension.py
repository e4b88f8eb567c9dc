"""Kernels with few features: their number, and whether computing them is worthwhile."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.data.finite import LARGEST, SMALLEST
from hiperplano.kernels.algebra import Constant, Kernel, Product, Scaled, Sum
from hiperplano.kernels.inner_product import Linear, Polynomial
from hiperplano.kernels.matrix import dense_if_small

_ROWS = 4  # rows per feature from which solvers in the features are faster than those on the Gram matrix


def n_features(kernel: Kernel, n_columns: int) -> float:
    """Number of entries of `kernel.features` for a number of columns; infinite if unknown."""
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


def few_features(kernel: Kernel, X: Any, n_rows: int) -> Array | None:
    """The features of all rows in float64, of shape (n, features), if there are far fewer features than rows.

    None otherwise, and for features whose squares might overflow or underflow.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, d)
    n_rows : int
        Number of rows of the smallest problem to solve with them.
    """
    if _ROWS * n_features(kernel, X.shape[1]) > n_rows:
        return None
    rows = dense_if_small(X)
    if issparse(rows):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.asarray(kernel.features(np.asarray(rows, dtype=np.float64)), dtype=np.float64)
    sizes = np.maximum(found.max(axis=0, initial=0.0), -found.min(axis=0, initial=0.0))
    return found if ((sizes < LARGEST) & ((sizes > SMALLEST) | (sizes == 0.0))).all() else None
