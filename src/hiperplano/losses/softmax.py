"""The loss of multinomial logistic regression."""

from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_MANY = 1024  # number of rows from which logarithms cost more than calls


def shares(score: Array) -> Array:
    """Class probabilities of each row, from its scores."""
    p = score - score.max(axis=1, keepdims=True)
    np.exp(p, out=p)
    p *= 1.0 / p.sum(axis=1, keepdims=True)  # one division per row instead of one per class
    return np.asarray(p)


class Softmax(NamedTuple):
    """log Σₖ exp(scoreₖ) − score_y, y the number of the class; scores have shape (n, classes)."""

    def value(self, y: Array, score: Array) -> Array:
        own = np.take_along_axis(score, y[:, None].astype(np.intp), axis=1)[:, 0]
        # SciPy's `logsumexp` handles signs, weights and infinities, and takes four times as long.
        largest = score.max(axis=1)
        return np.asarray(np.log(np.exp(score - largest[:, None]).sum(axis=1)) + (largest - own))

    def slope(self, y: Array, score: Array) -> Array:
        """Slopes, of shape (n, classes)."""
        p = shares(score)
        p[np.arange(len(y)), y.astype(np.intp)] -= 1.0
        return np.asarray(p)

    def value_and_slope(self, y: Array, score: Array) -> tuple[Array, Array]:
        """Value and slope from one exponential per class."""
        own, total, slope = self._parts(y, score)
        return np.asarray(np.log(total) - own), slope

    def total_and_slope(self, y: Array, score: Array) -> tuple[float, Array]:
        """Sum of all values, and slopes.

        Sums of exponentials lie between 1 and k, so one logarithm serves eight rows.
        """
        own, total, slope = self._parts(y, score)
        left = 0.0
        for _ in range(3 if len(total) >= _MANY else 0):
            half = len(total) // 2
            if len(total) > 2 * half:
                left += log(total[-1])
            total = total[:half] * total[half : 2 * half]
        return left + float(np.log(total).sum()) - float(own.sum()), slope

    @staticmethod
    def _parts(y: Array, score: Array) -> tuple[Array, Array, Array]:
        """Scores of the rows' own classes and sums of exponentials, both relative to the largest score of the row.

        Also returns the slopes.
        """
        p: Array = score - score.max(axis=1, keepdims=True)
        n, k = p.shape
        # Indices into the flattened array, in memory order, since NumPy takes four times as long to index pairs.
        flat, code = p.reshape(-1, order="A"), y.astype(np.intp)
        at = np.arange(n) + n * code if p.flags.f_contiguous else k * np.arange(n) + code
        own = flat[at]
        np.exp(p, out=p)
        total = p.sum(axis=1)
        p *= (1.0 / total)[:, None]
        flat[at] -= 1.0
        return own, total, p

    def curvature(self, y: Array, score: Array) -> Array:
        """Curvatures diag(p) − p·pᵀ, of shape (n, classes, classes)."""
        p = shares(score)
        return np.asarray(p[:, :, None] * np.eye(score.shape[1]) - p[:, :, None] * p[:, None, :])
