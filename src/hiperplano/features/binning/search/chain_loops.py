"""Compiled loop of the search: dynamic programming over the last bin."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_chain(gain, allowed, rates, sums, spread, first, then, min_difference, critical, max_bins):  # type: ignore[no-untyped-def]
    """The chain of bins [0, a), [a, b), …, [z, B) with the largest total gain whose neighbours are compatible.

    Which bins may follow a bin depends on that bin alone. So the best chain of m bins that ends with [i, j) consists of
    the best one of m − 1 bins that ends with some [h, i), and [i, j). A trend allows [i, j) to follow those [h, i)
    whose rate is not above (or not below) its own: the first ones in the order of their rates. Their best chain is
    known for all j at once, so each m takes B² steps. All of them are examined only if that best one does not differ
    enough from [i, j).

    Parameters
    ----------
    gain, rates : ndarray of shape (B + 1, B + 1)
        Term of the criterion, and event rate or mean, of the bin [i, j).
    allowed : ndarray of bool of shape (B + 1, B + 1)
        Whether a bin is large enough.
    sums : ndarray of shape (B + 1, k)
        Weights of the classes before each pre-bin; of a number Σw.
    spread : ndarray of shape (B + 1, B + 1) or (0, 0)
        Variance of the mean of a bin, for a target of numbers; empty for classes.
    first, then : int
        Allowed change of rates between bins, before and after a turn: 1 up, −1 down, 0 any. They are equal without a
        turn.
    min_difference : float
        Least difference of the rates of neighbours; with several classes, of at least one of them.
    critical : float
        Critical value of the test statistic of two neighbours; 0 for no test.
    max_bins : int

    Returns
    -------
    values : ndarray of shape (phases, max_bins + 1)
        The largest gain for each number of bins, before the turn and, if there is one, after it; −inf if there is no
        such chain.
    ends : ndarray of int of shape (phases, max_bins + 1, max_bins)
        The ends of the bins of that chain.
    """
    size = gain.shape[0] - 1
    phases = 1 if first == then else 2
    best = np.full((max_bins + 1, size + 1, phases * size), -np.inf)  # [m, j, phase·B + i]: of m bins, the last [i, j)
    before = np.full((max_bins + 1, size + 1, phases * size), -1, dtype=np.int32)
    for j in range(1, size + 1):
        if allowed[0, j]:
            best[1, j, 0] = gain[0, j]
    tested = min_difference > 0 or critical > 0
    value, link = np.empty(size), np.empty(size, dtype=np.int32)
    for i in range(1, size):
        order = np.argsort(rates[:i, i])
        rising = rates[:i, i][order]
        for phase in range(phases):
            way = first if phase == 0 else then
            ranked = order if way >= 0 else order[::-1]
            follows = _how_many(rising, rates[i], way)
            for m in range(2, min(i + 1, max_bins) + 1):
                _running_best(best[m - 1, i], ranked, phase, size, value, link)
                if value[i - 1] == -np.inf:
                    continue
                for j in range(i + 1, size + 1):
                    n = follows[j]
                    if n == 0 or not allowed[i, j] or value[n - 1] == -np.inf:
                        continue
                    chosen, most = link[n - 1], value[n - 1]
                    if tested and not _distinct(sums, rates, spread, chosen % size, i, j, min_difference, critical):
                        most = -np.inf
                        for h in ranked[:n]:
                            for turned in range(phase + 1):
                                found = best[m - 1, i, turned * size + h]
                                if found > most and _distinct(sums, rates, spread, h, i, j, min_difference, critical):
                                    chosen, most = turned * size + h, found
                        if most == -np.inf:
                            continue
                    best[m, j, phase * size + i] = most + gain[i, j]
                    before[m, j, phase * size + i] = chosen
    return _trace(best, before, max_bins, phases, size)


@njit(cache=True, nogil=True)
def _how_many(rising, rates, way):  # type: ignore[no-untyped-def]
    """How many of the ranked bins before a position each bin after it, with these rates, may follow."""
    if way > 0:
        return np.searchsorted(rising, rates, side="right")
    if way < 0:
        return len(rising) - np.searchsorted(rising, rates, side="left")
    return np.full(len(rates), len(rising))


@njit(cache=True, nogil=True)
def _running_best(chains, ranked, phase, size, value, link):  # type: ignore[no-untyped-def]
    """For each number of first ranked bins, the largest value of a chain that ends in one of them."""
    most, which = -np.inf, np.int64(-1)
    for place in range(len(ranked)):
        for turned in range(phase + 1):
            end = turned * size + ranked[place]
            if chains[end] > most:
                most, which = chains[end], end
        value[place], link[place] = most, which


@njit(cache=True, nogil=True)
def _trace(best, before, max_bins, phases, size):  # type: ignore[no-untyped-def]
    """The best chain of each length, traced back from its last bin."""
    values = np.full((phases, max_bins + 1), -np.inf)
    ends = np.zeros((phases, max_bins + 1, max_bins), dtype=np.int64)
    for phase in range(phases):
        for m in range(1, max_bins + 1):
            last = best[m, size, phase * size : (phase + 1) * size]
            link, end = phase * size + np.argmax(last), size
            values[phase, m] = best[m, size, link]
            if values[phase, m] == -np.inf:
                continue
            for k in range(m, 0, -1):
                ends[phase, m, k - 1] = end
                end, link = link % size, before[k, end, link]
    return values, ends


@njit(cache=True, nogil=True)
def _distinct(sums, rates, spread, h, i, j, min_difference, critical):  # type: ignore[no-untyped-def]
    """Whether the bins [h, i) and [i, j) differ enough."""
    if len(spread):
        change = abs(rates[i, j] - rates[h, i])
        tested = critical <= 0 or change * change >= critical * (spread[h, i] + spread[i, j])
        return change >= min_difference and tested
    if min_difference <= 0 and critical <= 0:
        return True
    n_classes = sums.shape[1]
    left = right = 0.0
    for c in range(n_classes):
        left += sums[i, c] - sums[h, c]
        right += sums[j, c] - sums[i, c]
    largest = chi2 = 0.0
    for c in range(n_classes):
        a, b = sums[i, c] - sums[h, c], sums[j, c] - sums[i, c]
        change = a / left - b / right
        largest = max(largest, abs(change))
        if a + b > 0:  # Σ (observed − expected)²/expected of the two bins, with one degree of freedom
            chi2 += change * change * left * right / (a + b)
    return largest >= min_difference and chi2 >= critical
