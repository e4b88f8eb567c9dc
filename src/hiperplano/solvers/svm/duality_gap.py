"""The duality gap of a plane and its dual variables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Design, RowVector
from hiperplano.solvers.svm.curvature import Curvature
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.smoothed import Evaluation, Hyperplane, SmoothedProblem
from hiperplano.solvers.svm.solution import PlaneFit

GAP_ROUNDING = 1e-13  # gap due to rounding errors, as a share of the objective at scores of 0
# In dual ascent, the gap is computed again when the slack, or the largest violation of the optimality conditions, has
NEXT_CHECK = 0.3  # fallen to this share.
STILL = 1e-14  # Violations up to this, in units of the scores, are rounding errors.


@dataclass
class Budget:
    """Limit of passes over the rows, and passes made so far.

    Other work counts as passes, too, so that a fit with expensive steps ends as soon as others.
    """

    most: float
    spent: float = 0.0

    @property
    def left(self) -> float:
        return self.most - self.spent

    @property
    def used(self) -> int:
        """Number of passes made."""
        return int(np.ceil(self.spent))

    def take(self, passes: float = 1.0) -> None:
        """Count a pass, or work that takes as long as `passes`."""
        self.spent += passes


class GapTolerance(NamedTuple):
    """Largest gap of a solution: `tol` times the objective, plus a floor for rounding errors."""

    tol: float
    floor: float

    @classmethod
    def of(cls, problem: SmoothedProblem, tol: float) -> GapTolerance:
        """The tolerance for a problem."""
        return cls(tol, GAP_ROUNDING * problem.zero_loss)

    def at(self, objective: float) -> float:
        """Largest gap for an objective."""
        return self.tol * objective + self.floor


class Certificate(NamedTuple):
    """An evaluation with balanced dual variables, the gap that they prove, and whether it is small enough."""

    evaluation: Evaluation
    gap: float
    proved: bool


def plane_fit(design: Design, loss: DualLoss, found: Certificate, method: str, passes: int) -> PlaneFit:
    """Make a `PlaneFit` from a certificate."""
    plane = found.evaluation.plane
    return PlaneFit(
        coef=plane.coef,
        intercept=float(plane.intercept),
        objective=found.evaluation.objective,
        gap=found.gap,
        proved=found.proved,
        multipliers=design.collect(design.with_vectors(gamma=found.evaluation.gamma).map(loss.row_pulls)),
        passes=passes,
        method=method,
    )


def certify(
    problem: SmoothedProblem,
    plane: Hyperplane,
    gamma: RowVector,
    tolerance: GapTolerance,
    curvature: Curvature | None = None,
) -> Certificate:
    """Balance the dual variables of a plane, and compute their duality gap in one pass.

    Parameters
    ----------
    problem : SmoothedProblem
        Problem without a proximal term.
    gamma : RowVector
        Dual variables.
    curvature : Curvature, optional
        Stored in the evaluation.
    """
    proof = problem.evaluate(plane, curved=False, gamma=problem.balanced(gamma))
    gap = proof.gap if np.isfinite(proof.gap) else np.inf
    return Certificate(replace(proof, curvature=curvature), gap, gap <= tolerance.at(proof.objective))
