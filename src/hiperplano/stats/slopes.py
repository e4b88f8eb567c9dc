"""How slopes spread, in units of the errors' variance, as sums of squares: nothing cancels where columns are alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack, solve_triangular

from hiperplano.data.design import Array
from hiperplano.linalg.orthogonal import graded_qr
from hiperplano.linalg.triangular import Columns, Factor, reciprocal
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution, error_of_products

_EPS = float(np.finfo(float).eps)
_LEAST = 1e-300  # a penalty that float64 cannot hold beside its column still decides what nothing else does
_NEAR = 1e-6  # a share of a column, beside the others, of which a Gram matrix knows less than ten digits


@dataclass(frozen=True)
class Slopes:
    """The slopes about the means of the columns.

    Attributes
    ----------
    half : ndarray of shape (d, r)
        Their covariance is half·halfᵀ.
    freedom : float
        Their degrees of freedom: trace of X·(XᵀX + alpha)⁻¹·Xᵀ.
    error : float
        Relative error of a standard error to reckon with, where columns are known by their Gram matrix only.
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
        """Without a penalty, where columns depend on each other: right for combinations that are determined.

        Parameters
        ----------
        rank : int
            Of the columns.

        Returns
        -------
        slopes : Slopes
        null : ndarray of shape (d, r)
            Combinations of the columns at unit length that are absent, orthonormal; 0 for columns that do not vary.
        """
        varying = np.flatnonzero(factor.scale)
        _, values, basis = np.linalg.svd(factor.upper[:, varying], full_matrices=False)
        half, null = np.zeros((len(factor.scale), rank)), np.zeros((len(factor.scale), len(varying) - rank))
        half[varying] = factor.scale[varying, None] * basis[:rank].T / values[:rank]
        null[varying] = basis[rank:].T
        return cls(half, float(rank)), null

    @classmethod
    def penalised(cls, columns: Columns, alpha: float) -> Slopes:
        """With one: X = Q₁·U and √alpha = Q₂·U give (XᵀX + alpha)⁻¹·Xᵀ = U⁻¹·Q₁ᵀ, and no difference is taken."""
        r, below = len(columns.rows), np.sqrt(alpha) * columns.scale
        size = np.hypot(1.0, below)  # columns of unit length also with the penalty
        below = np.where(columns.scale > 0, np.maximum(below, _LEAST), 1.0)
        turn, upper, pivots = graded_qr(np.vstack([columns.rows, np.diag(below)]) / size)
        half = np.empty((len(size), r))
        half[pivots] = solve_triangular(upper, turn[:r].T, check_finite=False)
        return cls((columns.scale / size)[:, None] * half, float(np.square(turn[:r]).sum()))

    @classmethod
    def of(cls, solution: LeastSquaresSolution) -> Slopes | None:
        """From what `fit` kept; None if that is not enough."""
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
        if factor.rounding > _EPS:  # products in float32
            error = factor.rounding * factor.condition**2
        return replace(cls.penalised(columns, alpha), error=error)

    def with_intercept(self, mean: Array, total: float, fit_intercept: bool) -> Array:
        """Half of the covariance of intercept, if any, and slopes, in units of σ², of shape (k, r)."""
        if not fit_intercept:
            return self.half
        first = np.concatenate([[1.0 / np.sqrt(total)], -(self.half.T @ mean)])
        return np.vstack([first, np.pad(self.half, ((0, 0), (1, 0)))])


def _without_penalty(factor: Factor, scale: Array) -> tuple[Columns, float]:
    """From a factor of the Gram matrix with a penalty: off its diagonal, the two are the same but for their units.

    Also the smallest share of a column that does not follow from the others.

    Parameters
    ----------
    scale : ndarray of shape (d,)
        One over the lengths of the columns themselves: the diagonal without the penalty.
    """
    unit = reciprocal(factor.scale) * scale
    gram = factor.upper.T @ factor.upper
    np.fill_diagonal(gram, 0.0)  # known, and beyond floats once multiplied where a penalty outweighs its column
    gram *= unit[:, None]
    gram *= unit
    np.fill_diagonal(gram, scale > 0)
    return _rows_of(gram, scale, factor.rounding)


def _rows_of(gram: Array, scale: Array, rounding: float) -> tuple[Columns, float]:
    """From products of columns at unit length; also the smallest share of a column that is not in the others."""
    upper, pivots, rank, _ = lapack.dpstrf(gram, tol=16 * len(gram) * rounding, lower=0)
    rows = np.empty((rank, len(gram)))
    rows[:, pivots - 1] = np.triu(upper)[:rank]
    # What was left of a column that was dropped is below rounding, which is not to say that it was nothing.
    dropped = rank < np.count_nonzero(scale)
    return Columns(rows, scale), 0.0 if dropped else float(np.square(upper.diagonal()[:rank]).min(initial=1.0))
