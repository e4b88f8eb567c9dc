"""The squared length of the coefficients."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class L2(NamedTuple):
    """½·strength·‖coef‖², strength being λ on the mean loss."""

    strength: float

    def value(self, coef: Array) -> float:
        return 0.5 * self.strength * float(np.sum(np.square(coef)))

    def slope(self, coef: Array) -> Array:
        return np.asarray(self.strength * coef)

    def curvature(self, coef: Array) -> Array:
        return np.full_like(coef, self.strength)
