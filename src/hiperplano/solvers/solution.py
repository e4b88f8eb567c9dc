"""What a solver returns: the answer, and a verdict a person can act on."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from html import escape

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.least_squares.factor import Columns, Factor


@dataclass(frozen=True, repr=False)
class Solution:
    """The end of a fit.

    Attributes
    ----------
    coef : ndarray of shape (targets, d)
    intercept : ndarray of shape (targets,)
    method : str
        What found it, in a few words.
    n_iter : int
        Passes or steps, as the method counts them.
    objective : float
        The minimised function at the answer, as the method defines it.
    gap : float
        How far from the optimum at most, relative; what it measures is the method's to say.
    converged : bool
    status : str
        A sentence: how the fit ended and, if badly, what to do.
    """

    coef: Array = field(repr=False)
    intercept: Array = field(repr=False)
    method: str
    n_iter: int
    objective: float
    gap: float
    converged: bool
    status: str

    def __str__(self) -> str:
        return self.status

    def _facts(self) -> dict[str, str]:
        """What is worth a line beside the status."""
        shown = (each for each in fields(self) if each.repr and each.name != "status")
        values = {each.name: getattr(self, each.name) for each in shown}
        return {name: f"{value:.4g}" if isinstance(value, float) else str(value) for name, value in values.items()}

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self._facts().items())
        return f"{type(self).__name__}: {self.status}\n({facts})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self._facts().items()
        )
        return f"<p>{escape(self.status)}</p><table>{rows}</table>"


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
        Decimal digits of the coefficients to trust, in the norm of scaled coefficients.
    rss, tss : ndarray of shape (targets,)
        Weighted sums of squares: of the residuals, and of the target about its mean (about 0 without intercept).
    mean : ndarray of shape (d,)
        Weighted means of the columns; zeros without intercept.
    scale : ndarray of shape (d,)
        One over the length of each centred column; 0 if it does not vary.
    total : float
        Sum of the weights.
    alpha : ndarray of shape (targets,)
        Strengths of the penalty.
    dependent : tuple of int
        Columns that take part in an exact linear relation, or do not vary.
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


def columns_at_rest(constant: int, n_columns: int) -> str:
    """The sentence of a status on columns that do not vary; empty if there are none."""
    if not constant:
        return ""
    return f" {constant} of {n_columns} columns {'does' if constant == 1 else 'do'} not vary and got the coefficient 0."


def penalised_sum(rss: Array, alpha: Array, coef: Array) -> float:
    """Σ over targets of rss + alpha·‖coef‖², where squares of coefficients without penalty may overflow."""
    with np.errstate(over="ignore"):
        lengths = np.square(coef).sum(axis=1)
        return float(np.sum(rss + alpha * np.where(alpha > 0, lengths, 0.0)))
