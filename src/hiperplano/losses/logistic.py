"""The loss of logistic regression."""

from math import log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiperplano.losses.signs import check_signs

Array = NDArray[Any]

_FURTHEST = 700.0  # exp overflows above about this
_MANY = 1024  # number of rows from which logarithms cost more than calls


class Logistic(NamedTuple):
    """log(1 + exp(−y·score)), y in {−1, +1}.

    It is computed from exp(−|score|), which cannot overflow, is accurate for large scores of either sign, and is fast.
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
        """Value and slope from one exponential, without branches on signs.

        With few columns this takes much of the time of a pass, and each saved operation saves a synchronisation of
        threads.
        """
        odds, beyond = _odds(y, score, _FURTHEST)
        value = np.log1p(odds)
        if beyond is not None:
            value += beyond
        return value, _slope(y, odds)

    def total_and_slope(self, y: Array, score: Array) -> tuple[float, Array]:
        """Sum of all values, and slopes."""
        odds, beyond = _odds(y, score, _furthest(y))
        slope = _slope(y, odds)
        return _total(odds, beyond), slope

    def total_slope_and_curvature(
        self, y: Array, score: Array, weight: Array | None = None
    ) -> tuple[float, Array, Array]:
        """Weighted sum of all values, weighted slopes and curvatures, all from one exponential."""
        odds, beyond = _odds(y, score, _furthest(y))
        below = -1.0 - odds
        slope = odds / below
        curvature = np.divide(slope, below, out=below)
        slope *= y
        if weight is None:
            return _total(odds, beyond), slope, curvature
        slope *= weight
        curvature *= weight
        total = float(weight @ np.log1p(odds, out=odds))
        return total if beyond is None else total + float(weight @ beyond), slope, curvature


def _furthest(y: Array) -> float:
    """Largest score on the wrong side for which `_total` can multiply odds without overflow."""
    return _FURTHEST if len(y) < _MANY else _FURTHEST / 8


def _total(odds: Array, beyond: Array | None) -> float:
    """The sum of all values.

    log(1 + a) + log(1 + b) = log(1 + a + b + a·b), where all terms are positive. So with many rows, one logarithm
    serves eight rows.
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
    """exp(−y·score), with −y·score limited to `furthest`, and the excess over that limit, or None."""
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
