"""How the fit of a support vector machine ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.solution import Solution

METHODS = {
    "newton": Message("Newton's method"),
    "dual": Message("dual coordinate ascent"),
    "interior": Message("an interior point method"),
    "dual, active set": Message("dual coordinate ascent and an active set method"),
    "dual, newton": Message("dual coordinate ascent and Newton's method"),
    "dual, interior": Message("dual coordinate ascent and an interior point method"),
    "crammer_singer": Message("dual ascent over all classes"),
}
_NEWTON_REMEDY = Message(
    "If columns differ much in scale, standardise them (sklearn.preprocessing.StandardScaler); otherwise raise "
    "max_iter, or tol if that is accurate enough."
)
_REMEDIES = {
    "newton": _NEWTON_REMEDY,
    "interior": _NEWTON_REMEDY,
    "dual, active set": _NEWTON_REMEDY,
    "dual, newton": _NEWTON_REMEDY,
    "dual, interior": _NEWTON_REMEDY,
    "dual": Message(
        "Raise max_iter, or tol if that is accurate enough, or try solver='newton'; a smaller C is easier."
    ),
    "crammer_singer": Message(
        "Raise max_iter, or tol if that is accurate enough; standardised columns and a smaller C are easier."
    ),
}


class PlaneFit(NamedTuple):
    """A plane, and the multipliers that prove its gap; `method` is a key of `METHODS`."""

    coef: Array
    intercept: float
    objective: float
    gap: float
    proved: bool
    multipliers: Array
    passes: int
    method: str

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        if self.objective > 0 and np.isfinite(self.gap):
            return self.gap / self.objective
        return np.inf if self.gap > 0 else 0.0


@dataclass(frozen=True)
class SvmSolution(Solution):
    """A fit with its certificate: no plane has an objective below `dual_objective`.

    Attributes
    ----------
    objective : float
        ½‖coef‖² + Σ C·weight·loss; the sum over classes if they are fitted one by one.
    dual_objective : float
        A lower bound of the objective, proved by `multipliers`.
    gap : float
        (objective − dual_objective) / objective, the largest of all classes.
    multipliers : ndarray of shape (targets, n)
        β, for which Σβ·x is close to coef, and Σβ = 0 with an intercept. For the hinge loss, y·β is between 0 and
        C·weight. Only support vectors have nonzero multipliers.
    """

    dual_objective: float
    multipliers: Array = field(repr=False)

    def for_rows(self, kept: Array, n_rows: int) -> Self:
        """The same fit for a table that also has rows without weight, whose multipliers are 0.

        Parameters
        ----------
        kept : ndarray of int
            Numbers of the rows that were fitted.
        n_rows : int
            Number of rows of the whole table.
        """
        if len(kept) == n_rows:
            return self
        multipliers = np.zeros((len(self.multipliers), n_rows))
        multipliers[:, kept] = self.multipliers
        return replace(self, multipliers=multipliers)


def status(method: str, gap: float, tol: float, passes: int, max_iter: int, converged: bool) -> Message:
    """A message on how a fit ended, with advice if it did not converge."""
    if converged:
        return Message(
            "Solved by {method} in {passes} passes; no plane has an objective lower by more than {gap:.1e} of it.",
            method=METHODS[method],
            passes=passes,
            gap=gap,
        )
    ended = Message(
        "{method} ended after {passes} passes with a relative duality gap of {gap:.1e}, above tol={tol:g}: {reason}.",
        method=_SENTENCE_STARTS[method],
        passes=passes,
        gap=gap,
        tol=tol,
        reason=end_reason(passes >= max_iter, max_iter),
    )
    return Message.concatenate(" ", [ended, _REMEDIES[method]])


_SENTENCE_STARTS = {
    "newton": METHODS["newton"],
    "dual": Message("Dual coordinate ascent"),
    "interior": Message("An interior point method"),
    "dual, active set": Message("Dual coordinate ascent and an active set method"),
    "dual, newton": Message("Dual coordinate ascent and Newton's method"),
    "dual, interior": Message("Dual coordinate ascent and an interior point method"),
    "crammer_singer": Message("Dual ascent over all classes"),
}


def end_reason(all_passes: bool, max_iter: int) -> Message:
    """Why a fit ended before it reached its tolerance."""
    if all_passes:
        return Message("max_iter={max_iter} passes were made", max_iter=max_iter)
    return Message("rounding stopped all progress")
