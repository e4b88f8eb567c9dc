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

_ROUNDING = 1e-13  # share of the objective where all scores are 0 that rounding leaves


@dataclass
class Budget:
    """Passes over the rows: how many may be made, and how many were.

    What else takes time counts as passes, too: a fit whose steps are dear ends as soon as others.
    """

    most: float
    spent: float = 0.0

    @property
    def left(self) -> float:
        return self.most - self.spent

    @property
    def used(self) -> int:
        """Passes made."""
        return int(np.ceil(self.spent))

    def take(self, passes: float = 1.0) -> None:
        """Count a pass, or what takes as long as so many."""
        self.spent += passes


class GapTolerance(NamedTuple):
    """A gap to reach: `tol` of the objective, or what rounding leaves if that is larger."""

    tol: float
    floor: float

    @classmethod
    def of(cls, problem: SmoothedProblem, tol: float) -> GapTolerance:
        """For a problem."""
        return cls(tol, _ROUNDING * problem.zero_loss)

    def at(self, objective: float) -> float:
        """The gap that is small enough beside an objective."""
        return self.tol * objective + self.floor


class Certificate(NamedTuple):
    """An evaluation with balanced dual variables, the gap they prove, and whether that is small enough."""

    evaluation: Evaluation
    gap: float
    proved: bool


def plane_fit(design: Design, loss: DualLoss, found: Certificate, method: str, passes: int) -> PlaneFit:
    """What a certificate says of a plane."""
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
    """Balance the dual variables of a plane, and find their gap in one pass.

    Parameters
    ----------
    problem : SmoothedProblem
        Without proximity.
    gamma : RowVector
        Dual variables.
    curvature : Curvature, optional
        Kept with the evaluation.
    """
    proof = problem.evaluate(plane, curved=False, gamma=problem.balanced(gamma))
    gap = proof.gap if np.isfinite(proof.gap) else np.inf
    return Certificate(replace(proof, curvature=curvature), gap, gap <= tolerance.at(proof.objective))
