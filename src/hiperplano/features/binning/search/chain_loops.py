"""The compiled loop of the search: dynamic programming over the last bin."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_chain(gain, allowed, rates, sums, spread, first, then, min_difference, critical, max_bins):  # type: ignore[no-untyped-def]
    """The chain of bins [0, a), [a, b), …, [z, B) of largest total gain whose neighbours may stand beside each other.

    What may follow a bin depends on that bin alone, so the best chain of m bins that ends with [i, j) is the best one
    of m − 1 bins that ends with some [h, i), and one more. The [h, i) are tried from the best down: the first that
    [i, j) may follow is the one, so that few of the B³/6 pairs are looked at for each m.

    Parameters
    ----------
    gain, rates : ndarray of shape (B + 1, B + 1)
        Of the bin [i, j): its term of the criterion; its event rate or mean.
    allowed : ndarray of bool of shape (B + 1, B + 1)
        Whether a bin is large enough.
    sums : ndarray of shape (B + 1, k)
        Weights of the classes before each pre-bin; of a number Σw.
    spread : ndarray of shape (B + 1, B + 1) or (0, 0)
        Variance of the mean of a bin, for a target of numbers; empty for classes.
    first, then : int
        How rates may change from bin to bin, 1 up, −1 down, 0 freely: first so, and after one turn `then` so. The two
        are equal where there is no turn.
    min_difference : float
        Of the rates of neighbours; of several classes one must differ so much.
    critical : float
        What the test statistic of two neighbours must reach; 0 for no test.
    max_bins : int

    Returns
    -------
    values : ndarray of shape (phases, max_bins + 1)
        The largest gain with so many bins, before the turn and, where there is one, after it; −inf for no such chain.
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
    for m in range(2, max_bins + 1):
        for i in range(m - 1, size):
            links = np.flatnonzero(best[m - 1, i] > -np.inf)
            links = links[np.argsort(-best[m - 1, i][links])]
            for j in range(i + 1, size + 1):
                if not allowed[i, j]:
                    continue
                for phase in range(phases):
                    way = first if phase == 0 else then
                    for link in links:
                        h = link % size
                        if link // size > phase or way * (rates[i, j] - rates[h, i]) < 0:
                            continue
                        if _distinct(sums, rates, spread, h, i, j, min_difference, critical):
                            best[m, j, phase * size + i] = best[m - 1, i, link] + gain[i, j]
                            before[m, j, phase * size + i] = link
                            break
    return _trace(best, before, max_bins, phases, size)


@njit(cache=True, nogil=True)
def _trace(best, before, max_bins, phases, size):  # type: ignore[no-untyped-def]
    """The best chain of each length, from its last bin back."""
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
        if a + b > 0:  # Σ (observed − expected)²/expected of the two bins, which have one difference
            chi2 += change * change * left * right / (a + b)
    return largest >= min_difference and chi2 >= critical
