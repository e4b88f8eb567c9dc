"""The loss of the perceptron."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Perceptron(NamedTuple):
    """max(0, −y·score), y in {−1, +1}; at the kink the slope is −y: the perceptron learns from a score of 0."""

    def value(self, y: Array, score: Array) -> Array:
        return np.asarray(np.maximum(0.0, -y * score))

    def slope(self, y: Array, score: Array) -> Array:
        return np.where(y * score <= 0.0, -y, 0.0)

    def curvature(self, y: Array, score: Array) -> Array:
        return np.zeros_like(score)
