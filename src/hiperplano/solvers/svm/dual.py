"""Support vector machines by dual coordinate ascent, with a proof of how good the answer is.

One multiplier is maximised over at a time, which costs its row only; rows whose multipliers rest at an end are
left out until a look at all rows calls them back. An intercept without penalty asks that multipliers balance,
Σβ = 0: its value is kept near a guess, which follows after each pass (an augmented Lagrangian of one number).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Design
from hiperplano.solvers.svm.plane import Plane, Smoothed
from hiperplano.solvers.svm.proof import Answer, Budget, Goal, prove, unproved
from hiperplano.solvers.svm.tube import Tube

_FIRST_LOOK = 0.1  # all rows are looked at when the largest slope, in units of the target, has fallen to this
_NEXT_LOOK = 0.3  # and each time when it has fallen to this share
_LONGEST = 30  # passes between looks
_PATIENCE = 10  # looks at multipliers that rest
_STILL = 1e-14  # slopes, in units of the target, that are rounding


def dual_ascent(design: Design, tube: Tube, *, fit_intercept: bool, tol: float, budget: Budget) -> Answer:
    """Minimise ½‖coef‖² + Σ weight·loss up to a gap of tol·objective."""
    with one_blas_thread():
        return _Ascent(design, tube, fit_intercept).run(Goal.of(tube, tol), budget)


def compiled_rows(x: Any) -> tuple[Array, Array, Array]:
    """The three arrays that compiled loops take for rows, dense or CSR."""
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    return x.data, x.indices, x.indptr


class _Ascent:
    """Multipliers β (weights included), the coefficients they make, the level, and the rows still visited."""

    def __init__(self, design: Design, tube: Tube, fit_intercept: bool) -> None:
        from hiperplano.solvers.svm import dual_loops

        n = design.n_rows
        self.loops = dual_loops
        self.problem = Smoothed(design, tube, fit_intercept)
        self.rows = compiled_rows(design.x)
        self.weight = np.ones(n) if tube.weight is None else tube.weight
        counted = self.weight > 0
        self.share = np.where(counted, self.weight, 1.0)
        # A row without weight must rest, whatever its bounds: 0 times an infinite bound is no number.
        self.low, self.high = (np.where(counted, end * self.share, 0.0) for end in (tube.low, tube.high))
        self.soft = tube.give / self.share
        self.square, self.beta, self.coef = np.empty(n), np.zeros(n), np.zeros(design.n_columns)
        dual_loops.row_squares(*self.rows, self.square)
        self.state = np.zeros(dual_loops.STATE_SIZE)
        self.state[dual_loops.PULL] = self._pull() if fit_intercept else 0.0
        self.state[dual_loops.LARGEST] = np.inf
        self.order = np.argsort(~counted, kind="stable")
        self.size = int(counted.sum())

    def _pull(self) -> float:
        """How fast the level follows the sum of the multipliers.

        As a column of the rows' size would, but fast enough that all multipliers together can move it by a unit of
        the scores.
        """
        tube = self.problem.tube
        return float(self.square.mean()) + (tube.give or tube.mean_size / tube.end) / float(self.weight.sum())

    def run(self, goal: Goal, budget: Budget) -> Answer:
        unit = self.problem.tube.mean_size
        look_at, least, still = _FIRST_LOOK * unit, np.inf, 0
        best: tuple[Plane, Array, Array] | None = None
        while True:
            largest = self._passes(look_at, budget)
            plane, residual, gamma, slack = self._look()
            budget.take()
            objective = 0.5 * float(plane.coef @ plane.coef) + self.problem.tube.total(self.problem.tube.loss(residual))
            if best is None or slack <= least:
                least, best = slack, (plane, residual, gamma)
            still = still + 1 if largest <= _STILL * unit else 0
            ended = budget.left <= 0 or still > _PATIENCE  # rows that were left out may move yet
            if slack <= goal.wanted(objective) or ended:
                answer = prove(self.problem, unproved(*best), goal)
                budget.take()
                if answer.proved or ended:
                    return answer
            if still:  # multipliers rest at their ends, so the level must move by itself
                at = self.loops
                self.state[at.LEVEL] = plane.level + self.state[at.PULL] * self.state[at.SUM]
            look_at = _NEXT_LOOK * min(look_at, largest)
            self._call_back(largest)

    def _passes(self, look_at: float, budget: Budget) -> float:
        """Ascend until the largest slope is small; return it."""
        at, tube = self.loops, self.problem.tube
        for _ in range(_LONGEST):
            self.size = at.ascend(
                *self.rows, tube.target, self.low, self.high, self.soft, tube.epsilon, self.square, self.beta,
                self.coef, self.state, self.order, self.size, budget.used + 1,
            )  # fmt: skip
            self.state[at.LEVEL] += self.state[at.PULL] * self.state[at.SUM]
            budget.take()
            if self.state[at.LARGEST] <= look_at or budget.left <= 0:
                break
        return float(self.state[at.LARGEST])

    def _look(self) -> tuple[Plane, Array, Array, float]:
        """The plane with its best level, residuals and balanced multipliers, and about the gap."""
        tube, design = self.problem.tube, self.problem.design
        residual = tube.target - design.map_rows(lambda block: block.x @ self.coef, np.empty(design.n_rows))
        self.free_residual = residual
        gamma = self.beta / self.share
        level = 0.0
        if self.problem.fit_intercept:
            level = float(self.state[self.loops.LEVEL])
            level += tube.best_level(residual - level)
            gamma = tube.balanced(gamma)
        residual = residual - level
        # Balancing has also moved the coefficients that the multipliers make: by about the length of a row.
        moved = 0.5 * float(self.state[self.loops.PULL] * self.state[self.loops.SUM] ** 2)
        slack = tube.total(tube.loss(residual) - tube.gain(residual, gamma)) + moved
        return Plane(self.coef.copy(), level, np.zeros_like(self.coef)), residual, gamma, slack

    def _call_back(self, beyond: float) -> None:
        """Visit those rows again whose multipliers can move, by the slopes of the last look."""
        slope = self.free_residual - self.state[self.loops.LEVEL] - self.soft * self.beta
        epsilon = self.problem.tube.epsilon
        up = np.where(self.beta >= 0, slope - epsilon, slope + epsilon)
        down = np.where(self.beta > 0, epsilon - slope, -slope - epsilon)
        rests = ((self.beta >= self.high) | (up < -beyond)) & ((self.beta <= self.low) | (down < -beyond))
        self.order = np.argsort(rests, kind="stable")
        self.size = int(len(rests) - rests.sum())
