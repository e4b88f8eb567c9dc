"""Support vector machines by dual coordinate ascent, with a duality gap.

One dual variable is maximised over at a time, which costs its row only; rows whose dual variables rest at a bound are
left out until a check of all rows brings them back. An intercept without penalty asks that dual variables balance,
Σβ = 0: its value is kept near a guess, which follows after each pass (an augmented Lagrangian of one number).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.duality_gap import Budget, Certificate, GapTolerance, certify
from hiperplano.solvers.svm.smoothed import Hyperplane, SmoothedProblem

_FIRST_CHECK = 0.1  # all rows are checked when the largest slope, in units of the scores, has fallen to this
_NEXT_CHECK = 0.3  # and each time when it has fallen to this share
_LONGEST = 30  # passes between checks
_PATIENCE = 10  # checks at which dual variables rest
_STILL = 1e-14  # slopes, in units of the scores, that are rounding


def dual_ascent(design: InMemory, loss: DualLoss, *, fit_intercept: bool, tol: float, budget: Budget) -> Certificate:
    """Minimise ½‖coef‖² + Σ weight·loss up to a gap of tol·objective.

    Parameters
    ----------
    design : InMemory
        With a vector "sign" for classification.
    """
    with one_blas_thread():
        ascent = _Ascent(SmoothedProblem(design, loss, fit_intercept), design)
        return ascent.run(GapTolerance.of(ascent.problem, tol), budget)


class _Ascent:
    """β of all rows, the coefficients they make, the level, and the rows still visited."""

    def __init__(self, problem: SmoothedProblem, design: InMemory) -> None:
        from hiperplano.solvers.svm import dual_loops

        n, loss = design.n_rows, problem.loss
        self.loops, self.problem, self.design = dual_loops, problem, design
        self.arrays = design.loop_arrays()
        self.sign = design.collect(design.vector("sign")) if loss.classifies else np.ones(n)
        self.target = self.sign if loss.classifies else np.ascontiguousarray(design.collect(design.vector("y"))[:, 0])
        self.weight = design.collect(design.vector("weight")) if design.has_weight else np.ones(n)
        self.low = self.weight * np.where(self.sign > 0, loss.low, -loss.high)
        self.high = self.weight * np.where(self.sign > 0, loss.high, -loss.low)
        self.soft = loss.ridge / self.weight
        self.square, self.beta, self.coef = np.empty(n), np.zeros(n), np.zeros(design.n_columns)
        dual_loops.row_squares(*self.arrays, self.square)
        self.state = np.zeros(dual_loops.STATE_SIZE)
        # The level follows the sum of β as a column of the rows' size would, but fast enough that all dual variables
        # together can move it by a unit of the scores.
        pull = float(self.square.mean()) + (loss.ridge or problem.unit / loss.high) / float(self.weight.sum())
        self.state[dual_loops.PULL] = pull if problem.fit_intercept else 0.0
        self.state[dual_loops.LARGEST] = np.inf
        self.order, self.size = np.arange(n), n

    def run(self, tolerance: GapTolerance, budget: Budget) -> Certificate:
        unit = self.problem.unit
        threshold, least, still = _FIRST_CHECK * unit, np.inf, 0
        best: tuple[Hyperplane, Array] | None = None
        while True:
            largest = self._passes(threshold, budget)
            plane, gamma, objective, slack = self._check_all_rows()
            budget.take()
            if best is None or slack <= least:
                least, best = slack, (plane, gamma)
            still = still + 1 if largest <= _STILL * unit else 0
            ended = budget.left <= 0 or still > _PATIENCE  # rows that were left out may move yet
            if slack <= tolerance.at(objective) or ended:
                certificate = certify(self.problem, *best, tolerance)
                budget.take()
                if certificate.proved or ended:
                    return certificate
            if still:  # dual variables rest at their bounds, so the level must move by itself
                at = self.loops
                self.state[at.LEVEL] = float(plane.level) + self.state[at.PULL] * self.state[at.SUM]
            threshold = _NEXT_CHECK * min(threshold, largest)
            self._restore_rows(largest)

    def _passes(self, threshold: float, budget: Budget) -> float:
        """Ascend until the largest slope is small; return it."""
        at = self.loops
        for _ in range(_LONGEST):
            self.size = at.ascend(
                *self.arrays, self.target, self.low, self.high, self.soft, self.problem.loss.epsilon, self.square,
                self.beta, self.coef, self.state, self.order, self.size, budget.used + 1,
            )  # fmt: skip
            self.state[at.LEVEL] += self.state[at.PULL] * self.state[at.SUM]
            budget.take()
            if self.state[at.LARGEST] <= threshold or budget.left <= 0:
                break
        return float(self.state[at.LARGEST])

    def _check_all_rows(self) -> tuple[Hyperplane, Array, float, float]:
        """The plane with its best level, balanced dual variables, the objective, and about the gap."""
        loss, design = self.problem.loss, self.design
        self.without_level = self.target - design.collect(design.map(_Scores(self.coef)))
        gamma, level = self.sign * self.beta / self.weight, 0.0
        if self.problem.fit_intercept:
            level = float(self.state[self.loops.LEVEL])
            level += self._best_level(self.without_level - level)
            gamma = design.collect(self.problem.balanced(gamma))
        residual = self.sign * (self.without_level - level)
        losses = loss.value(residual)
        # Balancing has also moved the coefficients that the dual variables make: by about the length of a row.
        moved = 0.5 * float(self.state[self.loops.PULL] * self.state[self.loops.SUM] ** 2)
        slack = float(self.weight @ (losses - loss.gain(residual, gamma))) + moved
        objective = 0.5 * float(self.coef @ self.coef) + float(self.weight @ losses)
        return Hyperplane(self.coef.copy(), np.asarray(level), np.zeros_like(self.coef)), gamma, objective, slack

    def _best_level(self, residual: Array) -> float:
        """The number to take from target − score of all rows so that the sum of the losses is least."""
        loss = self.problem.loss
        if loss.ridge:
            return self.problem.level_step(self.sign * residual)
        return best_plain_level(residual, self.low, self.high, loss.epsilon)

    def _restore_rows(self, beyond: float) -> None:
        """Visit those rows again whose dual variables can move, by the slopes of the last check."""
        slope = self.without_level - self.state[self.loops.LEVEL] - self.soft * self.beta
        epsilon = self.problem.loss.epsilon
        up = np.where(self.beta >= 0, slope - epsilon, slope + epsilon)
        down = np.where(self.beta > 0, epsilon - slope, -slope - epsilon)
        rests = ((self.beta >= self.high) | (up < -beyond)) & ((self.beta <= self.low) | (down < -beyond))
        self.order = np.argsort(rests, kind="stable")
        self.size = int(len(rests) - rests.sum())


@dataclass(frozen=True)
class _Scores:
    coef: Array

    def __call__(self, block: Block) -> Array:
        return block.dot(self.coef)


def best_plain_level(residual: Array, low: Array, high: Array, epsilon: float) -> float:
    """The number to take from all residuals so that the sum of plain losses is least; of several, that next to 0.

    Parameters
    ----------
    residual : ndarray of shape (n,)
        Target − score.
    low, high : ndarray of shape (n,)
        Bounds of β.
    """
    # The slope in the level is a staircase: it climbs by `high` at r − ε and by −`low` at r + ε.
    kinks = np.concatenate([residual - epsilon, residual + epsilon])
    climbs = np.concatenate([high, -low])
    order = np.argsort(kinks)
    slope = np.cumsum(climbs[order]) - float(high.sum())
    tiny = 1e-14 * float(climbs.sum())
    left = kinks[order[min(int(np.searchsorted(slope, -tiny)), len(order) - 1)]]
    right = kinks[order[min(int(np.searchsorted(slope, tiny, side="right")), len(order) - 1)]]
    return float(np.clip(0.0, left, right))
