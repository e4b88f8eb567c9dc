"""The equations of kernel ridge regression, with weights and an intercept that is not penalised."""

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

_FEW = 1024  # rows of a matrix that is not cut into tiles


@dataclass(frozen=True)
class RidgeProblem:
    """Minimise Σᵢ wᵢ·(yᵢ − f(xᵢ) − b)² + α‖f‖².

    The minimum is f = Σᵢ aᵢ·k(·, xᵢ). With S = diag(√w) and a = S·u,

        (S·K·S + α)·u + S·1·b = S·y,   1ᵀ·S·u = 0.

    So there is one right side for each target, and, with an intercept, one for each distinct α.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, d)
    y : ndarray of shape (n, targets)
    weight : ndarray of shape (n,) or None
    alpha : ndarray of shape (targets,)
    """

    kernel: Kernel
    X: Any
    y: Array
    weight: Array | None
    alpha: Array
    fit_intercept: bool

    @cached_property
    def matrix(self) -> KernelMatrix:
        """K, in float64, computed when asked for."""
        return self.matrix_in(np.float64)

    def matrix_in(self, dtype: Any) -> KernelMatrix:
        """K in some precision, computed when asked for."""
        return KernelMatrix(self.kernel, dense_if_small(self.X), dtype=dtype)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @cached_property
    def root(self) -> Array:
        """√w."""
        return np.ones(self.n_rows) if self.weight is None else np.sqrt(self.weight)

    @cached_property
    def right(self) -> Array:
        """Right sides, of shape (n, targets) or (n, targets + distinct penalties)."""
        targets = self.root[:, None] * self.y
        if not self.fit_intercept:
            return np.asarray(targets)
        return np.column_stack([targets, *[self.root] * len(np.unique(self.alpha))])

    @cached_property
    def shift(self) -> Array:
        """The penalty of every right side."""
        return np.concatenate([self.alpha, np.unique(self.alpha)]) if self.fit_intercept else self.alpha

    @cached_property
    def held(self) -> SymmetricTiles | None:
        """S·K·S in float64, where it fits in memory together with a copy."""
        return self.tiles(np.float64) if 8.0 * self.n_rows**2 <= memory_limit() else None

    @cached_property
    def whole(self) -> Array | None:
        """The same as one array, for so few rows that tiles only cost time."""
        if self.n_rows > _FEW:
            return None
        found = self.matrix.dense()
        return found if self.weight is None else found * self.root[:, None] * self.root

    def product(self, right: Array, shift: Array) -> Array:
        """(S·K·S + shift)·right, in float64; with K computed anew if it is not held."""
        if self.whole is not None:
            return np.asarray(self.whole @ right + shift * right)
        if self.held is not None:
            return np.asarray(self.held.dot(right) + shift * right)
        root = self.root[:, None]
        return np.asarray(root * self.matrix.dot(root * right) + shift * right)

    def columns(self, which: Array) -> Array:
        """Columns of S·K·S."""
        found = self.matrix.part(columns=which).dense()
        return found if self.weight is None else found * self.root[:, None] * self.root[which]

    def diagonal(self) -> Array:
        """Of S·K·S."""
        return np.asarray(np.square(self.root) * self.matrix.diagonal)

    def tiles(self, dtype: Any, order: Array | None = None, borders: Array | None = None) -> SymmetricTiles:
        """S·K·S, held; the rows in some order, and cut at some borders."""
        matrix = self.matrix if np.dtype(dtype) == np.float64 else self.matrix_in(dtype)
        root = None if self.weight is None else self.root.astype(dtype)
        if root is not None and order is not None:
            root = root[order]

        def placed(rows: slice) -> slice | Array:
            return rows if order is None else order[rows]

        def fill(rows: slice, columns: slice, out: Array) -> None:
            matrix.rows(placed(rows), placed(columns), out)
            if root is not None:
                out *= root[rows, None]
                out *= root[columns]

        return SymmetricTiles(self.n_rows, dtype, fill, borders)

    def assemble(self, u: Array) -> tuple[Array, Array, float]:
        """Dual coefficients of shape (targets, n), intercepts, and the objective, from the solutions."""
        targets = self.y.shape[1]
        solved, intercept = u[:, :targets], np.zeros(targets)
        if self.fit_intercept:
            which = np.searchsorted(np.unique(self.alpha), self.alpha)
            ones = u[:, targets:][:, which]
            intercept = (self.root @ solved) / (self.root @ ones)
            solved = solved - ones * intercept
        objective = float(np.sum(self.alpha * np.einsum("ij,ij->j", solved, self.right[:, :targets])))
        return (self.root[:, None] * solved).T, intercept, objective
