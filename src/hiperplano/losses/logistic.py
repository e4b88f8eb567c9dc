"""The loss of logistic regression."""

from math import log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiperplano.losses.signs import check_signs

Array = NDArray[Any]

_FURTHEST = 700.0  # exp of more overflows
_MANY = 1024  # rows from which on logarithms cost more than calls


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
        odds, beyond = _odds(y, score, _FURTHEST)
        value = np.log1p(odds)
        if beyond is not None:
            value += beyond
        return value, _slope(y, odds)

    def total_and_slope(self, y: Array, score: Array) -> tuple[float, Array]:
        """The sum of all values, and slopes."""
        odds, beyond = _odds(y, score, _furthest(y))
        slope = _slope(y, odds)
        return _total(odds, beyond), slope

    def total_slope_and_curvature(self, y: Array, score: Array) -> tuple[float, Array, Array]:
        """The same and curvatures, all from one exponential."""
        odds, beyond = _odds(y, score, _furthest(y))
        below = -1.0 - odds
        slope = odds / below
        curvature = np.divide(slope, below, out=below)
        slope *= y
        return _total(odds, beyond), slope, curvature


def _furthest(y: Array) -> float:
    """Up to where odds are multiplied as `_total` does."""
    return _FURTHEST if len(y) < _MANY else _FURTHEST / 8


def _total(odds: Array, beyond: Array | None) -> float:
    """The sum of all values.

    log(1 + a) + log(1 + b) = log(1 + a + b + a·b), all of it positive: so one logarithm serves eight rows, if many.
    """
    total = 0.0 if beyond is None else float(beyond.sum())
    if len(odds) >= _MANY:
        for _ in range(3):
            half = len(odds) // 2
            first, second = odds[:half], odds[half : 2 * half]
            if len(odds) > 2 * half:
                total += log1p(odds[-1])
            odds = first * second
            odds += first
            odds += second
    return total + float(np.log1p(odds).sum())


def _odds(y: Array, score: Array, furthest: float) -> tuple[Array, Array | None]:
    """exp(−y·score), with scores up to `furthest` on the wrong side, and by how much they lie beyond it, if any do."""
    odds = y * score
    np.negative(odds, out=odds)
    beyond = None
    if np.maximum.reduce(odds, axis=None, initial=0.0) > furthest:  # `max` takes twice as long to call
        beyond = np.maximum(odds - furthest, 0.0)
        np.minimum(odds, furthest, out=odds)
    return np.exp(odds, out=odds), beyond


def _slope(y: Array, odds: Array) -> Array:
    slope = odds / (-1.0 - odds)
    slope *= y
    return np.asarray(slope)
