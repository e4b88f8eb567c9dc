"""How good a plane is, proved by multipliers: the gap between its objective and the dual one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.svm.plane import Plane, View
from hiperplano.solvers.svm.tube import Tube

FLOOR = 1e-13  # of the objective of the zero plane: what rounding leaves of it


@dataclass
class Budget:
    """Passes over the rows: how many are left, and how many were made."""

    left: int
    used: int = 0

    def take(self) -> None:
        self.left -= 1
        self.used += 1


class Goal(NamedTuple):
    """A gap to reach: `tol` of the objective, or what rounding leaves if that is larger."""

    tol: float
    floor: float

    @classmethod
    def of(cls, tube: Tube, tol: float) -> Goal:
        return cls(tol, FLOOR * tube.total(tube.loss(tube.target)))

    def wanted(self, objective: float) -> float:
        return self.tol * objective + self.floor


class Answer(NamedTuple):
    """A view with multipliers (per unit of weight), the gap they prove, and whether that is the goal."""

    view: Any
    gap: float
    proved: bool
    width: float = 0.0

    @property
    def relative_gap(self) -> float:
        objective = self.view.objective
        return self.gap / objective if objective > 0 and np.isfinite(self.gap) else float(self.gap > 0) * np.inf


def prove(problem: Any, view: Any, goal: Goal, width: float = 0.0) -> Answer:
    """In one pass, after balancing the multipliers of a view where there is an intercept.

    For a `Smoothed` problem and its `View`, or those of all classes at once.
    """
    gamma = problem.tube.balanced(view.gamma) if problem.fit_intercept else view.gamma
    proof = problem.view(view.plane, curved=False, gamma=gamma)
    gap = proof.gap if np.isfinite(proof.gap) else np.inf
    reached = gap <= goal.wanted(proof.objective)
    return Answer(replace(proof, curvature=view.curvature), gap, reached, width)


def unproved(plane: Plane, residual: Array, gamma: Array) -> View:
    """A view of which only these parts are known."""
    return View(plane, residual, gamma, np.zeros(len(plane.coef) + 1), None, np.nan, np.nan)
