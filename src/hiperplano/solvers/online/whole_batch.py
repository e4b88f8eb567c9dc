"""Steps along the gradient over all rows: one step in a pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Perceptron, Squared, SquaredHinge
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.schedules import learning_rate


def loss_of(rule: Array) -> Any:
    """The loss that a rule names."""
    epsilon = float(rule[at.EPSILON])
    return {
        at.PERCEPTRON: Perceptron(),
        at.HINGE: Hinge(),
        at.SQUARED_HINGE: SquaredHinge(),
        at.LOGISTIC: Logistic(),
        at.SQUARED: Squared(),
        at.HUBER: Huber(epsilon),
        at.EPSILON_INSENSITIVE: EpsilonInsensitive(epsilon),
    }[int(rule[at.LOSS])]


class WholeBatch:
    """The course that takes all rows for one visit: w ← (1 − ηα)·w − η·Σ weight·slope·x / Σ weight.

    `design` holds the target of one plane, ±1 or a number, and the weights of rows and classes. With `summed` the
    step follows the sum, not the mean: the perceptron criterion of the lecture notes.
    """

    def __init__(self, design: Design, learner: Learner, plane: int, summed: bool) -> None:
        self.design, self.learner, self.planes, self.summed = design, learner, plane, summed
        self.counts = learner.states[plane]
        self.length = 1
        self.total = 1.0  # the loss is a mean already

    def begin(self, number: int) -> None:
        """All passes are alike."""

    def row(self, visit: int) -> int | None:
        return None

    def advance(self, start: int, stop: int, rule: Array) -> int:
        state, loss = self.counts, loss_of(rule)
        weights, sums = self.learner.weights[self.planes], self.learner.sums[self.planes]
        by_class = rule[at.LOSS] < at.SQUARED
        sums -= state[at.MASS] * weights  # a walk may have left a scale behind
        weights *= state[at.SCALE]
        state[at.SCALE], state[at.MASS] = 1.0, 0.0

        def statistic(block: Block) -> Sums:
            y = block.y[:, 0]
            score = np.asarray(block.x @ weights, dtype=np.float64) + state[at.INTERCEPT]
            value, slope = loss.value(y, score), loss.slope(y, score)
            mass = np.ones(len(block)) if block.weight is None else block.weight
            if block.weight is not None:  # rows without weight may hold anything, and score anything
                value, slope = np.where(mass > 0, value, 0.0), np.where(mass > 0, slope, 0.0)
            missed = np.count_nonzero((y * score <= 0) & (mass > 0)) if by_class else 0
            counts = (mass.sum(), mass @ value, mass @ slope, missed, np.count_nonzero(mass * slope))
            return np.asarray(block.x.T @ (mass * slope), dtype=np.float64), np.array(counts, dtype=np.float64)

        gradient, (mass, value, slope, missed, updates) = self.design.fold(statistic)
        if not np.isfinite(value):
            state[at.NOT_FINITE] = 1.0
            return 0
        rate = learning_rate(rule, state[at.STEP])
        share = rate if self.summed else rate / mass
        self._shrink(max(0.0, 1.0 - rate * rule[at.ALPHA]), rule)
        weights -= share * gradient
        if rule[at.BIAS]:
            state[at.INTERCEPT] -= share * slope
        if rule[at.PROJECT]:
            square = weights @ weights + (state[at.INTERCEPT] ** 2 if rule[at.BIAS_SHRINKS] else 0.0)
            self._shrink(np.sqrt(rule[at.PROJECT] / max(square * rule[at.ALPHA], rule[at.PROJECT])), rule)
        if 0.0 < rule[at.AVERAGE_FROM] <= state[at.STEP]:
            part = state[at.STEP] if rule[at.LATE] else 1.0
            sums -= part * weights  # MASS stays 0: all of the sum is here
            state[at.INTERCEPT_SUM] += part * state[at.INTERCEPT]
            state[at.AVERAGED] += part
        state[at.LOSS_SUM] += value / mass
        state[at.MISTAKES] += missed
        state[at.UPDATES] += updates
        state[at.RUN] = 0.0 if missed else state[at.RUN] + self.design.n_rows
        state[at.SEEN] += self.design.n_rows
        state[at.STEP] += 1.0
        return stop

    def _shrink(self, factor: float, rule: Array) -> None:
        self.learner.weights[self.planes] *= factor
        if rule[at.BIAS_SHRINKS]:
            self.counts[at.INTERCEPT] *= factor
