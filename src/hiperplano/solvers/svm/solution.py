"""The end of a support vector machine's fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.solution import Solution

METHODS = {
    "newton": "Newton's method",
    "dual": "dual coordinate ascent",
    "crammer_singer": "dual ascent over all classes",
}
_REMEDIES = {
    "newton": "If columns differ much in scale, standardise them (sklearn.preprocessing.StandardScaler); otherwise "
    "raise max_iter, or tol if that is accurate enough.",
    "dual": "Raise max_iter, or tol if that is accurate enough, or try solver='newton'; a smaller C is easier.",
    "crammer_singer": "Raise max_iter, or tol if that is accurate enough; standardised columns and a smaller C are "
    "easier.",
}


@dataclass(frozen=True)
class SvmSolution(Solution):
    """A fit with its proof: no plane has an objective below `dual_objective`.

    Attributes
    ----------
    objective : float
        ½‖coef‖² + Σ C·weight·loss, summed over classes where they are fitted one by one.
    dual_objective : float
        A lower bound of it, which `multipliers` prove.
    gap : float
        (objective − dual_objective) / objective, the worst of all classes.
    multipliers : ndarray of shape (targets, n)
        β with Σβ·x near coef, and Σβ = 0 where there is an intercept; y·β is between 0 and C·weight for the
        hinge, and is not 0 for support vectors only.
    """

    dual_objective: float
    multipliers: Array = field(repr=False)

    def for_rows(self, kept: Array | slice, n_rows: int) -> Self:
        """The same fit where more rows are counted, that had no weight: their multipliers are 0."""
        multipliers = np.zeros((len(self.multipliers), n_rows))
        multipliers[:, kept] = self.multipliers
        return replace(self, multipliers=multipliers)


def sentence(method: str, gap: float, tol: float, passes: int, max_iter: int, good: bool) -> str:
    """How a fit ended, and if badly what to do."""
    name = METHODS[method]
    if good:
        return f"Solved by {name} in {passes} passes; no plane has an objective lower by more than {gap:.1e} of it."
    why = f"max_iter={max_iter} passes were made" if passes >= max_iter else "rounding stopped all progress"
    return (
        f"{name[0].upper()}{name[1:]} ended after {passes} passes with a relative duality gap of {gap:.1e}, above "
        f"tol={tol:g}: {why}. {_REMEDIES[method]}"
    )
