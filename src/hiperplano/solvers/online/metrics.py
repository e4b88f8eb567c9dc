"""Metrics of planes on given rows, for the pocket, held-out rows and averaged planes.

Each is called with the coefficients and intercepts of planes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Sums
from hiperplano.losses import scalar
from hiperplano.solvers.online import rules as at

_SMALLEST = 1e-300


@dataclass(frozen=True)
class BinaryAccuracy:
    """Share of the rows, by weight, on the correct side of a plane; the target of the design is ±1."""

    design: Design

    def __call__(self, coef: Array, intercept: Array) -> float:
        return float(self.design.fold(_RightSide(coef, intercept))[0][0] / self.design.total_weight)


@dataclass(frozen=True)
class _RightSide:
    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Sums:
        right = (block.dot(self.coef) + self.intercept > 0) == (block.y[:, 0] > 0)
        return (np.atleast_1d(block.weights @ right),)


@dataclass(frozen=True)
class MulticlassAccuracy:
    """Share of the rows, by weight, whose class has the largest score; the target of the design is its number."""

    design: Design

    def __call__(self, coef: Array, intercept: Array) -> float:
        return float(self.design.fold(_LargestScore(coef, intercept))[0][0] / self.design.total_weight)


@dataclass(frozen=True)
class _LargestScore:
    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        right = xp.argmax(block.dot(self.coef.T) + self.intercept, axis=1) == block.y[:, 0]
        return (np.atleast_1d(block.weights @ right),)


@dataclass(frozen=True)
class RSquared:
    """R² of a plane.

    Attributes
    ----------
    spread : float
        Σ weight·(y − mean)².
    """

    design: Design
    spread: float

    @classmethod
    def of(cls, design: Design) -> RSquared:
        """Build the metric for the rows of a design."""
        ((weight, total),) = design.fold(_TargetSums())
        nothing = np.zeros(design.n_columns)
        return cls(design, float(design.fold(_SquaredErrors(nothing, total / weight))[0][0]))

    def __call__(self, coef: Array, intercept: Array) -> float:
        return 1.0 - float(self.design.fold(_SquaredErrors(coef, intercept))[0][0]) / (self.spread or 1.0)


@dataclass(frozen=True)
class _TargetSums:
    def __call__(self, block: Block) -> Sums:
        return (np.array([block.weights.sum(), block.weights @ block.y[:, 0]]),)


@dataclass(frozen=True)
class _SquaredErrors:
    """Σ weight·(score − y)²."""

    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Sums:
        errors = block.dot(self.coef) + self.intercept - block.y[:, 0]
        return (np.atleast_1d(block.weights @ errors**2),)


def loss_of(rule: Array) -> Any:
    """The loss named by a rule."""
    return scalar.loss_of(int(rule[at.LOSS]), float(rule[at.EPSILON]))


@dataclass(frozen=True)
class Objective:
    """Σ weight·loss / total of a plane, and the penalty.

    The perceptron's loss is divided by the norm of (w, b), since scaling a plane down would otherwise lower it. The
    value is then the logarithm of that quotient: it has the unit of the columns, and only its ratios are meaningful.

    Attributes
    ----------
    design : Design
        The target of one plane, ±1 or a number, and the weights of rows and classes.
    total : float
        The divisor of the loss: the number of rows, or the sum of their weights.
    """

    design: Design
    rule: Array
    total: float

    def __call__(self, coef: Array, intercept: Array) -> float:
        mean = float(self.design.fold(_LossSum(loss_of(self.rule), coef, intercept))[0][0]) / self.total
        return penalised(self.rule, mean, float(coef @ coef), float(intercept))

    def of_planes(self, coef: Array, intercept: Array) -> list[float]:
        """Objectives of several planes, of shape (planes, d) and (planes,), in one pass."""
        (sums,) = self.design.fold(_LossSum(loss_of(self.rule), coef.T, intercept))
        squares = np.einsum("ij,ij->i", coef, coef)
        of_each = zip((sums / self.total).tolist(), squares.tolist(), intercept.tolist(), strict=True)
        return [penalised(self.rule, *numbers) for numbers in of_each]


def penalised(rule: Array, mean: float, square: float, intercept: float) -> float:
    """The objective of a plane with this mean loss and ‖w‖²; see `Objective`."""
    alpha = float(rule[at.ALPHA])
    if rule[at.LOSS] == scalar.PERCEPTRON and alpha == 0.0:
        length = float(np.sqrt(square + intercept**2))
        return float(np.log(max(mean / length, _SMALLEST))) if length > 0.0 else np.inf
    return mean + 0.5 * alpha * (square + (intercept**2 if rule[at.PENALISE_INTERCEPT] else 0.0))


def growing_objective(design: Design, rule: Array, total: float) -> Objective | None:
    """The objective for losses whose slope is unbounded, else None.

    Only gradient steps on such losses can diverge for good.
    """
    by_gradient = rule[at.RATE] < at.PASSIVE_AGGRESSIVE_1
    steep = rule[at.LOSS] in (scalar.SQUARED, scalar.SQUARED_HINGE)
    return Objective(design, rule, total) if by_gradient and steep else None


@dataclass(frozen=True)
class _LossSum:
    """Σ weight·loss of one plane, or of the columns of `coef`."""

    loss: Any
    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Sums:
        xp, one = block.xp, self.coef.ndim == 1
        score = block.dot(self.coef).astype(xp.float64, copy=False) + self.intercept
        value = self.loss.value(block.y[:, 0] if one else block.y, score)
        if block.weight is not None:  # rows of a class with weight 0 may have any score, also an infinite one
            weight = block.weight if one else block.weight[:, None]
            value = xp.where(weight > 0, weight * value, 0.0)
        return (np.atleast_1d(value.sum(axis=0)),)
