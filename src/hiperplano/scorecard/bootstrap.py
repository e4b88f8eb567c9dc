"""Bootstrap intervals of a scorecard: binning, selection and fit are repeated on resampled rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.messages import Message
from hiperplano.metrics.ranking import RankingScores, ranking_scores
from hiperplano.scorecard.table import Table

_MEASURES = {"ks": "KS", "gini": "Gini", "auc": "AUC"}


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap results of a scorecard.

    Attributes
    ----------
    coefficients : Table
        For each variable, its coefficient, the ends of the percentile interval (a resample without the variable has a
        coefficient of 0), and the share of resamples that selected it.
    points : Table
        For each bin, its points, and the ends of the percentile interval of the mean points that resampled scorecards,
        with their own bins, give to the rows of that bin. Points are relative to the variable's mean, since the base
        points of a variable depend on the other variables.
    performance : Table
        KS, Gini and AUC on the rows of the fit, their optimism (how much better resampled scorecards do on their own
        rows than on all rows), and the difference, which is what to expect on new rows.
    n_resamples : int
        Number of resamples.
    """

    coefficients: Table
    points: Table
    performance: Table
    n_resamples: int

    def __str__(self) -> str:
        return "\n\n".join(str(table) for table in (self.coefficients, self.performance))

    __repr__ = __str__


def bootstrap(
    card: Any, X: Any, event: Array, weight: Array | None, n_resamples: int, level: float, random_state: Any
) -> Bootstrap:
    """Fit clones of a scorecard to resampled rows, given as weights 0, 1, 2, …"""
    check_number("bootstrap", "level", level, 0.0, 1.0, open_low=True)
    rng, n = check_random_state(random_state), len(event)
    y = np.where(event, card.event_, card.nonevent_)
    share = np.ones(n) if weight is None else weight
    variables, codes = card.variable_points(), card.bin_codes(X)
    coefs, points, optimism = [], [], []
    for _ in range(n_resamples):
        drawn = _resample(rng, event, share)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of single resamples
            other = clone(card).set_params(round_points=False).fit(X, y, sample_weight=drawn)
        mine = dict(zip(other.variables_, other.model_.coef_[0].tolist(), strict=True))
        coefs.append([mine.get(each.name, np.nan) for each in variables])
        theirs = _points_by_variable(other, X)
        points.append(
            [_by_bin(theirs.get(each.name), codes[:, j], len(each.labels), share) for j, each in enumerate(variables)]
        )
        score = np.sum(list(theirs.values()), axis=0)
        optimism.append(_difference(_ranked(event, score, drawn), _ranked(event, score, share)))
    tail = (1.0 - level) / 2
    return Bootstrap(
        _coefficients(variables, np.array(coefs), tail),
        _points(variables, points, tail),
        _performance(_ranked(event, card.score_points(X), share), np.mean(optimism, axis=0)),
        n_resamples,
    )


def _resample(rng: Any, event: Array, share: Array) -> Array:
    """Weights of rows drawn with replacement; drawn again if a class is missing."""
    n = len(event)
    while True:
        drawn = rng.multinomial(n, np.full(n, 1.0 / n)) * share
        if drawn[event].any() and drawn[~event].any():
            return np.asarray(drawn)


def _points_by_variable(card: Any, X: Any) -> dict[str, Array]:
    codes = card.bin_codes(X)
    return {each.name: each.points[codes[:, j]] for j, each in enumerate(card.variable_points())}


def _by_bin(points: Array | None, codes: Array, size: int, weight: Array) -> Array:
    """Mean points of the rows of each bin, relative to the mean over all rows.

    It is 0 for a variable that was not selected.
    """
    totals = np.bincount(codes, weights=weight, minlength=size)
    if points is None:
        return np.where(totals > 0, 0.0, np.nan)
    apart = points - np.average(points, weights=weight)
    sums = np.bincount(codes, weights=weight * apart, minlength=size)
    return np.divide(sums, totals, out=np.full(size, np.nan), where=totals > 0)


def _ranked(event: Array, points: Array, weight: Array) -> RankingScores:
    return ranking_scores(event, -points, weight)


def _difference(own: RankingScores, whole: RankingScores) -> list[float]:
    return [getattr(own, name) - getattr(whole, name) for name in _MEASURES]


def _coefficients(variables: Any, coefs: Array, tail: float) -> Table:
    filled = np.nan_to_num(coefs, nan=0.0)
    low, high = np.quantile(filled, [tail, 1.0 - tail], axis=0)
    columns: dict[str, Any] = {
        "variable": [each.name for each in variables],
        "coef": np.array([each.coef for each in variables]),
        "low": low,
        "high": high,
        "chosen": np.mean(~np.isnan(coefs), axis=0),
    }
    return Table(Message("Coefficients over resamples that repeat the binning"), columns, shares=("chosen",))


def _points(variables: Any, points: list[list[Array]], tail: float) -> Table:
    columns: dict[str, Any] = {name: [] for name in ("variable", "bin", "points", "low", "high")}
    for j, each in enumerate(variables):
        found = np.array([resample[j] for resample in points])
        seen = each.count > 0
        low, high = np.full((2, len(each.labels)), np.nan)
        low[seen], high[seen] = np.quantile(found[:, seen], [tail, 1.0 - tail], axis=0)
        columns["variable"] += [each.name] * len(each.labels)
        columns["bin"] += each.labels
        columns["points"] += (each.exact - np.average(each.exact, weights=each.count)).tolist()
        columns["low"] += low.tolist()
        columns["high"] += high.tolist()
    return Table(Message("Points of bins, from the mean of their variable, over resamples"), columns)


def _performance(found: RankingScores, optimism: Array) -> Table:
    apparent = np.array([getattr(found, name) for name in _MEASURES])
    columns: dict[str, Any] = {
        "measure": list(_MEASURES.values()),
        "apparent": apparent,
        "optimism": optimism,
        "corrected": apparent - optimism,
    }
    return Table(Message("How well the score ranks: on the rows of the fit, and what to expect of new ones"), columns)
