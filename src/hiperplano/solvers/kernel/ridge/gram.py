"""The weighted Gram matrix of kernel ridge regression, computed on demand or kept in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.kernels import Kernel, KernelMatrix
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.linalg.memory import memory_limit
from hiperplano.linalg.tiles.symmetric import SymmetricTiles

_FEW = 1024  # up to this number of rows, the matrix is not split into tiles


@dataclass(frozen=True)
class WeightedGram:
    """S·K·S, where S = diag(√w).

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, d)
    weight : ndarray of shape (n,) or None
    borders : ndarray of int or None
        Required tile borders among the rows, from 0 to n.
    """

    kernel: Kernel
    X: Any
    weight: Array | None
    borders: Array | None = None

    @cached_property
    def matrix(self) -> KernelMatrix:
        """K in float64, computed on demand."""
        return self.matrix_in(np.float64)

    def matrix_in(self, dtype: Any) -> KernelMatrix:
        """K in a given precision, computed on demand."""
        return KernelMatrix(self.kernel, dense_if_small(self.X), dtype=dtype)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def root(self) -> Array:
        """√w."""
        return np.ones(self.n_rows) if self.weight is None else np.sqrt(self.weight)

    @cached_property
    def held(self) -> SymmetricTiles | None:
        """The matrix in float64 as tiles; None where it does not fit in memory together with a copy."""
        return self.tiles(np.float64) if 8.0 * self.n_rows**2 <= memory_limit() else None

    @cached_property
    def whole(self) -> Array | None:
        """The matrix as one array, for so few rows that tiles would only add overhead."""
        if self.n_rows > _FEW:
            return None
        found = self.matrix.dense()
        return found if self.weight is None else found * self.root[:, None] * self.root

    def product(self, right: Array, shift: Array) -> Array:
        """(S·K·S + shift)·right in float64; K is recomputed if it is not held in memory."""
        if self.whole is not None:
            return np.asarray(self.whole @ right + shift * right)
        if self.held is not None:
            return np.asarray(self.held.dot(right) + shift * right)
        root = self.root[:, None]
        return np.asarray(root * self.matrix.dot(root * right) + shift * right)

    def columns(self, which: Array) -> Array:
        """Some columns of S·K·S."""
        found = self.matrix.part(columns=which).dense()
        return found if self.weight is None else found * self.root[:, None] * self.root[which]

    def part(self, rows: Array) -> Array:
        """The submatrix of some rows and the same columns, computed."""
        found = self.matrix.part(rows, rows).dense()
        return found if self.weight is None else found * self.root[rows, None] * self.root[rows]

    def diagonal(self) -> Array:
        return np.asarray(np.square(self.root) * self.matrix.diagonal)

    def tiles(self, dtype: Any) -> SymmetricTiles:
        """The whole matrix as tiles, computed."""
        matrix = self.matrix if np.dtype(dtype) == np.float64 else self.matrix_in(dtype)
        root = None if self.weight is None else self.root.astype(dtype)

        def fill(rows: slice, columns: slice, out: Array) -> None:
            matrix.rows(rows, columns, out)
            if root is not None:
                out *= root[rows, None]
                out *= root[columns]

        return SymmetricTiles(self.n_rows, dtype, fill, self.borders)

    def in_order(self, order: Array, borders: Array) -> WeightedGram:
        """The matrix of the rows in another order, with tile borders.

        A precomputed kernel is not supported, since its columns would keep their order.
        """
        weight = None if self.weight is None else self.weight[order]
        return WeightedGram(self.kernel, self.X[order], weight, borders)
