"""The best bins: an exact search over all ways to join neighbouring pre-bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array
from hiperplano.features.binning.search.candidates import Candidates, Chain, Limits
from hiperplano.messages import Message

CRITERIA = ("iv", "ks", "gini", "log_loss")
TRENDS = ("ascending", "descending", "peak", "valley")
_WORTH = 1.1


@dataclass(frozen=True)
class Partition:
    """Bins as joined pre-bins.

    Attributes
    ----------
    ends : tuple of int
        The pre-bin after the last one of each bin; the last is the number of pre-bins.
    trend : str or None
        Trend that the bins follow.
    gain : float
        The criterion: information value, KS, or the decrease of impurity compared with one bin.
    status : Message
        How the search ended.
    """

    ends: tuple[int, ...]
    trend: str | None
    gain: float
    status: Message


def search(sums: Array, totals: Array, criterion: str, limits: Limits, n_classes: int, smoothing: float) -> Partition:
    """The partition of pre-bins with the best criterion, among all that satisfy the limits.

    Parameters
    ----------
    sums : ndarray of shape (B, m)
        Sums of each pre-bin, in order: weights of the classes, or Σw, Σw·y, Σw·y².
    totals : ndarray of shape (m,)
        Sums over all rows, including those with special or missing values.
    criterion : str
        One of `CRITERIA` for classes; "squared_error" for numbers.
    n_classes : int
        0 for a numeric target.

    Returns
    -------
    Partition
    """
    candidates = Candidates.of(sums, totals, criterion, limits, n_classes, smoothing)
    trend = None if n_classes > 2 else limits.trend
    if trend == "auto":
        trend, chain = _choose_trend(candidates)
    else:
        chain = max(_solve(candidates, trend), key=_gain)
    if len(chain.ends) > 1:
        status = Message("The best of all partitions of {n} pre-bins: {k} bins.", n=len(sums), k=len(chain.ends))
        return Partition(chain.ends, trend, chain.gain, status)
    if len(chain.ends) == 1:
        return Partition(chain.ends, None, 0.0, Message("No two bins satisfy the limits; all values are in one bin."))
    return Partition((len(sums),), None, 0.0, Message("No bin satisfies the limits; all values are in one."))


def _choose_trend(candidates: Candidates) -> tuple[str, Chain]:
    """The better monotone trend, or one with a turn if that is worth it.

    A peak or a valley must gain a tenth more, and more likelihood than the BIC penalty of its additional bins, since
    noise has turns, too.
    """
    (up, peak), (down, valley) = _solve(candidates, "peak"), _solve(candidates, "valley")
    straight = max(("ascending", up), ("descending", down), key=lambda each: each[1].gain)
    turning = max(("peak", peak), ("valley", valley), key=lambda each: each[1].gain)
    if not straight[1].ends or not turning[1].ends:
        return turning if turning[1].ends else straight
    added = max(len(turning[1].ends) - len(straight[1].ends), 0) + 1
    gained = candidates.log_likelihood(turning[1].ends) - candidates.log_likelihood(straight[1].ends)
    price = added * np.log(candidates.weight[0, -1])
    return turning if turning[1].gain > _WORTH * straight[1].gain and 2 * gained > price else straight


def _solve(candidates: Candidates, trend: str | None) -> list[Chain]:
    """The best bins that follow a trend, before its turn and, if it has one, after it.

    KS is the largest distance over all cuts. One cut determines it, and the others are chosen by information value.
    """
    plain = candidates.best(trend)
    if not candidates.is_ks:
        return [Chain(chain.gain - candidates.base, chain.ends) for chain in plain]
    found: list[Chain | None] = [None] * len(plain)
    for cut in (np.argsort(-candidates.distances, kind="stable") + 1).tolist():
        for phase, chain in enumerate(candidates.best(trend, cut)):
            if found[phase] is None and chain.ends:
                found[phase] = Chain(float(candidates.distances[cut - 1]), chain.ends)
        if None not in found:
            break
    return [
        chain or Chain(0.0 if alone.ends else -np.inf, alone.ends) for chain, alone in zip(found, plain, strict=True)
    ]


def _gain(chain: Chain) -> float:
    return chain.gain
