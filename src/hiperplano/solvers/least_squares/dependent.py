"""Minimum-norm least squares on linearly dependent columns, by Cholesky factorisation with pivoting.

Pivoting finds a largest set of independent columns A. The others are A·S. The fit is A·z with z = A⁺·y. Of all
coefficients with the same fit, those with (I + Sᵀ·S)·coef_D = Sᵀ·z and coef_A = z − S·coef_D are the shortest. S and z
come from products of columns, and are corrected by passes over the rows. Each pass serves both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.dependent.columns import IndependentColumns
from hiperplano.linalg.orthogonal import IN_RELATION
from hiperplano.linalg.refined_products import MOST_REFINEMENTS, REFINED, SLOW
from hiperplano.linalg.triangular import EPS, reciprocal
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.refinement.gradient import Centre, centre_of

_CELLS = 2**22  # numbers of the combined columns of a block that are made dense at once (32 MB)


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


def by_independent_columns(
    design: Design, equations: NormalEquations, which: Array | slice, tol: float
) -> ColumnSolution | None:
    """Minimise Σ w·(y − x·coef − intercept)², and then ‖coef‖, for the targets in `which`.

    Return None if independent columns are nearly dependent, if dependent ones are so only approximately, or if the
    relative error of the coefficients is above `tol`.

    Parameters
    ----------
    equations : NormalEquations
        Without a penalty.
    """
    scale = equations.scale
    columns = IndependentColumns.of(equations.gram)
    if columns is None:
        return None
    fit = _Fit(design, equations, which, columns)
    columns = columns.corrected(fit.combine, 1.0 + fit.offset)
    solved = None if columns is None else fit.solve()
    if columns is None or solved is None:
        return None
    d, rank, kept, others = len(scale), len(columns.kept), columns.kept, columns.others
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


class _Fit:
    """A⁺·y for independent columns A of unit length, refined by residuals of all rows."""

    def __init__(
        self, design: Design, equations: NormalEquations, which: Array | slice, columns: IndependentColumns
    ) -> None:
        self.offset = np.abs(equations.mean) * equations.scale * math.sqrt(equations.total)
        self._centre = centre_of(equations.mean, self.offset)
        self._design, self._columns, self._scale = design, columns, equations.scale[:, None]
        self._targets, self._level = which, equations.target_mean[which]
        self._z = columns.inverse(equations.cross[columns.kept][:, which])
        self._change, self._error, self._done = 1.0, np.inf, False  # the change from 0 to the start

    def combine(self, shares: Array) -> tuple[Array, Array]:
        """Norms of combinations of columns at unit length, and their products with all columns; refine the fit, too."""
        coef = np.zeros((len(self._scale), len(self._level)))
        coef[self._columns.kept] = self._z
        residuals = _Residuals(self._centre, self._targets, self._level, self._scale * shares, self._scale * coef)
        squares, products, gradient = self._design.fold(residuals)
        self._refine(self._scale * gradient)
        return np.sqrt(squares), self._scale * products

    def solve(self) -> tuple[Array, float] | None:
        """The fit, of shape (rank, targets), and its last relative change; None if refinement does not converge."""
        for _ in range(MOST_REFINEMENTS):
            if self._done:
                return self._z, self._error
            self.combine(np.zeros((len(self._scale), 0)))
        return None

    def _refine(self, gradient: Array) -> None:
        if self._done:
            return
        step = self._columns.inverse(gradient[self._columns.kept])
        self._z = self._z + step
        size = np.linalg.norm(self._z, axis=0)
        before = self._change
        self._change = float((np.linalg.norm(step, axis=0) / np.where(size > 0, size, 1.0)).max(initial=0.0))
        shrinking = self._change / before
        self._error = min(shrinking, SLOW) * self._change
        self._done = self._error <= REFINED
        if shrinking > SLOW and not self._done:  # residuals are at rounding level, or convergence is too slow
            self._error, self._done = self._change, True


@dataclass(frozen=True)
class _Residuals:
    """Σ w·s² and Σ w·x·s for combinations s of centred columns, and Σ w·x·r for residuals r of some targets.

    Attributes
    ----------
    shares : ndarray of shape (d, k)
        Of the combinations.
    coef : ndarray of shape (d, targets)
    """

    stays_sparse = True
    centre: Centre
    targets: Array | slice
    level: Array
    shares: Array
    coef: Array

    def __call__(self, block: Block) -> Sums:
        rows, mean = self.centre.rows(block)

        def along(weighted: Array) -> Array:
            return np.asarray(rows.transpose_dot(weighted) - np.multiply.outer(mean, weighted.sum(axis=0)))

        r = block.y[:, self.targets] - self.level - (rows.dot(self.coef) - mean @ self.coef)
        squares, products = np.empty(self.shares.shape[1]), np.empty_like(self.shares)
        step = max(1, _CELLS // max(1, len(block)))
        for start in range(0, len(squares), step):
            shares = self.shares[:, start : start + step]
            sums = rows.dot(shares) - mean @ shares
            weighted = block.weighted(sums)
            squares[start : start + step] = np.einsum("ij,ij->j", weighted, sums)
            products[:, start : start + step] = along(weighted)
        return squares, products, along(block.weighted(r))
