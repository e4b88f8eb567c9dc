"""Confidence interval of the area under the ROC curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.errors import InvalidTarget
from hiperplano.metrics.ranking import SortedScores, checked_ranking


class AUCInterval(NamedTuple):
    """The area under the ROC curve with its confidence interval.

    Attributes
    ----------
    auc, se : float
        The area, and DeLong's standard error.
    low, high : float
        Ends of the interval.
    """

    auc: float
    se: float
    low: float
    high: float


def auc_interval(y: Any, score: Any, level: float = 0.95) -> AUCInterval:
    """The area under the ROC curve with DeLong's standard error and interval, from one sort of each class.

    A row's placement is the share of the other class that it is ordered rightly against (a tie counts one half). The
    area is the mean placement, of either class, and its variance is that of both means: S₊/n₊ + S₋/n₋, with S the
    variance of the placements in a class. The interval is auc ± z·se, cut at 0 and 1.

    Where all pairs are ordered alike, placements do not vary and carry no information about other rows. The
    interval then extends to where as many ordered pairs as can be made of distinct rows, min(n₊, n₋), would still be
    seen with probability 1 − level: (1 − level)^(1/min(n₊, n₋)) for an area of 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two classes of two rows or more; the larger label is the positive class.
    score : array-like of shape (n,)
        Scores, larger where the positive class is likelier.
    level : float, default=0.95
        Of confidence.

    Returns
    -------
    AUCInterval
        For Gini, 2·AUC − 1, the ends are 2·low − 1 and 2·high − 1.

    Notes
    -----
    The rows must be drawn independently, and not be those that the model was fitted to.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Comparing the areas under two or more correlated
    receiver operating characteristic curves: a nonparametric approach, Biometrics 44, 837-845.

    Examples
    --------
    >>> from hiperplano.metrics import auc_interval
    >>> found = auc_interval([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    >>> [round(one, 3) for one in found]
    [0.875, 0.144, 0.592, 1.0]
    """
    check_number("auc_interval", "level", level, 0.0, 1.0, open_low=True)
    positive, values, _ = checked_ranking(y, score, None)
    return interval_of(SortedScores.of(positive, values), level)


def interval_of(scores: SortedScores, level: float = 0.95) -> AUCInterval:
    """The same for scores in order."""
    low, high = scores
    fewest = min(len(low), len(high))
    if fewest < 2:
        raise InvalidTarget(
            "auc_interval: y holds {n_low} rows of the negative and {n_high} of the positive class; a variance "
            "needs 2 of each. Judge the model on more rows.",
            n_low=len(low),
            n_high=len(high),
        )
    above, below = _placements(low, high), 1.0 - _placements(high, low)
    auc = float(above.mean())
    if auc in (0.0, 1.0):
        reach = (1.0 - level) ** (1.0 / fewest)
        return AUCInterval(auc, 0.0, *((reach, 1.0) if auc else (0.0, 1.0 - reach)))
    se = float(np.sqrt(_variance_of_mean(above) + _variance_of_mean(below)))
    reach = float(ndtri(0.5 + level / 2)) * se if se else 0.0  # all scores alike
    return AUCInterval(auc, se, max(auc - reach, 0.0), min(auc + reach, 1.0))


def _variance_of_mean(placements: Array) -> float:
    apart = placements - placements.mean()
    return float(apart @ apart) / (len(apart) - 1) / len(apart)


def _placements(others: Array, own: Array) -> Array:
    """For each of `own` the share of `others` that lies below it, ties one half; both in rising order."""
    sides = np.searchsorted(others, own, side="left") + np.searchsorted(others, own, side="right")
    return np.asarray(sides / (2.0 * len(others)))
