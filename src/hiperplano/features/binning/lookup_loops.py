"""Compiled loops from numbers to their bins."""

from __future__ import annotations

import numpy as np
from numba import njit

_CHUNK = 2048  # rows whose numbers and bins stay in the L1 cache
_FEW_ROWS = 256  # rows of a table that stay in the cache with all their columns


@njit(cache=True, nogil=True)
def assign_bins(values, cuts, special, special_bins, missing, codes):  # type: ignore[no-untyped-def]
    """The bin of each number: the number of cut-offs not above it, unless it is missing or a special code.

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
def look_up_rows(  # type: ignore[no-untyped-def]
    rows, columns, cuts, cut_at, special, special_at, special_bins, missing, encoding, encoding_at, out, start, stop
):
    """out[p, r] = the number of the bin of rows[r, columns[p]], for start ≤ r < stop.

    All columns of some rows are looked up while these rows are in the cache.

    Parameters
    ----------
    rows : ndarray of float of shape (n, d)
    columns : ndarray of int of shape (places,)
    cuts, special, special_bins, encoding : ndarray
        As in `look_up`, concatenated for all places.
    cut_at, special_at, encoding_at : ndarray of int of shape (places + 1,)
        Where those of each place begin.
    missing : ndarray of int of shape (places,)
    out : ndarray of shape (places, n)
        Filled.
    """
    part, bins = np.empty(_FEW_ROWS), np.empty(_FEW_ROWS, dtype=np.uint16)
    for begin in range(start, min(stop, len(rows)), _FEW_ROWS):
        end = min(begin + _FEW_ROWS, stop, len(rows))
        for place in range(len(columns)):
            codes = slice(special_at[place], special_at[place + 1])
            _assign_chunk(
                rows[begin:end, columns[place]],
                cuts[cut_at[place] : cut_at[place + 1]],
                special[codes],
                special_bins[codes],
                missing[place],
                part,
                bins,
            )
            first = encoding_at[place]
            for r in range(end - begin):
                out[place, begin + r] = encoding[first + bins[r]]


@njit(cache=True, nogil=True)
def _assign_chunk(values, cuts, special, special_bins, missing, part, bins):  # type: ignore[no-untyped-def]
    """The bins of a chunk. Cut-offs are in the outer loop, so that the inner loop is vectorised."""
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
