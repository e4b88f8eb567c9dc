"""The perceptron loss and the 0-1 loss."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiperplano.losses.signs import check_signs

Array = NDArray[Any]


class ZeroOne(NamedTuple):
    """1 for a mistake, 0 otherwise; y in {−1, +1}. A score of 0 counts as the negative class."""

    def value(self, y: Array, score: Array) -> Array:
        check_signs(y)
        return np.where((score > 0) == (y > 0), 0.0, 1.0)

    def slope(self, y: Array, score: Array) -> Array:
        return np.zeros_like(score)

    def curvature(self, y: Array, score: Array) -> Array:
        return np.zeros_like(score)


class Perceptron(NamedTuple):
    """max(0, −y·score), y in {−1, +1}; at the kink the slope is −y: the perceptron learns from a score of 0."""

    def value(self, y: Array, score: Array) -> Array:
        check_signs(y)
        return np.asarray(np.maximum(0.0, -y * score))

    def slope(self, y: Array, score: Array) -> Array:
        return np.where(y * score <= 0.0, -y, 0.0)

    def curvature(self, y: Array, score: Array) -> Array:
        return np.zeros_like(score)
