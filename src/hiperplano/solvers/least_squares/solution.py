"""The verdict on a least-squares fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.orthogonal import triangle_of
from hiperplano.linalg.triangular import EPS, Columns, Factor, reciprocal
from hiperplano.messages import Message
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.solution import Outcome, smallest_digits, trusted_digits

MOST_FACTORED_PENALISED = 128  # columns up to which penalised fits always compute what standard errors need
_ENOUGH = 1e-9  # relative error of the standard errors of penalised coefficients, whose bias is far larger


@dataclass(frozen=True, repr=False)
class LeastSquaresSolution(Outcome):
    """A least-squares fit and what its standard errors need.

    Attributes
    ----------
    rank : int
        Rank of the columns, without the intercept.
    condition : float
        Condition number of the centred columns, scaled to unit length, with the penalty.
    digits : float
        Number of correct decimal digits of the coefficients, in the norm of coefficients times the spread of columns.
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
    dependent : ndarray of int
        Columns that are part of a linear relation, or are constant.
    factor : Factor or None
        Triangular factor of the columns with the penalty.
    columns : Columns or None
        The columns without the penalty, if `factor` does not determine them accurately, or is missing.
    products : ndarray of shape (d, d) or None
        Products of the centred columns, scaled to unit length, if neither of both is known.
    verdict, remarks : str
        How the fit ended, and further remarks.
    tells_digits : bool
        Whether a clause on the digits follows the verdict.
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
    dependent: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp), repr=False)
    factor: Factor | None = field(default=None, repr=False)
    columns: Columns | None = field(default=None, repr=False)
    products: Array | None = field(default=None, repr=False)
    verdict: str = field(default="", repr=False)
    remarks: str = field(default="", repr=False)
    tells_digits: bool = field(default=True, repr=False)

    @cached_property
    def status(self) -> str:  # type: ignore[override]  # computed on demand, which saves a tenth of a small fit
        """How the fit ended, with advice if needed."""
        said = self.verdict
        if self.tells_digits:
            said = said + trusted_digits(self.digits, self.smallest_digits)
        return said + self.remarks if self.remarks else said

    @property
    def smallest_digits(self) -> float:
        """Number of correct decimal digits of the least accurate nonzero coefficient."""
        return smallest_digits(self.digits, self.coef * reciprocal(self.scale))


def with_all_columns(found: LeastSquaresSolution, columns: HeldColumns | None = None) -> LeastSquaresSolution:
    """The solution with a sentence on columns that do not vary.

    Parameters
    ----------
    columns : HeldColumns, optional
        Columns that were fitted, if empty ones were left out.
    """
    if columns is not None:
        dependent = np.ones(columns.n_all, dtype=bool)
        dependent[np.delete(columns.numbers, found.dependent)] = False
        found = replace(
            found,
            coef=columns.widen(found.coef),
            mean=columns.widen(found.mean),
            scale=columns.widen(found.scale),
            dependent=np.flatnonzero(dependent),
            factor=None,
            columns=None,
            products=None,
        )
    n, constant = len(found.scale), int(np.count_nonzero(found.scale == 0))
    if not constant:
        return found
    said = Message(" {constant} of {n} columns do not vary and got the coefficient 0.", constant=constant, n=n)
    if constant == 1:
        said = Message(" 1 of {n} columns does not vary and got the coefficient 0.", n=n)
    return replace(found, remarks=found.remarks + said)


def for_standard_errors(unit: Array, scale: Array, alpha: float) -> tuple[Columns | None, Array | None]:
    """`columns` or `products` of a solution, from rows whose centred columns have unit length."""
    if error_of_products(scale, alpha) <= _ENOUGH:
        return None, unit.T @ unit
    return Columns(triangle_of(unit), scale), None


def error_of_products(scale: Array, alpha: float) -> float:
    """Bound of the relative error that rounding of the products of columns causes in results with a penalty.

    With columns of unit length, the largest eigenvalue is at most their number, and the penalty at least alpha·scale².
    """
    varying = scale[scale > 0]
    return EPS * len(varying) / (alpha * float(varying.min()) ** 2) if len(varying) else 0.0


def penalised_sum(rss: Array, alpha: Array, coef: Array) -> float:
    """Σ over targets of rss + alpha·‖coef‖²."""
    if not alpha.any():
        return float(rss.sum())
    lengths = np.square(np.where(alpha[:, None] > 0, coef, 0.0)).sum(axis=1)
    return float(rss.sum() + alpha @ lengths)
