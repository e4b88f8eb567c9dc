"""The L2 penalty."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class L2(NamedTuple):
    """½·Σ strength·coef², where strength is λ relative to the mean loss: one number, or one for each coefficient."""

    strength: Any

    def value(self, coef: Array) -> float:
        return 0.5 * float(np.vdot(self.strength * coef, coef))

    def slope(self, coef: Array) -> Array:
        return np.asarray(self.strength * coef)

    def value_and_slope(self, coef: Array) -> tuple[float, Array]:
        """Value and slope."""
        slope = self.slope(coef)
        return 0.5 * float(np.vdot(slope, coef)), slope

    def curvature(self, coef: Array) -> Array:
        return np.asarray(self.strength + np.zeros(coef.shape))
