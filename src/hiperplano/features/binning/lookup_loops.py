"""Compiled loops from numbers to their bins."""

from __future__ import annotations

import numpy as np
from numba import njit

_CHUNK = 2048  # rows whose numbers and bins stay in the fastest cache


@njit(cache=True, nogil=True)
def assign_bins(values, cuts, special, special_bins, missing, codes):  # type: ignore[no-untyped-def]
    """The bin of each number: how many cut-offs are not above it, unless it is missing or a special code.

    Parameters
    ----------
    values : ndarray of float of shape (n,)
    cuts : ndarray of shape (intervals − 1,)
    special : ndarray of float64
        Special codes.
    special_bins : ndarray of int
        Their bins.
    missing : int
        The bin of missing values.
    codes : ndarray of int of shape (n,)
        Filled.
    """
    part, bins = np.empty(_CHUNK), np.empty(_CHUNK, dtype=np.uint16)
    for start in range(0, len(values), _CHUNK):
        size = min(_CHUNK, len(values) - start)
        _assign_chunk(values[start : start + size], cuts, special, special_bins, missing, part, bins)
        for r in range(size):
            codes[start + r] = bins[r]


@njit(cache=True, nogil=True)
def look_up(values, cuts, special, special_bins, missing, encoding, out):  # type: ignore[no-untyped-def]
    """out[r] = encoding[bin of values[r]]; the other arguments as in `assign_bins`."""
    part, bins = np.empty(_CHUNK), np.empty(_CHUNK, dtype=np.uint16)
    for start in range(0, len(values), _CHUNK):
        size = min(_CHUNK, len(values) - start)
        _assign_chunk(values[start : start + size], cuts, special, special_bins, missing, part, bins)
        for r in range(size):
            out[start + r] = encoding[bins[r]]


@njit(cache=True, nogil=True)
def _assign_chunk(values, cuts, special, special_bins, missing, part, bins):  # type: ignore[no-untyped-def]
    """The bins of a chunk; cut-offs in the outer loop, so that the inner one compares several numbers at once."""
    for r in range(len(values)):
        part[r] = values[r]
        bins[r] = 0
    for cut in cuts:
        for r in range(len(values)):
            bins[r] += part[r] >= cut
    for r in range(len(values)):
        if part[r] != part[r]:
            bins[r] = missing
    for s in range(len(special)):
        for r in range(len(values)):
            if part[r] == special[s]:
                bins[r] = special_bins[s]
