"""Least squares by a sparse factorisation, for sparse rows that seldom share a column.

Such rows form small groups, or nearly so, each with its own columns. Elimination solves all groups directly, whatever
the scales of the columns. Conjugate gradients would need steps for each of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import block_array, csc_matrix, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import SuperLU, splu

from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.refined_products import MOST_REFINEMENTS, REFINED, SLOW
from hiperplano.linalg.triangular import EPS, reciprocal
from hiperplano.solvers.cost import Costs

_MOST_ENTRIES = 2  # mean stored numbers of a row or column, beyond which fill-in makes nearly everything dense
_LEAST = 1e-7  # √penalty that is factored where there is none, relative to the longest of the connected rows
_PIVOT = 1e-3  # the diagonal is the pivot if it exceeds this share of the largest number of its column
_STABLE = 1e7  # condition number of the penalised rows, below which any diagonal is a stable pivot
_SHORT = 1e-4  # √penalty of the preconditioner, whose columns have unit length


class FactoredAnswer(NamedTuple):
    """Coefficients of shape (targets, d), their relative error, the condition number, and refinement steps."""

    coef: Array
    error: float
    condition: float
    n_iter: int


def seldom_meet(n_rows: int, n_columns: int, density: float) -> bool:
    """Whether rows share columns so seldom that the factors may stay sparse."""
    return density < 1.0 and n_rows * n_columns * density <= _MOST_ENTRIES * (n_rows + n_columns)


def least_factor_cost(n_rows: int, n_columns: int, density: float) -> float:
    """Nanoseconds of a sparse factorisation without fill-in."""
    return Costs.sparse_factor(_augmented_entries(n_rows, n_columns, density))


def _augmented_entries(n_rows: int, n_columns: int, density: float) -> float:
    """Stored numbers of the matrix in `_factored`."""
    return 2 * n_rows * n_columns * density + n_rows + n_columns


def sparse_factor_cost(rows: CentredRows, alpha: Array) -> float:
    """Nanoseconds of a sparse factorisation of the rows with their penalties."""
    pivoted = _condition(rows, float(alpha.min())) >= _STABLE
    return _cost(rows.x, pivoted) * len(set(alpha.tolist()))


def preconditioner_cost(x: Any) -> float:
    """Nanoseconds of a preconditioner for columns of unit length."""
    return _cost(x, pivoted=False)


def _cost(x: Any, pivoted: bool) -> float:
    """Cost of a factorisation, from the number of cycles in the graph of rows and columns.

    Rows and columns with a single neighbour are eliminated without fill-in. The rest fills, at worst, a matrix whose
    size is the number of independent cycles of the graph.
    """
    n, d = x.shape
    density = x.nnz / max(1, n * d)
    if not seldom_meet(n, d, density):
        return np.inf
    row, column = np.repeat(np.arange(n), np.diff(x.indptr)), x.indices
    while True:
        in_row, in_column = np.bincount(row, minlength=n), np.bincount(column, minlength=d)
        stays = (in_row[row] > 1) & (in_column[column] > 1)
        if stays.all():
            break
        row, column = row[stays], column[stays]
    n_rows = int(np.count_nonzero(in_row))
    cycles = len(row) - n_rows - int(np.count_nonzero(in_column))
    filled = float(min(n_rows, max(cycles, 0)))
    return Costs.sparse_factor(_augmented_entries(n, d, density), filled, pivoted)


def _condition(rows: CentredRows, alpha: float) -> float:
    """Upper bound of the condition number of the rows with their penalty, or with the tiny one that replaces it."""
    return float(np.sqrt(rows.sum_of_squares / alpha + 1.0)) if alpha else 1.0 / _LEAST


def _factored(x: Any, of_columns: Array, of_rows: Array, pivot: float) -> SuperLU:
    """Factor of [[C, xᵀ], [x, −R]] with diagonals C and R; eigenvalues are ±√(σ² + C·R) for singular values σ of x."""
    matrix = block_array([[diags_array(of_columns), x.T], [x, diags_array(-of_rows)]])
    options = {"SymmetricMode": True}
    return splu(csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=pivot, options=options)


class ColumnPreconditioner:
    """(D·xᵀ·x·D + penalty)⁻¹ for sparse rows, where D scales columns to unit length, and the penalty is tiny.

    Singular values above its square root then hardly affect conjugate gradients, and few are below.
    """

    def __init__(self, rows: CentredRows) -> None:
        n, d = rows.x.shape
        self._n_rows, self._n_columns = n, d
        self._factor = _factored(rows.x * reciprocal(rows.length), np.full(d, _SHORT), np.full(n, _SHORT), 0.0)

    def __call__(self, gradient: Array) -> Array:
        """The product with a gradient of shape (d,)."""
        found = self._factor.solve(np.concatenate([gradient / _SHORT, np.zeros(self._n_rows)]))
        return np.asarray(found[: self._n_columns])


def by_sparse_factor(rows: CentredRows, alpha: Array, fit_intercept: bool) -> FactoredAnswer | None:
    """Minimise ‖y − x·coef − level·root‖² + alpha·‖coef‖², with minimum ‖coef‖ if the solution is not unique.

    The solution is coef = xᵀ·s with x·coef + alpha·s + level·root = y and, with an intercept, Σ root·s = 0. Return None
    if refinement does not converge.
    """
    coef, error, condition, steps = np.empty((len(alpha), len(rows.length))), EPS, 1.0, 0
    for strength in set(alpha.tolist()):
        system = _System(rows, strength, fit_intercept)
        for target in np.flatnonzero(alpha == strength):
            right, lost = rows.right[:, target], _LEAST**2
            if not strength:
                fitted = system.fitted(right)
                if fitted is None:
                    return None
                right, lost = fitted
            found = system.refined(right)
            if found is None:
                return None
            coef[target], change, taken = found
            largest = _condition(rows, strength) * (1.0 if strength else np.sqrt(lost))
            condition, steps = max(condition, largest), steps + taken
            error = max(error, change, EPS * condition)
    return FactoredAnswer(coef, error, condition, steps)


class _System:
    """Solver for (x·xᵀ + penalty)·s = f and (xᵀ·x + penalty)·c = g that does not square the condition number.

    Without a penalty, a tiny one is used, which is relative to the size of each group of rows that share columns.
    Refinement then leads to the solution without it.
    """

    def __init__(self, rows: CentredRows, alpha: float, fit_intercept: bool) -> None:
        n, d = rows.x.shape
        self._rows, self._alpha, self._n_columns = rows, alpha, d
        size = np.full(n + d, np.sqrt(alpha)) if alpha else _LEAST * _sizes_of_groups(rows)
        self._of_columns, self._of_rows = size[:d], size[d:]
        pivot = _PIVOT if _condition(rows, alpha) >= _STABLE else 0.0
        self._factor = _factored(rows.x, self._of_columns, self._of_rows, pivot)
        self._border = rows.root[:, 0] * float(fit_intercept)
        self._bordered = self._shares(self._border)

    def _shares(self, right: Array) -> Array:
        """(x·xᵀ + penalty)⁻¹·right."""
        found = self._factor.solve(np.concatenate([np.zeros(self._n_columns), right]))
        return np.asarray(found[self._n_columns :] / -self._of_rows)

    def _coefficients(self, gradient: Array) -> Array:
        """(xᵀ·x + penalty)⁻¹·gradient."""
        found = self._factor.solve(np.concatenate([gradient / self._of_columns, np.zeros(len(self._border))]))
        return np.asarray(found[: self._n_columns])

    def fitted(self, right: Array) -> tuple[Array, float] | None:
        """The part of the right-hand side that can be fitted, and the share of an error that a step leaves.

        Linearly dependent rows cannot fit every right-hand side. Return None if refinement converges too slowly.
        """
        x, border, bordered = self._rows.x, self._border, self._bordered
        turned, whole = x.T, float(np.linalg.norm(right)) or 1.0
        free = float(border @ (np.square(self._of_rows) * bordered))
        fitted, before, lost = np.zeros_like(right), 1.0, _LEAST**2
        for step in range(MOST_REFINEMENTS):
            left = right - fitted
            coef = self._coefficients(turned @ left)
            level = float(border @ (left - x @ coef)) / free if free > 0 else 0.0
            change = x @ (coef - level * (turned @ bordered)) + level * border
            fitted += change
            moved = float(np.linalg.norm(change)) / whole
            lost = max(lost, moved / before) if step else lost
            if moved <= REFINED or (step > 1 and lost * moved <= REFINED):
                return fitted, lost
            if step and moved > SLOW * before:
                return None
            before = moved
        return None

    def refined(self, right: Array) -> tuple[Array, float, int] | None:
        """Coefficients for a right-hand side that can be fitted, or with a penalty; their last change; and steps."""
        rows, x, turned, border = self._rows, self._rows.x, self._rows.x.T, self._border
        coef, shares, level = np.zeros(self._n_columns), np.zeros(len(right)), 0.0
        free, before, shrinking = float(border @ self._bordered), 1.0, EPS
        for step in range(1, MOST_REFINEMENTS + 1):
            update = self._shares(right - x @ coef - self._alpha * shares - level * border)
            by = float(border @ (shares + update)) / free if free > 0 else 0.0
            update, level = update - by * self._bordered, level + by
            change = turned @ update  # a combination of rows, so that coefficients stay in their span
            coef += change
            shares += update
            moved = max(_share(change, coef), _share(change * rows.length, coef * rows.length))
            shrinking = max(shrinking, moved / before) if step > 1 else shrinking
            if moved <= REFINED or (step > 2 and shrinking * moved <= REFINED):
                return np.where(rows.length > 0, coef, 0.0), moved, step
            if step > 1 and moved > SLOW * before:
                return None
            before = moved
        return None


def _sizes_of_groups(rows: CentredRows) -> Array:
    """Length of the longest row in the connected component of each column and each row; 1 for empty ones."""
    graph = block_array([[None, rows.x.T], [rows.x, None]], format="csr")
    count, group = connected_components(graph, directed=False)
    longest, squares = np.zeros(count), np.zeros(len(rows.root))
    np.add.at(squares, np.repeat(np.arange(len(squares)), np.diff(rows.x.indptr)), np.square(rows.x.data))
    np.maximum.at(longest, group[rows.x.shape[1] :], squares)
    return np.asarray(np.sqrt(np.where(longest > 0, longest, 1.0))[group])


def _share(change: Array, whole: Array) -> float:
    return float(np.linalg.norm(change)) / (float(np.linalg.norm(whole)) or 1.0)
