"""Full-batch gradient descent: one step per pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Sums
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.metrics import loss_of
from hiperplano.solvers.online.schedules import learning_rate


class WholeBatch:
    """Trainer whose only visit in a pass covers all rows: w ← (1 − ηα)·w − η·Σ weight·slope·x / total.

    Parameters
    ----------
    design : Design
        The target of one plane, ±1 or a number, and the weights of rows and classes.
    total : float
        The divisor: the sum of the rows' weights, without class weights.
    summed : bool
        Use the sum instead of the mean: the perceptron criterion of the lecture notes.
    """

    def __init__(self, design: Design, learner: Learner, plane: int, total: float, summed: bool) -> None:
        self.design, self.learner, self.planes, self.summed = design, learner, plane, summed
        self.counts = learner.states[plane]
        self.length = 1
        self.total = total
        self.squared_gradient: float | None = np.inf

    def begin(self, number: int) -> None:
        """Do nothing: all passes are alike."""

    def row(self, visit: int) -> int | None:
        return None

    def advance(self, start: int, stop: int, rule: Array) -> int:
        state = self.counts
        weights, sums = self.learner.weights[self.planes], self.learner.sums[self.planes]
        sums -= state[at.MASS] * weights  # a loop over single examples may have left a scale
        weights *= state[at.SCALE]
        state[at.SCALE], state[at.MASS] = 1.0, 0.0
        statistic = _GradientSums(loss_of(rule), weights, float(state[at.INTERCEPT]))
        gradient, (value, slope, missed, updates) = self.design.fold(statistic)
        if not np.isfinite(value):
            state[at.NOT_FINITE] = 1.0
            return 0
        rate = learning_rate(rule, state[at.STEP])
        step = rate if self.summed else rate / self.total
        self.squared_gradient = self._squared_gradient(gradient, slope, rule)
        self._shrink(max(0.0, 1.0 - rate * rule[at.ALPHA]), rule)
        weights -= step * gradient
        if rule[at.FIT_INTERCEPT]:
            state[at.INTERCEPT] -= step * slope
        if rule[at.PROJECT]:
            square = weights @ weights + (state[at.INTERCEPT] ** 2 if rule[at.PENALISE_INTERCEPT] else 0.0)
            self._shrink(np.sqrt(rule[at.PROJECT] / max(square * rule[at.ALPHA], rule[at.PROJECT])), rule)
        if 0.0 < rule[at.AVERAGE_FROM] <= state[at.STEP]:
            part = state[at.STEP] if rule[at.WEIGHT_BY_STEP] else 1.0
            sums -= part * weights  # MASS stays 0, so `sums` holds the whole sum
            state[at.INTERCEPT_SUM] += part * state[at.INTERCEPT]
            state[at.AVERAGED] += part
        state[at.LOSS_SUM] += value
        if rule[at.CLASSES]:
            state[at.MISTAKES] += missed
        state[at.UPDATES] += updates
        state[at.RUN] = 0.0 if missed and rule[at.CLASSES] else state[at.RUN] + 1.0
        state[at.EXAMPLES] += self.design.n_rows
        state[at.STEP] += 1.0
        return stop

    def _squared_gradient(self, gradient: Array, slope: float, rule: Array) -> float:
        """‖gradient of the objective‖², at the weights before the step."""
        down = gradient / self.total + rule[at.ALPHA] * self.learner.weights[self.planes]
        penalty = rule[at.ALPHA] * self.counts[at.INTERCEPT] if rule[at.PENALISE_INTERCEPT] else 0.0
        bias = slope / self.total + penalty
        return float(down @ down + (bias * bias if rule[at.FIT_INTERCEPT] else 0.0))

    def _shrink(self, factor: float, rule: Array) -> None:
        self.learner.weights[self.planes] *= factor
        if rule[at.PENALISE_INTERCEPT]:
            self.counts[at.INTERCEPT] *= factor


@dataclass(frozen=True)
class _GradientSums:
    """Σ weight·slope·x, and the sums of weight·loss, weight·slope, mistakes and nonzero slopes."""

    loss: Any
    coef: Array
    intercept: float

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        y, weight = block.y[:, 0], block.weights
        score = block.dot(self.coef).astype(xp.float64, copy=False) + self.intercept
        value, slope = self.loss.value(y, score), self.loss.slope(y, score)
        if block.weight is not None:  # rows of a class with weight 0 may have any score, also an infinite one
            value, slope = xp.where(weight > 0, value, 0.0), xp.where(weight > 0, slope, 0.0)
        missed = np.count_nonzero((y * score <= 0) & (weight > 0))
        counts = (weight @ value, weight @ slope, missed, np.count_nonzero(weight * slope))
        return block.transpose_dot(weight * slope), np.array(counts, dtype=xp.float64)
