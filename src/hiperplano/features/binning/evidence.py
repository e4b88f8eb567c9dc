"""Weight of evidence and information value of bins, from the weights of the classes in them.

WoE = ln(share of non-events / share of events) and IV = Σ (share of non-events − share of events)·WoE over the bins, the
shares being those of the bin among all non-events and all events. One rule for zeros: in a bin without events (or without
non-events) `smoothing` of them are counted, 0.5 unless said otherwise; the totals stay. An empty bin has WoE 0 and IV 0:
nothing is known of it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from hiperplano.data.design import Array


def weight_of_evidence(nonevents: Array, events: Array, smoothing: float = 0.5) -> Array:
    """ln((nᵢ/n)/(pᵢ/p)) of each bin, of the shape of `events`.

    Parameters
    ----------
    nonevents, events : ndarray
        Their weights; bins along the first axis, and the totals are the sums along it.
    smoothing : float, default=0.5
        What a zero counts in a bin with rows.

    Returns
    -------
    ndarray
        Positive where events are rarer than overall.
    """
    totals = np.log(nonevents.sum(axis=0)) - np.log(events.sum(axis=0))
    n, p = _without_zeros(nonevents, events, smoothing)
    return np.asarray(np.where(nonevents + events > 0, np.log(n) - np.log(p) - totals, 0.0))


def information(nonevents: Array, events: Array, smoothing: float = 0.5) -> Array:
    """(nᵢ/n − pᵢ/p)·WoEᵢ of each bin: the terms of the information value.

    Parameters
    ----------
    nonevents, events, smoothing
        As in `weight_of_evidence`.

    Returns
    -------
    ndarray
        None is negative, unless `smoothing` is larger than the rows of a bin.
    """
    n, p = _without_zeros(nonevents, events, smoothing)
    difference = n / nonevents.sum(axis=0) - p / events.sum(axis=0)
    terms = difference * weight_of_evidence(nonevents, events, smoothing)
    return np.asarray(np.where(nonevents + events > 0, terms, 0.0))


def _without_zeros(nonevents: Array, events: Array, smoothing: float) -> tuple[Array, Array]:
    """The counts with `smoothing` in the place of zeros."""
    return np.where(nonevents > 0, nonevents, smoothing), np.where(events > 0, events, smoothing)


def rate_interval(events: Array, count: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Wilson's interval for the event rate of each bin; from 0 to 1 for an empty one.

    Parameters
    ----------
    events, count : ndarray of shape (bins,)
    level : float, default=0.95

    Returns
    -------
    low, high : ndarray of shape (bins,)
    """
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    n = np.maximum(count, np.finfo(float).tiny)
    rate = events / n
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2) * np.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    empty = count <= 0
    return np.where(empty, 0.0, np.maximum(middle - half, 0.0)), np.where(empty, 1.0, np.minimum(middle + half, 1.0))
