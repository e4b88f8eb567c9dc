"""The loss of logistic regression."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[Any]


class Logistic(NamedTuple):
    """log(1 + exp(−y·score)), y in {−1, +1}."""

    def value(self, y: Array, score: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * score))

    def slope(self, y: Array, score: Array) -> Array:
        return np.asarray(-y * expit(-y * score))

    def curvature(self, y: Array, score: Array) -> Array:
        return np.asarray(expit(score) * expit(-score))
