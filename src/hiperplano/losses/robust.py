"""Robust regression losses: Huber and ε-insensitive."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Huber(NamedTuple):
    """½·r² for |r| ≤ epsilon, otherwise epsilon·(|r| − epsilon/2), with r = y − score."""

    epsilon: float = 0.1

    def value(self, y: Array, score: Array) -> Array:
        miss = np.abs(y - score)
        return np.asarray(np.where(miss <= self.epsilon, 0.5 * miss**2, self.epsilon * (miss - 0.5 * self.epsilon)))

    def slope(self, y: Array, score: Array) -> Array:
        return np.asarray(np.clip(score - y, -self.epsilon, self.epsilon))

    def curvature(self, y: Array, score: Array) -> Array:
        return np.where(np.abs(y - score) <= self.epsilon, 1.0, 0.0)


class EpsilonInsensitive(NamedTuple):
    """max(0, |y − score| − epsilon); at the kinks the slope is 0, one of its subgradients."""

    epsilon: float = 0.1

    def value(self, y: Array, score: Array) -> Array:
        return np.asarray(np.maximum(0.0, np.abs(y - score) - self.epsilon))

    def slope(self, y: Array, score: Array) -> Array:
        return np.where(np.abs(score - y) > self.epsilon, np.sign(score - y), 0.0)

    def curvature(self, y: Array, score: Array) -> Array:
        return np.zeros_like(score)


class SquaredEpsilonInsensitive(NamedTuple):
    """max(0, |y − score| − epsilon)²."""

    epsilon: float = 0.1

    def value(self, y: Array, score: Array) -> Array:
        return np.asarray(np.maximum(0.0, np.abs(y - score) - self.epsilon) ** 2)

    def slope(self, y: Array, score: Array) -> Array:
        return np.asarray(2.0 * np.sign(score - y) * np.maximum(0.0, np.abs(y - score) - self.epsilon))

    def curvature(self, y: Array, score: Array) -> Array:
        return np.where(np.abs(y - score) > self.epsilon, 2.0, 0.0)
