"""Weight of evidence and information value of bins, from the weights of the classes in them.

WoE = ln(share of non-events / share of events) and IV = Σ (share of non-events − share of events)·WoE over the bins.
Shares are those of the bin among all non-events and among all events. In a bin without events (or without non-events),
`smoothing` of them are counted, 0.5 by default; the totals do not change. An empty bin has WoE 0 and IV 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from hiperplano.data.design import Array

Totals = tuple[Array, Array]


def weight_of_evidence(nonevents: Array, events: Array, smoothing: float = 0.5, totals: Totals | None = None) -> Array:
    """ln((nᵢ/n)/(pᵢ/p)) of each bin, of the shape of `events`.

    Parameters
    ----------
    nonevents, events : ndarray
        Weights of non-events and events; bins along the first axis.
    smoothing : float, default=0.5
        Replaces a zero count in a bin with rows.
    totals : tuple of two arrays, optional
        Weights of all non-events and events; the sums over the bins by default.

    Returns
    -------
    ndarray
        Positive if events are rarer than overall.
    """
    n, p = _shares(nonevents, events, smoothing, totals)
    return np.asarray(np.where(nonevents + events > 0, np.log(n / p), 0.0))


def information(nonevents: Array, events: Array, smoothing: float = 0.5, totals: Totals | None = None) -> Array:
    """(nᵢ/n − pᵢ/p)·WoEᵢ of each bin: the terms of the information value.

    Parameters
    ----------
    nonevents, events, smoothing, totals
        As in `weight_of_evidence`.

    Returns
    -------
    ndarray
        0 or more.
    """
    n, p = _shares(nonevents, events, smoothing, totals)
    return np.asarray(np.where(nonevents + events > 0, (n - p) * np.log(n / p), 0.0))


def _shares(nonevents: Array, events: Array, smoothing: float, totals: Totals | None) -> tuple[Array, Array]:
    """Shares of the bins among non-events and events, with `smoothing` instead of zeros."""
    all_nonevents, all_events = (nonevents.sum(axis=0), events.sum(axis=0)) if totals is None else totals
    return (
        np.where(nonevents > 0, nonevents, smoothing) / all_nonevents,
        np.where(events > 0, events, smoothing) / all_events,
    )


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
    empty = count <= 0
    n = np.where(empty, 1.0, count)
    rate = events / n
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2) * np.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return np.where(empty, 0.0, np.maximum(middle - half, 0.0)), np.where(empty, 1.0, np.minimum(middle + half, 1.0))
