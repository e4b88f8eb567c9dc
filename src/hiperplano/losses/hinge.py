"""The losses of support vector machines."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiperplano.losses.signs import check_signs

Array = NDArray[Any]


class Hinge(NamedTuple):
    """max(0, 1 − y·score), y in {−1, +1}; at the kink the slope is 0, one of its subgradients."""

    def value(self, y: Array, score: Array) -> Array:
        check_signs(y)
        return np.maximum(0.0, 1.0 - y * score)

    def slope(self, y: Array, score: Array) -> Array:
        return np.where(y * score < 1.0, -y, 0.0)

    def curvature(self, y: Array, score: Array) -> Array:
        return np.zeros_like(score)


class ModifiedHuber(NamedTuple):
    """max(0, 1 − y·score)² for y·score ≥ −1, otherwise −4·y·score, y in {−1, +1}: the squared hinge, robust."""

    def value(self, y: Array, score: Array) -> Array:
        margin = y * score
        return np.where(margin >= -1.0, np.maximum(0.0, 1.0 - margin) ** 2, -4.0 * margin)

    def slope(self, y: Array, score: Array) -> Array:
        return np.asarray(-2.0 * y * np.clip(1.0 - y * score, 0.0, 2.0))

    def curvature(self, y: Array, score: Array) -> Array:
        return np.where(np.abs(y * score) < 1.0, 2.0, 0.0)


class SquaredHinge(NamedTuple):
    """max(0, 1 − y·score)², y in {−1, +1}."""

    def value(self, y: Array, score: Array) -> Array:
        check_signs(y)
        return np.maximum(0.0, 1.0 - y * score) ** 2

    def slope(self, y: Array, score: Array) -> Array:
        return np.asarray(-2.0 * y * np.maximum(0.0, 1.0 - y * score))

    def curvature(self, y: Array, score: Array) -> Array:
        return np.where(y * score < 1.0, 2.0, 0.0)
