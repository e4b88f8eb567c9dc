"""A primal-dual interior point method, for nearly separated classes or about as many free rows as columns.

In these cases few rows change sides in a step of Newton's method, and it takes hundreds of steps. The interior point
method keeps dual variables away from their bounds by a barrier that is lowered step by step (Mehrotra's
predictor-corrector method). It takes ten to thirty steps, each of which solves equations with all rows.

Coefficients are separate variables, which are equal to Σβ·x only at the end. So they can start from 0, however long the
rows are. Scores also keep more digits than those of Σβ·x if columns differ much in scale.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from hiperplano.data.design import Array
from hiperplano.solvers.svm.compiled.conjugate_equations import ConjugateEquations
from hiperplano.solvers.svm.compiled.normal_equations import NormalEquations
from hiperplano.solvers.svm.compiled.problem import Box

_PATIENCE = 10  # give up after so many steps in which the gap has not halved
_INSIDE = 0.995  # a step goes at most this share of the way to the nearest bound
_CLOSEST = 1e-16  # dual variables keep this distance from a bound, as a share of the distance between both


class Barriers(NamedTuple):
    """Parts of the dual variables, and the multipliers of their bounds, of shape (parts, n) each.

    Each dual variable has one part. With a tube it is the difference of two parts, one for each side.
    """

    part: Array
    at_low: Array
    at_high: Array

    def moved(self, step: Barriers, share: float) -> Barriers:
        """The point after a share of a step."""
        return Barriers(*(old + share * change for old, change in zip(self, step, strict=True)))


class Inside(NamedTuple):
    """Dual variables, coefficients and level at the end of the method, and its number of passes."""

    beta: Array
    coef: Array
    level: float
    passes: int


class InteriorPoint:
    """Maximises Σ(target·β − ε|β| − ½·soft·β²) − ½‖Σβ·x‖² over low ≤ β ≤ high, with Σβ = 0 if there is an intercept.

    Parameters
    ----------
    x : array or CSR matrix of float64, of shape (n, d)
    box : Box
    fit_intercept : bool
    equations : NormalEquations or ConjugateEquations
        Solver for the equations of a step.
    """

    def __init__(self, x: Any, box: Box, fit_intercept: bool, equations: NormalEquations | ConjugateEquations) -> None:
        self._x, self._box, self._fit_intercept = x, box, fit_intercept
        two = box.epsilon > 0
        self._sign = np.array([[1.0], [-1.0]]) if two else np.ones((1, 1))
        low, high = self._bounds()
        self._low = np.zeros((2, x.shape[0])) if two else low[None]
        self._high = np.stack([high, -low]) if two else high[None]
        self._equations = equations

    def _bounds(self) -> tuple[Array, Array]:
        """Bounds of the dual variables; for squared losses they follow from the sum of losses at scores of 0."""
        box = self._box
        if not box.soft[0]:
            return box.low, box.high
        outside = np.maximum(np.abs(box.target) - box.epsilon, 0.0)
        furthest = np.sqrt(float(np.sum(outside**2 / box.soft)) / box.soft)
        return np.maximum(box.low, -furthest), np.minimum(box.high, furthest)

    def solve(self, tol: float, floor: float, most: int) -> Inside:
        """Solve up to a gap of about tol·objective, or return the point with the smallest gap found.

        Below `floor`, rounding may stop all progress, so that the first step that does not halve the gap is the last.
        """
        now, coef, level = self._start(), np.zeros(self._x.shape[1]), 0.0
        gaps: list[float] = []
        while True:
            beta, mismatch, residual = self._at(now.part, coef, level)
            losses, excess = self._losses(residual), float(beta.sum())
            gains = float(np.vdot(residual - 0.5 * self._box.soft * now.part, now.part))
            gap = losses - gains + abs(level * excess) + 0.5 * float(mismatch @ mismatch)
            if not gaps or gap < min(gaps):
                best = Inside(beta, coef, level, 0)
            gaps.append(gap)
            passes = len(gaps) + self._equations.passes
            patience = _PATIENCE if gap > floor else 1
            stuck = len(gaps) > patience and not gap < 0.5 * gaps[-1 - patience]
            if gap <= tol * (0.5 * float(coef @ coef) + losses) or stuck or passes > most:
                break
            try:
                step, turn, rise, share = self._step(now, mismatch, residual, excess, gap)
            except (LinAlgError, RuntimeError):  # rounding errors: another method may continue
                break
            now, coef, level = now.moved(step, share), coef + share * turn, level + share * rise
            np.clip(now.part, self._low, self._high, out=now.part)
        return best._replace(passes=int(passes))

    def _losses(self, residual: Array) -> float:
        """Sum of the losses over rows and both sides of the tube."""
        soft = self._box.soft
        if not soft[0]:
            return float(np.maximum(self._low * residual, self._high * residual).sum())
        pull = np.clip(residual / soft, self._low, self._high)
        return float(np.vdot(residual - 0.5 * soft * pull, pull))

    def _start(self) -> Barriers:
        """The middle of the bounds, with multipliers that fit the residuals at coefficients of 0.

        For squared losses the bounds are far away. Their parts start from the residuals, and the products of distances
        to bounds and multipliers are all equal.
        """
        middle, soft = 0.5 * (self._low + self._high), self._box.soft
        residual = self._sign * self._box.target - self._box.epsilon
        size = float(np.abs(residual).mean())
        if not soft[0]:
            if isinstance(self._equations, ConjugateEquations):
                # Larger multipliers, between the residuals and the scores of the middle, cost some steps. But the
                # equations of the first steps become easy for conjugate gradients.
                scores = self._x @ ((self._sign * middle).sum(axis=0) @ self._x)
                size = np.sqrt(size * max(size, float(np.abs(scores).mean())))
            return Barriers(middle, np.maximum(-residual, 0.0) + size, np.maximum(residual, 0.0) + size)
        part = np.sign(middle) * size / soft
        return Barriers(part, size**2 / soft / (part - self._low), size**2 / soft / (self._high - part))

    def _at(self, part: Array, coef: Array, level: float) -> tuple[Array, Array, Array]:
        """Dual variables, coef − Σβ·x, and residuals on the side of each part."""
        beta = (self._sign * part).sum(axis=0)
        residual = self._sign * (self._box.target - self._x @ coef - level) - self._box.epsilon
        return beta, coef - beta @ self._x, residual

    def _step(
        self, now: Barriers, mismatch: Array, residual: Array, excess: float, gap: float
    ) -> tuple[Barriers, Array, float, float]:
        """Mehrotra's step, the changes of coefficients and level, and the share of the step that stays inside."""
        closest = _CLOSEST * (self._high - self._low)
        below, above = np.maximum(now.part - self._low, closest), np.maximum(self._high - now.part, closest)
        stiffness = self._box.soft + now.at_low / below + now.at_high / above
        if not (stiffness > 0).all():
            raise LinAlgError("rounding has led out of the bounds")
        free, softest = (1.0 / stiffness).sum(axis=0), stiffness.argmin(axis=0)[None]
        solve = self._equations.solver(free, self._fit_intercept, gap)

        def towards(at_low: Array | float, at_high: Array | float, rough: bool) -> tuple[Barriers, Array, float]:
            """Newton step towards given products of distances to bounds and multipliers."""
            pull = residual - self._box.soft * now.part + at_low / below - at_high / above
            given = (self._sign * pull / stiffness).sum(axis=0)
            change, turn, rise = solve(given / free, -mismatch, excess, rough)
            part = (self._sign * ((change - given) / free) + pull) / stiffness
            # These are differences of large numbers. So the softest part, which moves most, is computed as the change
            # minus the other parts.
            np.put_along_axis(part, softest, 0.0, axis=0)
            rest = change - (self._sign * part).sum(axis=0)
            np.put_along_axis(part, softest, self._sign[softest, 0] * rest, axis=0)
            lower = (at_low - now.at_low * part) / below - now.at_low
            upper = (at_high + now.at_high * part) / above - now.at_high
            return Barriers(part, lower, upper), turn, rise

        def longest(step: Barriers) -> float:
            """Largest share of a step, at most 1, that violates no bound."""
            rates = -step.part / below, step.part / above, -step.at_low / now.at_low, -step.at_high / now.at_high
            return 1.0 / max(1.0, *(float(rate.max()) for rate in rates))

        product = float(np.vdot(now.at_low, below) + np.vdot(now.at_high, above))
        first, _, _ = towards(0.0, 0.0, True)
        ahead = now.moved(first, longest(first))
        left = float(np.vdot(ahead.at_low, ahead.part - self._low) + np.vdot(ahead.at_high, self._high - ahead.part))
        aim = (left / product) ** 3 * product / (2 * below.size)
        step, turn, rise = towards(aim - first.at_low * first.part, aim + first.at_high * first.part, False)
        return step, turn, rise, min(1.0, _INSIDE * longest(step))
