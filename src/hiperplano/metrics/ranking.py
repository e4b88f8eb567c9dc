"""Ranking of two classes by scores: KS, Gini, area under the ROC curve, and all cut-offs, from one sort."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.multiclass import type_of_target

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.data.validate import check_weight
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.messages import Message

Distributions = tuple[Array, Array, Array]
"""Distinct scores in increasing order, and the cumulative share of the negative and of the positive class at each."""


class RankingScores(NamedTuple):
    """Measures of how well scores rank two classes.

    Attributes
    ----------
    ks, gini, auc : float
        Kolmogorov-Smirnov distance, 2·AUC − 1, and the area under the ROC curve.
    cutoff : float
        The score at which KS is reached.
    """

    ks: float
    gini: float
    auc: float
    cutoff: float


class SortedScores(NamedTuple):
    """The scores of the negative and of the positive class, each in ascending order."""

    low: Array
    high: Array

    @classmethod
    def of(cls, positive: Array, values: Array) -> SortedScores:
        """Sort each class separately, which is several times faster than sorting all rows.

        Parameters
        ----------
        positive : ndarray of bool of shape (n,)
        values : ndarray of shape (n,)
        """

        def sort(chosen: Array) -> Array:
            return np.sort(values[chosen])

        return cls(*in_threads(sort, (~positive, positive), len(values)))

    def figures(self) -> RankingScores:
        """KS, Gini and AUC; NaN if a class has no rows."""
        low, high = self
        if not len(low) or not len(high):
            return RankingScores(np.nan, np.nan, np.nan, np.nan)
        order = _merging_order(low, high)
        # Number of negatives at or below each positive score.
        up_to = np.flatnonzero(order >= len(low)) - np.arange(len(high))
        if not (low[up_to - 1] == high)[up_to > 0].any():
            return _without_ties(low, high, up_to)
        return _from_distributions(*_unweighted_distributions(low, high, order))

    def confusion(self, cutoffs: Array) -> ConfusionCurve:
        """Confusion matrices at these cut-offs.

        Parameters
        ----------
        cutoffs : ndarray of shape (k,)
        """
        tn, fn = (np.searchsorted(scores, cutoffs, side="right") for scores in self)
        return ConfusionCurve(cutoffs, tn, len(self.low) - tn, fn, len(self.high) - fn)


def ranking_scores(y: Any, score: Any, sample_weight: Any = None) -> RankingScores:
    """KS, Gini and AUC from one sort.

    KS is the largest distance between the cumulative distributions of the scores of the two classes; AUC the
    probability that a row of the second class has the larger score (a tie counts one half); Gini is 2·AUC − 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two classes; the larger label is the positive class.
    score : array-like of shape (n,)
        Scores; larger if the positive class is more likely.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, 0 or more; rows of equal weight by default.

    Returns
    -------
    RankingScores
        `ks`, `gini`, `auc`, and the `cutoff` at which KS is reached.

    Notes
    -----
    If `y` holds one class the scores are NaN, with scikit-learn's `UndefinedMetricWarning`.

    Examples
    --------
    >>> from hiperplano.metrics import ranking_scores
    >>> ranking_scores([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    RankingScores(ks=0.5, gini=0.5, auc=0.75, cutoff=0.1)
    """
    positive, values, weight = checked_ranking(y, score, sample_weight)
    if positive.all() or not positive.any():
        return _undefined()
    if weight is None:
        return SortedScores.of(positive, values).figures()
    return _from_distributions(*_weighted_distributions(positive, values, weight))


def _without_ties(low: Array, high: Array, up_to: Array) -> RankingScores:
    """For scores without ties between the classes: from the number of negatives up to each positive score.

    Between two positive scores, only negatives are counted, so the distance of the distributions is largest just before
    a positive score, or at it.
    """
    share, own = up_to / len(low), np.arange(len(high) + 1) / len(high)
    ahead, behind = share - own[:-1], own[1:] - share
    before, at = int(ahead.argmax()), int(behind.argmax())
    auc = float(up_to.sum()) / len(low) / len(high)
    if ahead[before] >= behind[at]:
        return RankingScores(float(ahead[before]), 2 * auc - 1, auc, float(low[up_to[before] - 1]))
    return RankingScores(float(behind[at]), 2 * auc - 1, auc, float(high[at]))


def _from_distributions(steps: Array, negative: Array, positive: Array) -> RankingScores:
    """From the shares of each class up to each distinct score."""
    if not (negative[-1] > 0 and positive[-1] > 0):
        return _undefined()
    low, high = negative / negative[-1], positive / positive[-1]
    gap = np.abs(low - high)
    at = int(gap.argmax())
    # Trapezoids under the curve (1 − low, 1 − high); a tied score is a straight segment.
    before = np.concatenate([[0.0], high[:-1]])
    auc = 1.0 - float(np.diff(low, prepend=0.0) @ (before + high)) / 2
    return RankingScores(float(gap[at]), 2 * auc - 1, auc, float(steps[at]))


def ks_score(y: Any, score: Any, sample_weight: Any = None) -> float:
    """KS, the largest distance between the cumulative distributions of the two classes' scores.

    Parameters
    ----------
    y, score, sample_weight
        As in `ranking_scores`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from hiperplano.metrics import ks_score
    >>> ks_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    return ranking_scores(y, score, sample_weight).ks


def gini_score(y: Any, score: Any, sample_weight: Any = None) -> float:
    """2·AUC − 1: 1 for a perfect order, 0 for no order, −1 for a perfectly reversed order.

    Parameters
    ----------
    y, score, sample_weight
        As in `ranking_scores`.

    Returns
    -------
    float
        From −1 to 1.

    Examples
    --------
    >>> from hiperplano.metrics import gini_score
    >>> gini_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    return ranking_scores(y, score, sample_weight).gini


@dataclass(frozen=True)
class ConfusionCurve:
    """Confusion matrices at many cut-offs; scores above the cut-off are predicted positive.

    Attributes
    ----------
    cutoffs, tn, fp, fn, tp : ndarray of shape (cutoffs,)
        Cut-offs as given; true negatives, false positives, false negatives and true positives at each.
    """

    cutoffs: Array
    tn: Array
    fp: Array
    fn: Array
    tp: Array

    @property
    def matrices(self) -> Array:
        """Matrices of shape (cutoffs, 2, 2): rows are true classes, columns predictions, as in scikit-learn."""
        return np.stack([self.tn, self.fp, self.fn, self.tp], axis=1).reshape(-1, 2, 2)

    @property
    def accuracy(self) -> Array:
        return np.asarray((self.tn + self.tp) / (self.tn + self.fp + self.fn + self.tp))

    @property
    def tpr(self) -> Array:
        """Share of the positive class predicted positive; NaN without a positive class."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def fpr(self) -> Array:
        """Share of the negative class predicted positive; NaN without a negative class."""
        return _share(self.fp, self.fp + self.tn)

    @property
    def precision(self) -> Array:
        """Share of true positives among predicted positives; NaN if there are none."""
        return _share(self.tp, self.tp + self.fp)


def confusion_at(y: Any, score: Any, cutoffs: Any, sample_weight: Any = None) -> ConfusionCurve:
    """Confusion matrices at given cut-offs, from one sort of the scores.

    Parameters
    ----------
    y : array-like of shape (n,)
        At most two classes; the larger label, or a single one that is 1 or True, is positive.
    score : array-like of shape (n,)
        Scores; larger if the positive class is more likely.
    cutoffs : float or array-like of shape (k,)
        Cut-offs in any order; scores above a cut-off are predicted positive.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, 0 or more; rows of equal weight by default.

    Returns
    -------
    ConfusionCurve
        The cut-offs and one 2 × 2 matrix for each.

    Examples
    --------
    >>> from hiperplano.metrics import confusion_at
    >>> found = confusion_at([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0.3, 0.5])
    >>> found.matrices.tolist()
    [[[1, 1], [0, 2]], [[2, 0], [1, 1]]]
    """
    positive, values, weight = checked_ranking(y, score, sample_weight)
    where = np.atleast_1d(np.asarray(cutoffs, dtype=np.float64))
    if where.ndim != 1 or np.isnan(where).any():
        raise InvalidParameter(
            "confusion_at: cutoffs={cutoffs!r}; cutoffs must be numbers. Pass a list of numbers.", cutoffs=cutoffs
        )
    if weight is None:
        return SortedScores.of(positive, values).confusion(where)
    return weighted_confusion(positive, values, where, weight)


def weighted_confusion(positive: Array, values: Array, cutoffs: Array, weight: Array) -> ConfusionCurve:
    """`confusion_at` for validated rows."""
    steps, negative, own = _weighted_distributions(positive, values, weight)
    below = np.searchsorted(steps, cutoffs, side="right")
    tn, fn = (np.concatenate([[total.dtype.type(0)], total])[below] for total in (negative, own))
    return ConfusionCurve(cutoffs, tn, negative[-1] - tn, fn, own[-1] - fn)


def _share(part: Array, whole: Array) -> Array:
    return np.asarray(np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0))


def _undefined() -> RankingScores:
    warnings.warn(
        Message("y holds one class (among the rows that count): KS, Gini and AUC compare two, and are NaN."),
        UndefinedMetricWarning,
        stacklevel=4,
    )
    return RankingScores(np.nan, np.nan, np.nan, np.nan)


def weighted_ranking(positive: Array, values: Array, weight: Array) -> RankingScores:
    """`ranking_scores` for validated rows; NaN if a class has no rows."""
    if positive.all() or not positive.any():
        return RankingScores(np.nan, np.nan, np.nan, np.nan)
    return _from_distributions(*_weighted_distributions(positive, values, weight))


def _unweighted_distributions(low: Array, high: Array, order: Array) -> Distributions:
    """Number of rows of each class up to and including each distinct score, from the sorted scores of the classes."""
    values = np.concatenate([low, high])[order]
    last = _last_of_equals(values)
    negative = np.cumsum(order < len(low))[last]
    return values[last], negative, last + 1 - negative


def _weighted_distributions(positive: Array, values: Array, weight: Array) -> Distributions:
    """Weight of each class up to and including each distinct score."""
    order = np.argsort(values)
    values, mine, share = values[order], positive[order], weight[order]
    last = _last_of_equals(values)
    return values[last], np.cumsum(np.where(mine, 0.0, share))[last], np.cumsum(np.where(mine, share, 0.0))[last]


def _last_of_equals(values: Array) -> Array:
    return np.flatnonzero(np.append(values[1:] != values[:-1], True))


def _merging_order(low: Array, high: Array) -> Array:
    """Sorting order of two concatenated sorted arrays; a stable sort merges the two runs in one pass."""
    return np.argsort(np.concatenate([low, high]), kind="stable")


def checked_ranking(y: Any, score: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Whether rows are positive, their scores, their weights.

    Parameters
    ----------
    y : array-like of shape (n,)
    score : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None

    Returns
    -------
    positive : ndarray of bool of shape (n,)
    score : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
    """
    labels, values = np.asarray(y), np.asarray(score)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1 or labels.shape != values.shape or not len(values):
        raise InvalidData(
            "y has shape {shape} and score {other}; both must be vectors of the same length, of one row or "
            "more. For probabilities pass the column of the positive class.",
            shape=labels.shape,
            other=values.shape,
        )
    if values.dtype.kind not in "fiub":
        raise InvalidData(
            "score holds {dtype}; scores must be numbers. Pass what decision_function returns.", dtype=values.dtype
        )
    if values.dtype.kind == "f" and np.isnan(values.min()):  # a minimum takes over NaN, and needs no copy
        raise InvalidData("score contains NaN; every row needs a score. Drop those rows.")
    return _is_positive(labels), values, check_weight(sample_weight, len(values))


def _is_positive(labels: Array) -> Array:
    if labels.dtype.kind == "b":
        return labels
    if labels.dtype.kind in "iuf" and not (labels.dtype.kind == "f" and np.isnan(labels).any()):
        low, high = labels.min(), labels.max()
        positive: Array = labels == high
        if low == high:
            return positive if high == 1 else ~positive
        if int(np.count_nonzero(positive)) + int(np.count_nonzero(labels == low)) == len(labels):
            return positive
    classes = np.unique(labels) if type_of_target(labels) in ("binary", "multiclass") else np.array([])
    if len(classes) > 2 or not len(classes):
        raise InvalidTarget(
            "y is {kind} with values like {examples}; ranking compares two classes. Pass y == the positive class.",
            kind=type_of_target(labels),
            examples=labels[:3].tolist(),
        )
    return labels == classes[-1] if len(classes) == 2 else np.zeros(len(labels), dtype=bool)
