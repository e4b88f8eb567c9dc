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


def auc_interval(y: Any, score: Any, level: float = 0.95, sample_weight: Any = None) -> AUCInterval:
    """The area under the ROC curve with DeLong's standard error and interval, from one sort of each class.

    A row's placement is the share of the other class relative to which it is ordered correctly (a tie counts one half).
    The area is the mean placement, of either class, and its variance is that of both means: S₊/n₊ + S₋/n₋, with S the
    variance of the placements in a class. The interval is auc ± z·se, cut at 0 and 1.

    If all pairs are ordered alike, placements do not vary, and give no information about other rows. The interval then
    extends to where as many ordered pairs as can be made of distinct rows, min(n₊, n₋), would still be seen with
    probability 1 − level: (1 − level)^(1/min(n₊, n₋)) for an area of 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two classes of two rows or more; the larger label is the positive class.
    score : array-like of shape (n,)
        Scores; larger if the positive class is more likely.
    level : float, default=0.95
        Confidence level.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, 0 or more. Placements and their means are then weighted, and the variance of a mean is
        that of a weighted one, n/(n − 1)·Σw²(v − mean)² / (Σw)²: it depends on how unequal weights are, not on their
        sum.

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
    positive, values, weight = checked_ranking(y, score, sample_weight)
    if weight is None:
        return interval_of(SortedScores.of(positive, values), level)
    kept = weight > 0
    return weighted_interval(positive[kept], values[kept], weight[kept], level)


def interval_of(scores: SortedScores, level: float = 0.95) -> AUCInterval:
    """The same for sorted scores."""
    low, high = scores
    _refuse_few(len(low), len(high))
    return _interval(_placements(low, high), 1.0 - _placements(high, low), level)


def weighted_interval(positive: Array, score: Array, weight: Array, level: float = 0.95) -> AUCInterval:
    """The same for rows with positive weights."""
    rows = [np.flatnonzero(each)[np.argsort(score[each], kind="stable")] for each in (~positive, positive)]
    low, high = (score[each] for each in rows)
    _refuse_few(len(low), len(high))
    share_low, share_high = (weight[each] / weight[each].sum() for each in rows)
    above, below = _placements(low, high, share_low), 1.0 - _placements(high, low, share_high)
    return _interval(above, below, level, share_high, share_low)


def _refuse_few(n_low: int, n_high: int) -> None:
    if min(n_low, n_high) < 2:
        raise InvalidTarget(
            "auc_interval: y holds {n_low} rows of the negative and {n_high} of the positive class; a variance "
            "needs 2 of each. Judge the model on more rows.",
            n_low=n_low,
            n_high=n_high,
        )


def _interval(
    above: Array, below: Array, level: float, share_above: Array | None = None, share_below: Array | None = None
) -> AUCInterval:
    """The interval from the placements of both classes, and the share of each row in its class."""
    auc = float(above.mean() if share_above is None else np.average(above, weights=share_above))
    if auc in (0.0, 1.0):
        reach = (1.0 - level) ** (1.0 / min(len(above), len(below)))
        return AUCInterval(auc, 0.0, *((reach, 1.0) if auc else (0.0, 1.0 - reach)))
    se = float(np.sqrt(_variance_of_mean(above, share_above) + _variance_of_mean(below, share_below)))
    reach = float(ndtri(0.5 + level / 2)) * se if se else 0.0  # all placements are equal
    return AUCInterval(auc, se, max(auc - reach, 0.0), min(auc + reach, 1.0))


def _variance_of_mean(placements: Array, share: Array | None) -> float:
    n = len(placements)
    if share is None:
        apart = placements - placements.mean()
        return float(apart @ apart) / (n - 1) / n
    apart = share * (placements - np.average(placements, weights=share))
    return float(apart @ apart) * n / (n - 1)


def _placements(others: Array, own: Array, share: Array | None = None) -> Array:
    """For each of `own`, the share of `others` below it, with ties counted one half; both are sorted."""
    sides = (np.searchsorted(others, own, side=side) for side in ("left", "right"))
    if share is None:
        return np.asarray(sum(sides) / (2.0 * len(others)))
    up_to = np.append(0.0, np.cumsum(share))
    return np.asarray(0.5 * sum(up_to[each] for each in sides) / up_to[-1])
