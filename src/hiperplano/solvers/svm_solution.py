"""The end of a support vector machine's fit."""

from __future__ import annotations

from dataclasses import dataclass, field

from hiperplano.data.design import Array
from hiperplano.solvers.solution import Solution


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
