"""Losses that vanish inside a tube, written by their multipliers.

Hinge and ε-insensitive losses, plain and squared, are of one kind. With r = target − score,

    loss = max over low ≤ γ ≤ high of  r·γ − ε·|γ| − ½·give·γ²,

where γ is the multiplier of a row (per unit of its weight), and slope −γ. The hinge has ε = 0, target y and γ·y
between 0 and C; the ε-insensitive loss has γ between −C and C; squares have give = 1/(2C) and no end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from hiperplano.data.design import Array

_FURTHEST = 1e30


@dataclass(frozen=True)
class Tube:
    """The losses of some rows.

    Attributes
    ----------
    target : ndarray of shape (n,)
    low, high : ndarray of shape (n,)
        Ends of the multipliers, low ≤ 0 ≤ high.
    epsilon : float
        Half the width of the tube.
    give : float
        0 for plain losses, 1/(2C) for squared ones.
    weight : ndarray of shape (n,) or None
    """

    target: Array
    low: Array
    high: Array
    epsilon: float
    give: float
    weight: Array | None

    @classmethod
    def hinge(cls, sign: Array, strength: float, squared: bool, weight: Array | None) -> Tube:
        """strength·max(0, 1 − y·score), or its square, with y = ±1 in `sign`."""
        end = np.inf if squared else strength
        give = 0.5 / strength if squared else 0.0
        up = sign > 0
        return cls(sign, np.where(up, 0.0, -end), np.where(up, end, 0.0), 0.0, give, weight)

    @classmethod
    def insensitive(cls, target: Array, epsilon: float, strength: float, squared: bool, weight: Array | None) -> Tube:
        """strength·max(0, |y − score| − ε), or its square."""
        end = np.full(len(target), np.inf if squared else strength)
        return cls(target, -end, end, epsilon, 0.5 / strength if squared else 0.0, weight)

    @property
    def end(self) -> float:
        """The largest multiplier there can be."""
        return float(max(self.high.max(), -self.low.min()))

    @property
    def mean_size(self) -> float:
        """Mean of the targets without their signs, by weight: the unit of scores."""
        return self.total(np.abs(self.target)) / self.total(np.ones(len(self.target)))

    def __getitem__(self, rows: slice | Array) -> Tube:
        weight = None if self.weight is None else self.weight[rows]
        return Tube(self.target[rows], self.low[rows], self.high[rows], self.epsilon, self.give, weight)

    def weighted(self, values: Array) -> Array:
        return values if self.weight is None else values * self.weight

    def total(self, values: Array) -> float:
        """Σ of a number for each row, by weight."""
        return float(values.sum() if self.weight is None else values @ self.weight)

    def outside(self, residual: Array) -> Array:
        """How far residuals lie outside the tube, with their sign."""
        if not self.epsilon:
            return residual
        return np.asarray(residual - np.clip(residual, -self.epsilon, self.epsilon))

    def multiplier(self, residual: Array, centre: Array | float = 0.0, nearness: float = 0.0) -> Array:
        """The γ that maximises r·γ − ε|γ| − ½·give·γ² − ½·nearness·(γ − centre)².

        For a plain loss without the last term: the end on the residual's side.
        """
        pull = self.outside(residual + nearness * centre if nearness else residual)
        if self.give + nearness:
            return np.asarray(np.clip(pull / (self.give + nearness), self.low, self.high))
        return np.where(pull > 0, self.high, np.where(pull < 0, self.low, 0.0))

    def free(self, gamma: Array) -> Array:
        """Which multipliers lie at no end and no kink: they follow the score."""
        free = (gamma > self.low) & (gamma < self.high)
        return free & (gamma != 0) if self.epsilon else free

    def gain(self, residual: Array, gamma: Array) -> Array:
        """r·γ − ε|γ| − ½·give·γ², at most the loss."""
        gain: Array = residual * gamma
        if self.epsilon:
            gain -= self.epsilon * np.abs(gamma)
        if self.give:
            gain -= 0.5 * self.give * np.square(gamma)
        return gain

    def loss(self, residual: Array) -> Array:
        if self.give:
            return self.gain(residual, self.multiplier(residual))
        # Infinite ends do not occur here; this is the maximum of a linear function over each side.
        outside = self.outside(residual)
        return np.asarray(np.maximum(self.high * outside, self.low * outside))

    def middle(self, residual: Array) -> Array:
        """Multipliers half way to the end on the residual's side: where nothing is known yet.

        A tube of no width has one kink, and the middle is between both ends.
        """
        if self.give:
            return self.multiplier(residual)
        if not self.epsilon:
            return np.asarray(0.5 * (self.low + self.high))
        return np.asarray(0.5 * np.where(residual > 0, self.high, self.low))

    def best_level(self, residual: Array) -> float:
        """The number to take from all residuals so that the sum of the losses is least; of several, that next to 0."""
        if self.give:
            return root_of_increasing(
                lambda level: -self.total(self.multiplier(residual - level)), float(np.abs(residual).max()) or 1.0
            )
        # The slope in the level is a staircase: it climbs by weight·high at r − ε and by −weight·low at r + ε.
        kinks = np.concatenate([residual - self.epsilon, residual + self.epsilon])
        climbs = np.concatenate([self.weighted(self.high), self.weighted(-self.low)])
        order = np.argsort(kinks)
        slope = np.cumsum(climbs[order]) - self.total(self.high)
        tiny = 1e-14 * float(climbs.sum())
        left = kinks[order[min(int(np.searchsorted(slope, -tiny)), len(order) - 1)]]
        right = kinks[order[min(int(np.searchsorted(slope, tiny, side="right")), len(order) - 1)]]
        return float(np.clip(0.0, left, right))

    def balanced(self, gamma: Array) -> Array:
        """Multipliers near `gamma` with Σ weight·γ = 0, as an intercept without penalty asks.

        Multipliers that follow the score are shifted together, none past 0 or its end; all are if those are not
        enough.
        """
        # No multiplier need move further than all of them together weigh, so infinite ends are not met.
        furthest = 1.0 + float(np.abs(gamma).max(initial=0.0)) + abs(self.total(gamma))
        low = np.where(gamma > 0, 0.0, np.maximum(self.low, -furthest))
        high = np.where(gamma < 0, 0.0, np.minimum(self.high, furthest))
        free = self.free(gamma) & (gamma != 0)
        least, most = np.where(free, low, gamma), np.where(free, high, gamma)
        if self.total(least) > 0 or self.total(most) < 0:
            least, most = low, high

        def excess(shift: float) -> float:
            return self.total(np.clip(gamma + shift, least, most))

        shift = root_of_increasing(excess, float(np.abs(gamma).max(initial=0.0)) or 1.0)
        return np.clip(gamma + shift, least, most)


def root_of_increasing(function: Callable[[float], float], unit: float) -> float:
    """Where a continuous increasing function of one number passes 0, looked for from 0 in steps of about `unit`."""
    at = function(0.0)
    if at == 0:
        return 0.0
    ahead = 1.0 if at < 0 else -1.0
    near, far = 0.0, 1e-3 * unit
    while function(ahead * far) * ahead < 0:
        near, far = far, 4.0 * far
        if far > _FURTHEST * unit:  # flat but for rounding: nothing to find
            return 0.0
    tight = 4 * float(np.finfo(float).eps)
    return float(brentq(function, ahead * near, ahead * far, xtol=tight * unit, rtol=tight, maxiter=500, disp=False))
