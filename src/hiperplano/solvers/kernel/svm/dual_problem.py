"""The dual problem of kernel machines, in a common form for classification, regression and novelty detection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hiperplano.data.design import Array

CLOSED = 1e300  # replaces an infinite slope at a bound, since fast-math loops must not contain infinity
_ROUNDING = 1e-14  # remainders below this share of a sum are rounding errors
# Largest norm of a function that can be found in float64, in units of half the range of the targets / √(largest kernel
# value).
_LONGEST = 1e7


def filled(bound: Array, total: float, order: Array | slice = slice(None)) -> Array:
    """Variables with a given sum: the first ones in the given order are at their bounds."""
    found, bound = np.empty_like(bound), bound[order]
    left = total - (np.cumsum(bound) - bound)
    found[order] = np.where(left > _ROUNDING * total, np.minimum(left, bound), 0.0)
    return found


@dataclass(frozen=True)
class DualProblem:
    """Minimise ½βᵀKβ − tᵀβ + width·Σ|β| with low ≤ β ≤ high and Σβ = total.

    Scores are Kβ + b. Every row has exactly one variable, also in regression.

    Attributes
    ----------
    target : ndarray of shape (n,)
    low, high : ndarray of shape (n,)
        low ≤ 0 ≤ high.
    width : float
    start : ndarray of shape (n,)
        A feasible point.
    total : float, default=0.0
    """

    target: Array
    low: Array
    high: Array
    width: float
    start: Array
    total: float = 0.0

    @classmethod
    def classification(cls, sign: Array, bound: Array) -> Self:
        """t = ±1, and β between 0 and ±bound."""
        return cls(sign, np.where(sign < 0, -bound, 0.0), np.where(sign > 0, bound, 0.0), 0.0, np.zeros(len(sign)))

    @classmethod
    def regression(cls, target: Array, bound: Array, width: float) -> Self:
        """t = y, β between −bound and bound, and a tube of the width ε."""
        return cls(target, -bound, bound, width, np.zeros(len(target)))

    @classmethod
    def novelty(cls, bound: Array, share: float) -> Self:
        """t = 0, β between 0 and bound, with Σβ = share·Σbound."""
        total = share * float(bound.sum())
        return cls(np.zeros(len(bound)), np.zeros(len(bound)), bound, 0.0, filled(bound, total), total)

    def started(self, beta: Array) -> Self:
        """Return the problem with another start, clipped to the bounds and adjusted to a sum of 0.

        The excess of one side is taken from its free variables if they are large enough, so that variables at a bound
        stay there.
        """
        beta = np.clip(beta, self.low, self.high)
        excess = beta.sum()
        if abs(excess) > 1e-13 * np.abs(beta).sum():
            side = beta * np.sign(excess) > 0
            free = side & self.free(beta)
            shrunk = free if abs(beta[free].sum()) > abs(excess) else side
            beta = np.where(shrunk, beta * (1.0 - excess / beta[shrunk].sum()), beta)
        return replace(self, start=beta)

    def slopes(self, beta: Array, gradient: Array) -> tuple[Array, Array]:
        """Slopes of −objective where β grows, and where it falls; ∓1e300 at a bound. Optimal where up ≤ b ≤ down."""
        if self.width == 0.0:
            return (
                np.where(beta >= self.high, -CLOSED, -gradient),
                np.where(beta <= self.low, CLOSED, -gradient),
            )
        up = np.where(beta >= self.high, -CLOSED, np.where(beta >= 0, -self.width, self.width)) - gradient
        down = np.where(beta <= self.low, CLOSED, np.where(beta > 0, -self.width, self.width)) - gradient
        return up, down

    def violation(self, beta: Array, gradient: Array) -> float:
        """Largest violation of the optimality conditions by a pair of variables."""
        up, down = self.slopes(beta, gradient)
        return max(0.0, float(up.max() - down.min()))

    def free(self, beta: Array) -> Array:
        """Which variables can move in both directions, away from the bounds and from the kink at 0."""
        return (beta > self.low) & (beta < self.high) & (beta != 0.0)

    def part(self, rows: Array) -> Self:
        """The problem restricted to some variables, with their sum fixed at its initial value."""
        start = self.start[rows]
        return type(self)(self.target[rows], self.low[rows], self.high[rows], self.width, start, float(start.sum()))

    def value(self, beta: Array, gradient: Array) -> float:
        """The objective, from the gradient Kβ − t."""
        return float(0.5 * beta @ (gradient - self.target) + self.width * np.abs(beta).sum())

    def change(self, old: tuple[Array, Array], new: tuple[Array, Array]) -> float:
        """Objective at `new` minus that at `old`, each given as (β, gradient); also valid for a restricted problem."""
        (beta, gradient), (other, slopes) = old, new
        return float(0.5 * (other - beta) @ (gradient + slopes) + self.width * (np.abs(other) - np.abs(beta)).sum())

    def gap(self, beta: Array, gradient: Array, intercept: float) -> float:
        """The duality gap: the losses minus the part that the dual variables account for.

        ½βᵀKβ occurs in both objectives and cancels, so the gap is a sum of nonnegative terms. An error of Σβ is added,
        multiplied by the intercept.
        """
        miss = -gradient - intercept  # t − score
        with np.errstate(invalid="ignore", over="ignore"):  # ∞·0 occurs, and folds with one class have no intercept
            losses = np.maximum(self.high * (miss - self.width), self.low * (miss + self.width)).clip(min=0.0)
        accounted = beta * miss - self.width * np.abs(beta)
        # With infinite bounds no loss is allowed: the remaining loss is the violation, which `tol` bounds.
        terms = np.where(np.isfinite(self.high - self.low), losses - accounted, np.abs(accounted))
        return float(np.sum(terms)) + abs((float(beta.sum()) - self.total) * intercept)

    def is_unbounded(self, beta: Array, gradient: Array, diagonal: Array) -> bool:
        """Whether β proves that a problem without bounds has no solution that can be found in float64.

        A function without loss has ‖f‖ ≥ (tᵀβ − width·Σ|β|)/√(βᵀKβ) for any β. If this bound is large, rows of the two
        classes are nearly equal.
        """
        room = self.high - self.low
        if np.isfinite(room[room > 0]).any():
            return False
        gain = float(self.target @ beta - self.width * np.abs(beta).sum())
        rounding = np.finfo(float).eps * float(np.sqrt(np.abs(diagonal)) @ np.abs(beta)) ** 2
        square = max(float(beta @ (gradient + self.target)), rounding, np.finfo(float).tiny)
        size = 0.5 * float(np.ptp(self.target)) / np.sqrt(max(float(diagonal.max()), np.finfo(float).tiny))
        return gain > _LONGEST * size * np.sqrt(square)
