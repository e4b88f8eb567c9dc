"""The equations of a step of the interior point method, by products of all pairs of rows or of columns.

Matrices of products of sparse rows that seldom share a column, or of columns that seldom share a row, stay sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse import csc_matrix, diags_array, eye_array, issparse
from scipy.sparse.linalg import splu

from hiperplano.data.block import Block
from hiperplano.data.design import Array
from hiperplano.linalg.lapack.cholesky import factor_in_place, solve_factored
from hiperplano.linalg.memory import memory_limit
from hiperplano.solvers.cost import Costs

# Fill-in leaves a dense part of size·(1 − exp(−rate·(neighbours − fewest))), for the mean number of neighbours. On
# random matrices of 800 to 2,500 rows and 2.5 to 12 neighbours, SuperLU's dense part was 0.7 to 1.2 times as large for
# rows of three numbers, 0.4 to 0.7 times for rows of one or two, and 1.1 to 1.9 times if neighbours were independent.
_FILL_RATE, _FEWEST_NEIGHBOURS = 0.07, 1.8
_REFINED = 2  # refinements of a solution by products of rows, in which short columns lose digits beside long ones
JITTER = 1e-15  # added to a unit diagonal, since rounding may make the matrix singular


class Products(NamedTuple):
    """A matrix of products.

    Attributes
    ----------
    of_rows : bool
        Whether the products are those of all pairs of rows; otherwise of columns.
    size : int
        Number of rows, or columns.
    n_stored : float
        Number of nonzero products.
    """

    of_rows: bool
    size: int
    n_stored: float

    @property
    def sparse_cost(self) -> float:
        """Nanoseconds of a sparse factorisation, whose fill-in grows with the mean number of neighbours."""
        neighbours = self.n_stored / self.size - 1.0
        dense_size = -self.size * math.expm1(-_FILL_RATE * max(0.0, neighbours - _FEWEST_NEIGHBOURS))
        return Costs.sparse_factor(self.n_stored, dense_size, pivoted=True)

    @property
    def stays_sparse(self) -> bool:
        """Whether a sparse factorisation takes less time, or a dense one does not fit in memory."""
        return self.sparse_cost < Costs.factor(self.size) or 16.0 * self.size**2 > memory_limit()

    @property
    def cost(self) -> float:
        """Nanoseconds of a factorisation."""
        return self.sparse_cost if self.stays_sparse else Costs.factor(self.size)


def fewest_products(shape: tuple[int, int], indices: Array, indptr: Array) -> Products:
    """Products of the rows or of the columns of a CSR matrix, whichever take less time to factor."""
    n, d = shape
    in_row, in_column = np.diff(indptr).astype(float), np.bincount(indices, minlength=d).astype(float)
    # An upper bound: two rows that share several columns are counted several times.
    rows = Products(True, n, min(float(n) ** 2, n + float(in_column @ in_column - in_column.sum())))
    columns = Products(False, d, min(float(d) ** 2, d + float(in_row @ in_row - in_row.sum())))
    return min(rows, columns, key=lambda each: each.cost)


def products_of(x: Any) -> Products:
    """The same for an array or CSR matrix."""
    if issparse(x):
        return fewest_products(x.shape, x.indices, x.indptr)
    size = min(x.shape)
    return Products(x.shape[0] == size, size, float(size) ** 2)


class NormalEquations:
    """Solver for X·turn + rise + change/free = right, turn = Xᵀ·change + more, for any `free`.

    Parameters
    ----------
    x : array or CSR matrix of float64, of shape (n, d)

    Attributes
    ----------
    passes : float
        0, since the choice of the method already takes the cost of factorisations into account.
    """

    passes = 0.0

    def __init__(self, x: Any) -> None:
        self._x, self._products = x, products_of(x)
        self._sparse = issparse(x) and self._products.stays_sparse
        self._gram = x @ x.T if self._products.of_rows else None
        if self._gram is not None and issparse(x) and not self._sparse:
            self._gram = self._gram.toarray()

    def solver(self, free: Array, fit_intercept: bool, gap: float) -> Callable[..., tuple[Array, Array, float]]:
        """An exact solver for these `free`, of shape (n,), and for a level with Σchange = −excess; ignores `gap`."""
        solve = self._factored(free)
        if not fit_intercept:
            return lambda right, more, excess, rough: (*solve(right, more), 0.0)
        ones, ones_coef = solve(np.ones_like(free), np.zeros(self._x.shape[1]))

        def balanced(right: Array, more: Array, excess: float, rough: bool) -> tuple[Array, Array, float]:
            change, turn = solve(right, more)
            rise = (float(change.sum()) + excess) / float(ones.sum())
            return change - rise * ones, turn - rise * ones_coef, rise

        return balanced

    def _factored(self, free: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
        x = self._x
        if self._gram is None:
            by_columns = self._of_columns(free)

            def with_columns(right: Array, more: Array) -> tuple[Array, Array]:
                turn = by_columns((free * right) @ x + more)
                return free * (right - x @ turn), turn

            return with_columns
        gram, more_here = self._gram, 1.0 / free
        by_rows = _sparse_solver(gram + diags_array(more_here)) if self._sparse else _solver(gram.copy(), more_here)

        def with_rows(right: Array, more: Array) -> tuple[Array, Array]:
            change = by_rows(right - x @ more)
            turn = change @ x + more
            for _ in range(_REFINED):
                rest = by_rows(right - x @ turn - change / free)
                change, turn = change + rest, turn + rest @ x
            return change, turn

        return with_rows

    def _of_columns(self, free: Array) -> Callable[[Array], Array]:
        """Solves with Xᵀ·diag(free)·X + I."""
        if not self._sparse:
            return _solver(Block(self._x, {}).weighted_products(free), 1.0)
        rows = diags_array(np.sqrt(free)) @ self._x
        return _sparse_solver(rows.T @ rows + eye_array(self._x.shape[1]))


def _sparse_solver(matrix: Any) -> Callable[[Array], Array]:
    """Solves with a sparse positive definite matrix."""
    factor = splu(
        csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return lambda right: np.asarray(factor.solve(right))


def _solver(matrix: Array, more: Array | float) -> Callable[[Array], Array]:
    """Solver for a matrix plus the diagonal `more`; the matrix is overwritten.

    It is scaled to a unit diagonal, so that columns of any scale keep their digits.
    """
    matrix.flat[:: len(matrix) + 1] += more
    scale = 1.0 / np.sqrt(matrix.diagonal())
    matrix *= scale
    matrix *= scale[:, None]
    matrix.flat[:: len(matrix) + 1] = 1.0 + JITTER
    if not factor_in_place(matrix):
        raise LinAlgError("not positive definite")
    return lambda right: scale * solve_factored(matrix, (scale * right)[:, None])[:, 0]
