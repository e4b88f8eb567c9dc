"""The verdict on a least-squares fit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.triangular import Columns, Factor
from hiperplano.messages import Message
from hiperplano.solvers.solution import Solution, smallest_digits


@dataclass(frozen=True, repr=False)
class LeastSquaresSolution(Solution):
    """A least-squares fit and what its standard errors need.

    Attributes
    ----------
    rank : int
        Independent columns, without the intercept.
    condition : float
        Of the centred columns scaled to unit length, penalty included.
    digits : float
        Decimal digits of the coefficients to trust, in the norm of coefficients times the spread of their columns.
    rss, tss : ndarray of shape (targets,)
        Weighted sums of squares: of the residuals, and of the target about its mean (about 0 without intercept).
    mean : ndarray of shape (d,)
        Weighted means of the columns; zeros without intercept.
    scale : ndarray of shape (d,)
        One over the length of each centred column; 0 if it is constant.
    total : float
        Sum of the weights.
    alpha : ndarray of shape (targets,)
        Strengths of the penalty.
    dependent : tuple of int
        Columns that take part in an exact linear relation, or are constant.
    factor : Factor or None
        Of the columns with the penalty.
    columns : Columns or None
        Without the penalty, where `factor` is too far from them, or is missing.
    """

    rank: int
    condition: float
    digits: float
    rss: Array = field(repr=False)
    tss: Array = field(repr=False)
    mean: Array = field(repr=False)
    scale: Array = field(repr=False)
    total: float = field(repr=False)
    alpha: Array = field(repr=False)
    dependent: tuple[int, ...] = ()
    factor: Factor | None = field(default=None, repr=False)
    columns: Columns | None = field(default=None, repr=False)

    @property
    def smallest_digits(self) -> float:
        """The same of the worst coefficient that is not 0, by itself."""
        return smallest_digits(self.digits, self.coef, self.scale)


def constant_columns(constant: int, n_columns: int) -> str:
    """The sentence of a status on columns that do not vary; empty if there are none."""
    if not constant:
        return ""
    if constant == 1:
        return Message(" 1 of {n} columns does not vary and got the coefficient 0.", n=n_columns)
    return Message(" {constant} of {n} columns do not vary and got the coefficient 0.", constant=constant, n=n_columns)


def penalised_sum(rss: Array, alpha: Array, coef: Array) -> float:
    """Σ over targets of rss + alpha·‖coef‖²."""
    lengths = np.square(np.where(alpha[:, None] > 0, coef, 0.0)).sum(axis=1)
    return float(np.sum(rss + alpha * lengths))
