"""The dual problem of machines with a parameter nu, in a common form for classification and regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import filled


class Levels(NamedTuple):
    """Extreme slopes of one side, which is optimal if `largest` ≤ `least`.

    Attributes
    ----------
    largest : float
        Slope of −objective of the best variable that can grow; −∞ if none can.
    least : float
        Slope of the best variable that can fall; ∞ if none can.
    """

    largest: float
    least: float

    @property
    def violation(self) -> float:
        return self.largest - self.least

    @property
    def middle(self) -> float:
        """The multiplier of the constraint on the side's sum."""
        ends = [end for end in self if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0


@dataclass(frozen=True)
class NuProblem:
    """Minimise ½βᵀKβ − tᵀβ for β = p − m with 0 ≤ p ≤ above, 0 ≤ m ≤ below, and Σp = Σm = total.

    In classification, a row has only the variable of its class; in regression, it has both.

    Attributes
    ----------
    target : ndarray of shape (n,)
        t.
    bounds : ndarray of shape (2, n)
        Bounds of p, and of m.
    total : float
        Sum of the variables of each side; at most the sum of its bounds.
    """

    target: Array
    bounds: Array
    total: float

    @classmethod
    def classification(cls, sign: Array, bound: Array, nu: float) -> Self:
        """t = 0. Rows of each class have a variable on their side; those of each side add up to ν/2 of all bounds."""
        bounds = np.stack([np.where(sign > 0, bound, 0.0), np.where(sign < 0, bound, 0.0)])
        return cls(np.zeros(len(sign)), bounds, 0.5 * nu * float(bound.sum()))

    @classmethod
    def regression(cls, target: Array, bound: Array, nu: float) -> Self:
        """t = y; rows above the tube have a p, and rows below it an m.

        The variables of each side add up to ν/2 of all bounds.
        """
        return cls(target, np.stack([bound, bound]), 0.5 * nu * float(bound.sum()))

    def start(self) -> Array:
        """A feasible point: the first rows of each side at their bounds, or β = 0 in regression."""
        return np.stack([filled(bound, self.total) for bound in self.bounds])

    def start_by_target(self, scores: Callable[[Array, Array], Array]) -> Array:
        """A feasible point of a regression: the largest targets have p, and the smallest have m, at their bounds.

        If the bounds are so large that β = 0 has a lower objective, β = 0 is returned.

        Parameters
        ----------
        scores : callable
            Function from the rows with β ≠ 0 and their values of β to Kβ.
        """
        order = np.argsort(self.target)
        sides = np.stack([filled(self.bounds[0], self.total, order[::-1]), filled(self.bounds[1], self.total, order)])
        beta = sides[0] - sides[1]
        rows = np.flatnonzero(beta)
        return sides if 0.5 * beta @ scores(rows, beta[rows]) <= self.target @ beta else self.start()

    def slopes(self, sides: Array, gradient: Array) -> tuple[Array, Array]:
        """Slopes of −objective where p and m grow, and where they fall; ∓∞ at a bound; each of shape (2, n)."""
        slope = np.stack([-gradient, gradient])
        return np.where(sides < self.bounds, slope, -np.inf), np.where(sides > 0.0, slope, np.inf)

    def levels(self, sides: Array, gradient: Array) -> tuple[Levels, Levels]:
        """Extreme slopes of both sides."""
        up, down = self.slopes(sides, gradient)
        first, second = (Levels(float(up[side].max()), float(down[side].min())) for side in (0, 1))
        return first, second
