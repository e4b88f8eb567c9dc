"""Covariance of slopes, in units of the error variance, as sums of squares.

This avoids cancellation for collinear columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack, solve_triangular

from hiperplano.data.design import Array
from hiperplano.linalg.orthogonal import graded_qr
from hiperplano.linalg.triangular import Columns, Factor, reciprocal
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution, error_of_products

_EPS = float(np.finfo(float).eps)
_LEAST = 1e-300  # least penalty: one that float64 cannot represent beside its column still decides if nothing else does
_NEAR = 1e-6  # columns whose share beyond the others is below this are known to less than ten digits from a Gram matrix


@dataclass(frozen=True)
class Slopes:
    """Covariance of the slopes, for centred columns.

    Attributes
    ----------
    half : ndarray of shape (d, r)
        Their covariance is half·halfᵀ.
    freedom : float
        Their degrees of freedom: trace of X·(XᵀX + alpha)⁻¹·Xᵀ.
    error : float
        Expected relative error of a standard error, if only the Gram matrix of the columns is known.
    """

    half: Array
    freedom: float
    error: float = 0.0

    @classmethod
    def plain(cls, factor: Factor) -> Slopes:
        """Without a penalty: (XᵀX)⁻¹ = (D·U⁻¹)·(D·U⁻¹)ᵀ."""
        half = factor.scale[:, None] * factor.backward(np.eye(len(factor.scale)))
        return cls(half, float(np.count_nonzero(factor.scale)))

    @classmethod
    def dependent(cls, factor: Factor, rank: int) -> tuple[Slopes, Array]:
        """Without a penalty, for linearly dependent columns; valid for combinations that are determined.

        Parameters
        ----------
        rank : int
            Rank of the columns.

        Returns
        -------
        slopes : Slopes
        null : ndarray of shape (d, r)
            Orthonormal null directions of the columns at unit norm; 0 for constant columns.
        """
        varying = np.flatnonzero(factor.scale)
        _, values, basis = np.linalg.svd(factor.upper[:, varying], full_matrices=False)
        half, null = np.zeros((len(factor.scale), rank)), np.zeros((len(factor.scale), len(varying) - rank))
        half[varying] = factor.scale[varying, None] * basis[:rank].T / values[:rank]
        null[varying] = basis[rank:].T
        return cls(half, float(rank)), null

    @classmethod
    def penalised(cls, columns: Columns, alpha: float) -> Slopes:
        """With a penalty: X = Q₁·U and √alpha = Q₂·U give (XᵀX + alpha)⁻¹·Xᵀ = U⁻¹·Q₁ᵀ, without cancellation."""
        r, below = len(columns.rows), np.sqrt(alpha) * columns.scale
        size = np.hypot(1.0, below)  # unit norm of the columns, including the penalty
        below = np.where(columns.scale > 0, np.maximum(below, _LEAST), 1.0)
        turn, upper, pivots = graded_qr(np.vstack([columns.rows, np.diag(below)]) / size)
        half = np.empty((len(size), r))
        half[pivots] = solve_triangular(upper, turn[:r].T, check_finite=False)
        return cls((columns.scale / size)[:, None] * half, float(np.square(turn[:r]).sum()))

    @classmethod
    def of(cls, solution: LeastSquaresSolution) -> Slopes | None:
        """Build from the quantities stored by `fit`; None if these are not enough."""
        alpha, factor, columns = float(solution.alpha[0]), solution.factor, solution.columns
        if columns is not None:
            return cls.penalised(columns, alpha)
        if solution.products is not None:
            columns, _ = _rows_of(solution.products, solution.scale, _EPS)
            return replace(cls.penalised(columns, alpha), error=error_of_products(solution.scale, alpha))
        if factor is None:
            return None
        if not alpha:
            return cls.plain(factor)
        columns, near = _without_penalty(factor, solution.scale)
        error = _EPS * factor.condition**4 if near < _NEAR else 0.0
        if factor.rounding > _EPS:  # products were computed in float32
            error = factor.rounding * factor.condition**2
        return replace(cls.penalised(columns, alpha), error=error)

    def with_intercept(self, mean: Array, total: float, fit_intercept: bool) -> Array:
        """Half of the covariance of the intercept, if any, and the slopes, in units of σ², of shape (k, r)."""
        if not fit_intercept:
            return self.half
        first = np.concatenate([[1.0 / np.sqrt(total)], -(self.half.T @ mean)])
        return np.vstack([first, np.pad(self.half, ((0, 0), (1, 0)))])


def _without_penalty(factor: Factor, scale: Array) -> tuple[Columns, float]:
    """Rows for the Gram matrix without penalty, from a factor with a penalty.

    The two matrices differ only in their diagonals and units.

    Also returns the smallest share of a column that does not depend on the others.

    Parameters
    ----------
    scale : ndarray of shape (d,)
        Reciprocal norms of the columns: the diagonal without the penalty.
    """
    unit = reciprocal(factor.scale) * scale
    gram = factor.upper.T @ factor.upper
    np.fill_diagonal(gram, 0.0)  # the diagonal is known, and would overflow here if a penalty dominates its column
    gram *= unit[:, None]
    gram *= unit
    np.fill_diagonal(gram, scale > 0)
    return _rows_of(gram, scale, factor.rounding)


def _rows_of(gram: Array, scale: Array, rounding: float) -> tuple[Columns, float]:
    """Rows from products of columns at unit norm.

    Also returns the smallest share of a column that does not depend on the others.
    """
    upper, pivots, rank, _ = lapack.dpstrf(gram, tol=16 * len(gram) * rounding, lower=0)
    rows = np.empty((rank, len(gram)))
    rows[:, pivots - 1] = np.triu(upper)[:rank]
    # The remainder of a dropped column is below rounding error, but not necessarily 0.
    dropped = rank < np.count_nonzero(scale)
    return Columns(rows, scale), 0.0 if dropped else float(np.square(upper.diagonal()[:rank]).min(initial=1.0))
