"""The compiled loop of `transform`: from numbers to the values of their bins."""

from __future__ import annotations

import numpy as np
from numba import njit

_CHUNK = 2048  # rows whose bins stay in the fastest cache


@njit(cache=True, nogil=True)
def look_up(values, cuts, special, special_bins, encoding, out):  # type: ignore[no-untyped-def]
    """out[r] = encoding[bin of values[r]], where the bin is how many cut-offs are not above the value.

    Parameters
    ----------
    values : ndarray of float of shape (n,)
    cuts : ndarray of shape (intervals − 1,)
    special : ndarray of float
        Special codes.
    special_bins : ndarray of int
        Their bins.
    encoding : ndarray of shape (bins,)
        The last is that of missing values.
    out : ndarray of shape (n,)
        Filled.
    """
    bins = np.empty(_CHUNK, dtype=np.uint16)
    for start in range(0, len(values), _CHUNK):
        part = values[start : start + _CHUNK]
        bins[:] = 0
        for cut in cuts:
            for r in range(len(part)):
                bins[r] += part[r] >= cut
        for r in range(len(part)):
            if part[r] != part[r]:
                bins[r] = len(encoding) - 1
        for s in range(len(special)):
            for r in range(len(part)):
                if part[r] == special[s]:
                    bins[r] = special_bins[s]
        for r in range(len(part)):
            out[start + r] = encoding[bins[r]]
