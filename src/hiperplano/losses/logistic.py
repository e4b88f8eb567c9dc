"""The loss of logistic regression."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiperplano.losses.signs import check_signs

Array = NDArray[Any]

_FURTHEST = 700.0  # exp of more overflows


class Logistic(NamedTuple):
    """log(1 + exp(−y·score)), y in {−1, +1}.

    Written with exp(−|score|), which cannot overflow, keeps its digits far out on both sides, and is fast.
    """

    def value(self, y: Array, score: Array) -> Array:
        check_signs(y)
        margin = y * score
        return np.asarray(np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0.0))

    def slope(self, y: Array, score: Array) -> Array:
        margin = y * score
        return np.asarray(-y * np.exp(-np.maximum(margin, 0.0)) / (1.0 + np.exp(-np.abs(margin))))

    def curvature(self, y: Array, score: Array) -> Array:
        small = np.exp(-np.abs(score))
        return np.asarray(small / np.square(1.0 + small))

    def value_and_slope(self, y: Array, score: Array) -> tuple[Array, Array]:
        """Both from one exponential, without a look at signs.

        Over few columns this is much of a pass, and each operation less is one at which threads need not wait for
        each other.
        """
        odds = y * score
        np.negative(odds, out=odds)
        beyond: Any = 0.0
        if odds.max(initial=0.0) > _FURTHEST:
            beyond = np.maximum(odds - _FURTHEST, 0.0)
            np.minimum(odds, _FURTHEST, out=odds)
        np.exp(odds, out=odds)
        value = np.log1p(odds)
        value += beyond
        slope = odds / (-1.0 - odds)
        slope *= y
        return value, slope
