"""The loss of least squares."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Squared(NamedTuple):
    """½·(y − score)²."""

    def value(self, y: Array, score: Array) -> Array:
        return np.asarray(0.5 * (y - score) ** 2)

    def slope(self, y: Array, score: Array) -> Array:
        return np.asarray(score - y)

    def curvature(self, y: Array, score: Array) -> Array:
        return np.ones_like(score)
