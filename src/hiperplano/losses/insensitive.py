"""The losses of support vector regression."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class EpsilonInsensitive(NamedTuple):
    """max(0, |y − score| − ε); at its kinks the slope is 0, one of its subgradients."""

    epsilon: float = 0.0

    def value(self, y: Array, score: Array) -> Array:
        return np.asarray(np.maximum(0.0, np.abs(y - score) - self.epsilon))

    def slope(self, y: Array, score: Array) -> Array:
        return np.where(np.abs(y - score) > self.epsilon, np.sign(score - y), 0.0)

    def curvature(self, y: Array, score: Array) -> Array:
        return np.zeros_like(score)


class SquaredEpsilonInsensitive(NamedTuple):
    """max(0, |y − score| − ε)²."""

    epsilon: float = 0.0

    def value(self, y: Array, score: Array) -> Array:
        return np.asarray(np.maximum(0.0, np.abs(y - score) - self.epsilon) ** 2)

    def slope(self, y: Array, score: Array) -> Array:
        return np.asarray(2.0 * np.sign(score - y) * np.maximum(0.0, np.abs(y - score) - self.epsilon))

    def curvature(self, y: Array, score: Array) -> Array:
        return np.where(np.abs(y - score) > self.epsilon, 2.0, 0.0)
