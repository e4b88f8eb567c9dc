"""Steps along the gradient over all rows: one step in a pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Perceptron, Squared, SquaredHinge
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.schedules import learning_rate

_NOTHING = 1e-300


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


def cost_of(design: Design, rule: Array, total: float) -> Callable[[Array, Array], float]:
    """The objective of a plane: Σ weight·loss / total, and the penalty.

    The perceptron's loss is divided by the length of (w, b), as any plane, made short enough, would have less of it.
    The logarithm of this is given: what is left has the unit of the columns, and only its ratios mean something.
    """
    loss, alpha = loss_of(rule), float(rule[at.ALPHA])
    short_is_good = rule[at.LOSS] == at.PERCEPTRON and alpha == 0.0

    def cost(coef: Array, intercept: Array) -> float:
        def losses(block: Block) -> Sums:
            value = loss.value(block.y[:, 0], np.asarray(block.x @ coef, dtype=np.float64) + intercept)
            if block.weight is not None:
                value = np.where(block.weight > 0, block.weight * value, 0.0)
            return (np.atleast_1d(value.sum()),)

        mean = float(design.fold(losses)[0][0]) / total
        if short_is_good:
            length = float(np.sqrt(coef @ coef + intercept**2))
            return float(np.log(max(mean / length, _NOTHING))) if length > 0.0 else np.inf
        return mean + 0.5 * alpha * float(coef @ coef + (intercept**2 if rule[at.BIAS_SHRINKS] else 0.0))

    return cost


class WholeBatch:
    """The course that takes all rows for one visit: w ← (1 − ηα)·w − η·Σ weight·slope·x / total.

    Parameters
    ----------
    design : Design
        The target of one plane, ±1 or a number, and the weights of rows and classes.
    learner : Learner
    plane : int
    total : float
        What counts as the number of rows: the sum of their weights, without those of classes.
    summed : bool
        Follow the sum, not the mean: the perceptron criterion of the lecture notes.
    """

    def __init__(self, design: Design, learner: Learner, plane: int, total: float, summed: bool) -> None:
        self.design, self.learner, self.planes, self.summed = design, learner, plane, summed
        self.counts = learner.states[plane]
        self.length = 1
        self.total = total
        self.steepness: float | None = np.inf

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
            mass = block.weights
            if block.weight is not None:  # rows without weight may hold anything, and score anything
                value, slope = np.where(mass > 0, value, 0.0), np.where(mass > 0, slope, 0.0)
            missed = np.count_nonzero((y * score <= 0) & (mass > 0)) if by_class else 0
            counts = (mass @ value, mass @ slope, missed, np.count_nonzero(mass * slope))
            return np.asarray(block.x.T @ (mass * slope), dtype=np.float64), np.array(counts, dtype=np.float64)

        gradient, (value, slope, missed, updates) = self.design.fold(statistic)
        if not np.isfinite(value):
            state[at.NOT_FINITE] = 1.0
            return 0
        rate = learning_rate(rule, state[at.STEP])
        share = rate if self.summed else rate / self.total
        self.steepness = self._steepness(gradient, slope, rule)
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
        state[at.LOSS_SUM] += value
        state[at.MISTAKES] += missed
        state[at.UPDATES] += updates
        state[at.RUN] = 0.0 if missed else state[at.RUN] + 1.0
        state[at.SEEN] += self.design.n_rows
        state[at.STEP] += 1.0
        return stop

    def _steepness(self, gradient: Array, slope: float, rule: Array) -> float:
        """‖gradient of the objective‖², at the weights before the step."""
        down = gradient / self.total + rule[at.ALPHA] * self.learner.weights[self.planes]
        bias = slope / self.total + (rule[at.ALPHA] * self.counts[at.INTERCEPT] if rule[at.BIAS_SHRINKS] else 0.0)
        return float(down @ down + (bias * bias if rule[at.BIAS] else 0.0))

    def _shrink(self, factor: float, rule: Array) -> None:
        self.learner.weights[self.planes] *= factor
        if rule[at.BIAS_SHRINKS]:
            self.counts[at.INTERCEPT] *= factor
