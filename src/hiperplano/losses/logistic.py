"""The loss of logistic regression."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Logistic(NamedTuple):
    """log(1 + exp(−y·score)), y in {−1, +1}.

    Written with exp(−|score|), which cannot overflow, keeps its digits far out on both sides, and is fast.
    """

    def value(self, y: Array, score: Array) -> Array:
        margin = y * score
        return np.asarray(np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0.0))

    def slope(self, y: Array, score: Array) -> Array:
        margin = y * score
        return np.asarray(-y * np.exp(-np.maximum(margin, 0.0)) / (1.0 + np.exp(-np.abs(margin))))

    def curvature(self, y: Array, score: Array) -> Array:
        small = np.exp(-np.abs(score))
        return np.asarray(small / np.square(1.0 + small))
