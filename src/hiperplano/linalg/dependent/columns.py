"""Minimum-norm least squares on linearly dependent columns, by Cholesky factorisation with pivoting.

Pivoting finds a largest set of independent columns A. The others are A·S. The fit is A·z with z = A⁺·y. Of all
coefficients with the same fit, those with (I + Sᵀ·S)·coef_D = Sᵀ·z and coef_A = z − S·coef_D are the shortest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.dependent.relations import corrected_relations
from hiperplano.linalg.orthogonal import IN_RELATION
from hiperplano.linalg.refined_products import MOST_LOST, MOST_REFINEMENTS, REFINED, SLOW
from hiperplano.linalg.triangular import EPS, reciprocal

# Least pivot of a column that counts as independent, in rounding errors for each column: sums over many rows have more
# than one. Whether the others depend on it is then checked in the rows.
_PIVOT, _FEW = 16, 64


class ColumnSolution(NamedTuple):
    """A solution for linearly dependent columns.

    Attributes
    ----------
    coef : ndarray of shape (targets, d)
    error : float
        Relative error of the coefficients.
    rank : int
    condition : float
        Condition number of the independent columns, scaled to unit length.
    rows : ndarray of shape (d, d)
        Few rows with the same products of columns, scaled to unit length.
    dependent : ndarray of int
        Columns that are part of a linear relation.
    """

    coef: Array
    error: float
    rank: int
    condition: float
    rows: Array
    dependent: Array


class IndependentColumns(NamedTuple):
    """Linearly independent columns of unit length, and the others as their combinations.

    Attributes
    ----------
    kept, others : ndarray of int
        Numbers of the independent columns, and of the others.
    upper : ndarray of shape (rank, rank)
        Triangular factor of the products of the independent columns; its lower part is not used.
    beside : ndarray of shape (rank, d − rank)
        Products of its inverse, transposed, with those of the independent columns and the others.
    relations : ndarray of shape (rank, d − rank)
        Shares of the independent columns in each of the others, up to rounding.
    reciprocal : float
        Reciprocal condition number of the products of the independent columns.
    """

    kept: Array
    others: Array
    upper: Array
    beside: Array
    relations: Array
    reciprocal: float

    def inverse(self, right: Array) -> Array:
        """The inverse of the products of the independent columns times `right`."""
        return np.asarray(cho_solve((self.upper, False), right, check_finite=False))


def by_independent_columns(rows: CentredRows, gram: Array, scale: Array, tol: float) -> ColumnSolution | None:
    """Minimise ‖y − x·coef‖², and then ‖coef‖.

    Return None if independent columns are nearly dependent, if dependent ones are so only approximately, or if the
    relative error of the coefficients is above `tol`.

    Parameters
    ----------
    gram : ndarray of shape (d, d)
        Products of all pairs of columns, scaled to unit length.
    scale : ndarray of shape (d,)
        One over the length of each column; 0 if it is constant.
    """
    columns = independent_columns(gram, partial(_combined, rows, scale), np.ones(len(gram)), len(rows.root))
    solved = None if columns is None else _fitted(rows, scale, columns)
    if columns is None or solved is None:
        return None
    d, rank, kept, others = len(gram), len(columns.kept), columns.kept, columns.others
    relations, smallest, (z, error) = columns.relations, columns.reciprocal, solved
    within = scale[kept][:, None] * relations * reciprocal(scale[others])  # S in the units of the data
    inner = np.eye(len(others)) + within.T @ within
    unit = reciprocal(np.sqrt(inner.diagonal()))[:, None]  # the condition is that of columns in any units
    inner *= unit
    inner *= unit.T
    size = float(np.abs(inner).sum(axis=0).max())
    factor = cho_factor(inner, overwrite_a=True, check_finite=False)
    error = max(error, EPS / np.sqrt(smallest), EPS / float(lapack.dpocon(factor[0], size, uplo="U")[0]))
    if error > tol:
        return None
    coef = np.zeros((d, z.shape[1]))
    coef[others] = unit * cho_solve(factor, unit * (within.T @ (scale[kept][:, None] * z)), check_finite=False)
    coef[kept] = scale[kept][:, None] * z - within @ coef[others]
    few = np.zeros((d, d))
    few[:rank, kept], few[:rank, others] = np.triu(columns.upper), columns.beside
    shares = np.abs(relations) / np.sqrt(1.0 + np.square(relations).sum(axis=0))
    varying = int(np.count_nonzero(scale[kept]))
    related = np.concatenate([others, kept[scale[kept] == 0], kept[(shares > IN_RELATION).any(axis=1)]])
    return ColumnSolution(coef.T, error, varying, float(1.0 / np.sqrt(smallest)), few, np.unique(related))


def independent_columns(
    gram: Array, combine: Callable[[Array], tuple[Array, Array]], sizes: Array, n_rows: int
) -> IndependentColumns | None:
    """A largest set of linearly independent columns, and the others as their combinations.

    Return None if none are dependent, if independent ones are nearly dependent, or if dependent ones are so only
    approximately.

    Parameters
    ----------
    gram : ndarray of shape (d, d)
        Products of all pairs of columns, scaled to unit length.
    combine : callable
        As in `corrected_relations`, for columns of unit length.
    sizes : ndarray of shape (d,)
        Size of the numbers of each column, in units of its length, before it was centred: rounding is a share of it.
    n_rows : int
        Rows of which `combine` holds combinations at once.
    """
    norm = float(np.abs(gram).sum(axis=0).max(initial=0.0))
    lower, order, rank, _ = lapack.dpstrf(gram, lower=1, tol=_PIVOT * max(_FEW, len(gram)) * EPS)
    kept, others = order[:rank] - 1, order[rank:] - 1
    upper = np.asfortranarray(lower[:rank, :rank].T)
    smallest = float(lapack.dpocon(upper, norm, uplo="U")[0]) if 0 < rank < len(gram) else 0.0
    if MOST_LOST * smallest < EPS:
        return None
    beside = lower[rank:, :rank].T
    found = IndependentColumns(kept, others, upper, beside, beside, smallest)
    shares = solve_triangular(upper, beside, check_finite=False)
    relations = corrected_relations(kept, others, shares, found.inverse, combine, sizes, n_rows)
    if relations is None:
        return None
    # A rounding error in the share of a short column would drown its coefficient beside long ones.
    noise = 4.0 * len(gram) * EPS / np.sqrt(smallest)
    return found._replace(relations=np.where(np.abs(relations) > noise, relations, 0.0))


def _combined(rows: CentredRows, scale: Array, shares: Array) -> tuple[Array, Array]:
    """Norms of combinations of columns at unit length, of shape (k,), and their products with all columns."""
    sums = rows.scores((scale[:, None] * shares).T)
    return np.linalg.norm(sums, axis=0), (rows.combined(sums) * scale).T


def _fitted(rows: CentredRows, scale: Array, columns: IndependentColumns) -> tuple[Array, float] | None:
    """A⁺·y for columns A of unit length, of shape (rank, targets), and its last relative change.

    Return None if refinement does not converge.
    """
    kept, n_targets = columns.kept, rows.right.shape[1]
    z, coef = np.zeros((len(kept), n_targets)), np.zeros((n_targets, len(scale)))
    before, shrinking = np.inf, 1.0
    for _ in range(MOST_REFINEMENTS):
        coef[:, kept] = scale[kept] * z.T
        step = columns.inverse((rows.combined(rows.right - rows.scores(coef)) * scale)[:, kept].T)
        z += step
        size = np.linalg.norm(z, axis=0)
        change = float((np.linalg.norm(step, axis=0) / np.where(size > 0, size, 1.0)).max())
        shrinking = change / before if before < np.inf else 1.0
        if min(shrinking, SLOW) * change <= REFINED:
            return z, change * min(shrinking, SLOW)
        if before < np.inf and shrinking > SLOW:  # either residuals are at rounding level, or convergence is too slow
            return z, change
        before = change
    return None
