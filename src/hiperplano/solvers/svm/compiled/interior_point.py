"""A primal-dual interior point method, where about as many rows as columns are free, or classes are nearly separated.

Newton's method then changes the side of a few rows in a step, and takes hundreds of steps. Here each dual variable is
kept off its bounds by a barrier, which is lowered (Mehrotra's predictor and corrector). That takes ten to thirty steps,
each of which solves with all rows.

Coefficients are variables of their own, which meet Σβ·x at the end only. So they can start from 0, however long the
rows are, and scores keep their digits where columns differ much in scale: those of Σβ·x would be lost to rounding.
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
    """Parts of the dual variables between their bounds, and the bounds' multipliers, of shape (parts, n) each.

    A dual variable is one part; where there is a tube, it is the difference of two, one for each side.
    """

    part: Array
    at_low: Array
    at_high: Array

    def moved(self, step: Barriers, share: float) -> Barriers:
        """A share of a step further."""
        return Barriers(*(old + share * change for old, change in zip(self, step, strict=True)))


class Inside(NamedTuple):
    """Dual variables, coefficients and level where the method has ended, and its passes over the rows."""

    beta: Array
    coef: Array
    level: float
    passes: int


class InteriorPoint:
    """Maximises Σ(target·β − ε|β| − ½·soft·β²) − ½‖Σβ·x‖² over low ≤ β ≤ high, with Σβ = 0 where there is a level.

    Parameters
    ----------
    x : array or CSR matrix of float64, of shape (n, d)
    box : Box
    fit_intercept : bool
    equations : NormalEquations or ConjugateEquations
        Of the rows.
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
        """Of the dual variables; those of squared losses are bounded by the sum of all losses where scores are 0."""
        box = self._box
        if not box.soft[0]:
            return box.low, box.high
        outside = np.maximum(np.abs(box.target) - box.epsilon, 0.0)
        furthest = np.sqrt(float(np.sum(outside**2 / box.soft)) / box.soft)
        return np.maximum(box.low, -furthest), np.minimum(box.high, furthest)

    def solve(self, tol: float, floor: float, most: int) -> Inside:
        """Dual variables, coefficients and level with a gap of about tol·objective, or the least one found.

        Below `floor` rounding may end all progress: the first step that brings little is the last.
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
            except (LinAlgError, RuntimeError):  # rounding: what is left is for others
                break
            now, coef, level = now.moved(step, share), coef + share * turn, level + share * rise
            np.clip(now.part, self._low, self._high, out=now.part)
        return best._replace(passes=int(passes))

    def _losses(self, residual: Array) -> float:
        """Σ of the losses, for each side of the tube."""
        soft = self._box.soft
        if not soft[0]:
            return float(np.maximum(self._low * residual, self._high * residual).sum())
        pull = np.clip(residual / soft, self._low, self._high)
        return float(np.vdot(residual - 0.5 * soft * pull, pull))

    def _start(self) -> Barriers:
        """The middle of the bounds, with multipliers that fit the residuals of coefficients that are 0.

        Those of squared losses are far: parts that fit the residuals are nearer, and all have the same product.
        """
        middle, soft = 0.5 * (self._low + self._high), self._box.soft
        residual = self._sign * self._box.target - self._box.epsilon
        size = float(np.abs(residual).mean())
        if not soft[0]:
            if isinstance(self._equations, ConjugateEquations):
                # Multipliers half way to the scores of the middle: that costs steps, but the first are easy and long.
                scores = self._x @ ((self._sign * middle).sum(axis=0) @ self._x)
                size = np.sqrt(size * max(size, float(np.abs(scores).mean())))
            return Barriers(middle, np.maximum(-residual, 0.0) + size, np.maximum(residual, 0.0) + size)
        part = np.sign(middle) * size / soft
        return Barriers(part, size**2 / soft / (part - self._low), size**2 / soft / (self._high - part))

    def _at(self, part: Array, coef: Array, level: float) -> tuple[Array, Array, Array]:
        """Dual variables, coef − Σβ·x, and by how much scores miss their targets on the side of each part."""
        beta = (self._sign * part).sum(axis=0)
        residual = self._sign * (self._box.target - self._x @ coef - level) - self._box.epsilon
        return beta, coef - beta @ self._x, residual

    def _step(
        self, now: Barriers, mismatch: Array, residual: Array, excess: float, gap: float
    ) -> tuple[Barriers, Array, float, float]:
        """Mehrotra's step, what it adds to coefficients and level, and the share of it that stays inside."""
        closest = _CLOSEST * (self._high - self._low)
        below, above = np.maximum(now.part - self._low, closest), np.maximum(self._high - now.part, closest)
        stiffness = self._box.soft + now.at_low / below + now.at_high / above
        if not (stiffness > 0).all():
            raise LinAlgError("rounding has led out of the bounds")
        free, softest = (1.0 / stiffness).sum(axis=0), stiffness.argmin(axis=0)[None]
        solve = self._equations.solver(free, self._fit_intercept, gap)

        def towards(at_low: Array | float, at_high: Array | float, rough: bool) -> tuple[Barriers, Array, float]:
            """Newton's step to where the products of parts and multipliers are these."""
            pull = residual - self._box.soft * now.part + at_low / below - at_high / above
            given = (self._sign * pull / stiffness).sum(axis=0)
            change, turn, rise = solve(given / free, -mismatch, excess, rough)
            part = (self._sign * ((change - given) / free) + pull) / stiffness
            # Those are differences of large numbers: the part that moves most is what the others leave of the change.
            np.put_along_axis(part, softest, 0.0, axis=0)
            rest = change - (self._sign * part).sum(axis=0)
            np.put_along_axis(part, softest, self._sign[softest, 0] * rest, axis=0)
            lower = (at_low - now.at_low * part) / below - now.at_low
            upper = (at_high + now.at_high * part) / above - now.at_high
            return Barriers(part, lower, upper), turn, rise

        def longest(step: Barriers) -> float:
            """The share of a step that leads to the first bound."""
            rates = -step.part / below, step.part / above, -step.at_low / now.at_low, -step.at_high / now.at_high
            return 1.0 / max(1.0, *(float(rate.max()) for rate in rates))

        product = float(np.vdot(now.at_low, below) + np.vdot(now.at_high, above))
        first, _, _ = towards(0.0, 0.0, True)
        ahead = now.moved(first, longest(first))
        left = float(np.vdot(ahead.at_low, ahead.part - self._low) + np.vdot(ahead.at_high, self._high - ahead.part))
        aim = (left / product) ** 3 * product / (2 * below.size)
        step, turn, rise = towards(aim - first.at_low * first.part, aim + first.at_high * first.part, False)
        return step, turn, rise, min(1.0, _INSIDE * longest(step))
