"""The dual problem of kernel machines, in one form for classification, regression and novelty detection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array

_CLOSED = 1e300


@dataclass(frozen=True)
class DualProblem:
    """Minimise ½βᵀKβ − tᵀβ + width·Σ|β| with low ≤ β ≤ high and Σβ as at the start.

    Scores are Kβ + b. A classifier has t = ±1 and β between 0 and ±C; a regression has its targets, the width ε of its
    tube and β between −C and C, one variable for each row; novelty detection t = 0, β between 0 and 1.

    Attributes
    ----------
    target : ndarray of shape (n,)
    low, high : ndarray of shape (n,)
        low ≤ 0 ≤ high.
    width : float
    start : ndarray of shape (n,)
        A feasible point.
    """

    target: Array
    low: Array
    high: Array
    width: float
    start: Array

    def slopes(self, beta: Array, gradient: Array) -> tuple[Array, Array]:
        """Slopes of −objective where β grows, and where it falls; ∓1e300 at a bound. Optimal where up ≤ b ≤ down."""
        up = np.where(beta >= self.high, -_CLOSED, np.where(beta >= 0, -self.width, self.width)) - gradient
        down = np.where(beta <= self.low, _CLOSED, np.where(beta > 0, -self.width, self.width)) - gradient
        return up, down

    def part(self, rows: Array) -> DualProblem:
        """The problem in some of the variables."""
        return DualProblem(self.target[rows], self.low[rows], self.high[rows], self.width, self.start[rows])

    def value(self, beta: Array, gradient: Array) -> float:
        """The objective, from the gradient Kβ − t."""
        return float(0.5 * beta @ (gradient - self.target) + self.width * np.abs(beta).sum())

    def gap(self, beta: Array, gradient: Array, intercept: float) -> float:
        """What the losses cost beyond what the dual variables account for, summed over rows.

        ½βᵀKβ stands in both objectives and cancels, so the duality gap is a sum of terms none of which is negative.
        """
        miss = -gradient - intercept  # t − score
        losses = np.maximum(self.high * (miss - self.width), self.low * (miss + self.width)).clip(min=0.0)
        return float(np.sum(losses - beta * miss + self.width * np.abs(beta)))
