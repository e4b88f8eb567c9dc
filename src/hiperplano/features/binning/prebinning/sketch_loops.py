"""Compiled loops of sketches: a hash table from keys to sums, whose keys lose bits when it is full.

A table consists of three arrays: `slots` (the record of each slot, or `_FREE`), `keys` (of the records, in the order of
their appearance) and `records`, whose columns are the smallest value, the largest one, and the sums of the target. Each
row touches little memory, and all of it is adjacent, which determines the speed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FULL = 4
"""A table holds this multiple of `limit` keys before bits are dropped, so that this is rare and no more bits are
dropped than needed.
"""
_CHUNK = 1024  # rows whose keys are computed together, with vector instructions
_FREE = np.int32(-1)
_ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def sketch_rows(  # type: ignore[no-untyped-def]
    values, target, weight, special, special_groups, n_groups, n_classes, limit, level, first, last
):
    """The sketch of one column of a block.

    Parameters
    ----------
    values : ndarray of float of shape (n,)
    target : ndarray of shape (n,)
        Class numbers, or numbers.
    weight : ndarray of shape (n,) or (0,)
        Empty where all weights are one.
    special : ndarray of float64
        Special codes.
    special_groups : ndarray of int
        Their groups, 0 … n_groups − 1.
    n_classes : int
        0 for a numeric target.
    limit : int
    level : int
        Bits that keys must lose, as far as known.
    first, last : ndarray of float64
        Ends of ascending intervals; values outside them are skipped. Empty to use all values.

    Returns
    -------
    keys, low, high, sums, apart, level
        As in `Sketch`, with keys in the order of their appearance and up to `FULL`·limit of them.
    """
    n_sums = n_classes if n_classes else 3
    capacity = min(FULL * limit, len(values))
    slots, keys, records = _new_table(capacity, 2 + n_sums)
    apart = np.zeros((n_groups + 1, 2 + n_sums))
    part = np.empty(_CHUNK)
    bits = part.view(np.int64)
    size = 0
    for start in range(0, len(values), _CHUNK):
        stop = min(start + _CHUNK, len(values))
        for r in range(start, stop):
            part[r - start] = float(values[r]) + 0.0  # −0.0 is 0.0
        for r in range(start, stop):
            value = part[r - start]
            group = n_groups if value != value else -1
            for s in range(len(special)):
                if value == special[s]:
                    group = special_groups[s]
            if len(first):
                window = np.searchsorted(first, value, side="right") - 1
                if group >= 0 or window < 0 or value > last[window]:
                    continue
            elif group >= 0:
                _add(apart, group, target[r], weight, r, n_classes)
                continue
            whole = bits[r - start]
            whole ^= (whole >> 63) & _ALL_BUT_SIGN  # so that keys ascend with the values, also for negative ones
            place = _find(slots, keys, whole >> level)
            if slots[place] == _FREE:
                if size == capacity:
                    raised = bits_to_drop(np.sort(keys[:size]), limit)
                    level += raised
                    size = _drop_bits(slots, keys, records, size, raised)
                    place = _find(slots, keys, whole >> level)
                if slots[place] == _FREE:
                    slots[place], keys[size] = size, whole >> level
                    records[size] = 0.0
                    records[size, 0] = records[size, 1] = value
                    size += 1
            k = slots[place]
            records[k, 0], records[k, 1] = min(records[k, 0], value), max(records[k, 1], value)
            _add(records, k, target[r], weight, r, n_classes)
    keys, low, high, sums = _parts(keys, records, size)
    return keys, low, high, sums, apart[:, 2:].copy(), level


@njit(cache=True, nogil=True)
def merge_sketches(  # type: ignore[no-untyped-def]
    keys_1, low_1, high_1, sums_1, level_1, keys_2, low_2, high_2, sums_2, level_2, limit
):
    """Merge two sketches; return keys, lows, highs, sums and level."""
    level = max(level_1, level_2)
    slots, keys, records = _new_table(len(keys_1) + len(keys_2), 2 + sums_1.shape[1])
    size = _pour(slots, keys, records, 0, keys_1, low_1, high_1, sums_1, level - level_1)
    size = _pour(slots, keys, records, size, keys_2, low_2, high_2, sums_2, level - level_2)
    if size > FULL * limit:
        raised = bits_to_drop(np.sort(keys[:size]), limit)
        level += raised
        size = _drop_bits(slots, keys, records, size, raised)
    keys, low, high, sums = _parts(keys, records, size)
    return keys, low, high, sums, level


@njit(cache=True, nogil=True)
def keys_of(values):  # type: ignore[no-untyped-def]
    """The keys of ascending numbers (not NaN)."""
    keys = np.empty(len(values), dtype=np.int64)
    floats = keys.view(np.float64)
    for r in range(len(values)):
        floats[r] = float(values[r]) + 0.0
    for r in range(len(values)):
        keys[r] ^= (keys[r] >> 63) & _ALL_BUT_SIGN
    return keys


@njit(cache=True, nogil=True)
def bits_to_drop(keys, limit):  # type: ignore[no-untyped-def]
    """The smallest number of trailing bits to drop so that at most `limit` of the ascending keys differ."""
    if len(keys) <= limit:
        return 0
    counts = np.zeros(65, dtype=np.int64)  # [b]: neighbours whose first different bit is b bits from the end
    for i in range(1, len(keys)):
        differing, length = np.uint64(keys[i] ^ keys[i - 1]), 0
        for step in (32, 16, 8, 4, 2, 1):
            if differing >> np.uint64(step):
                differing >>= np.uint64(step)
                length += step
        counts[length + (1 if differing else 0)] += 1
    distinct, drop = 1, 64
    while drop > 0 and distinct + counts[drop] <= limit:
        distinct += counts[drop]
        drop -= 1
    return min(drop, 63)


@njit(cache=True, nogil=True)
def _add(records, k, target, weight, r, n_classes):  # type: ignore[no-untyped-def]
    """Add a row to the sums of record k."""
    w = weight[r] if len(weight) else 1.0
    if n_classes:
        records[k, 2 + int(target)] += w
    else:
        records[k, 2] += w
        records[k, 3] += w * target
        records[k, 4] += w * target * target


@njit(cache=True, nogil=True)
def _pour(slots, keys, records, size, new_keys, new_low, new_high, new_sums, drop):  # type: ignore[no-untyped-def]
    """Add a sketch to a table, without the last `drop` bits of its keys; return the new size of the table."""
    for i in range(len(new_keys)):
        key = new_keys[i] >> drop
        place = _find(slots, keys, key)
        if slots[place] == _FREE:
            slots[place], keys[size] = size, key
            records[size] = 0.0
            records[size, 0], records[size, 1] = new_low[i], new_high[i]
            size += 1
        k = slots[place]
        records[k, 0], records[k, 1] = min(records[k, 0], new_low[i]), max(records[k, 1], new_high[i])
        for c in range(new_sums.shape[1]):
            records[k, 2 + c] += new_sums[i, c]
    return size


@njit(cache=True, nogil=True)
def _drop_bits(slots, keys, records, size, drop):  # type: ignore[no-untyped-def]
    """Shorten all keys of a table by `drop` bits, in place; return its new size."""
    old, low, high, sums = _parts(keys, records, size)
    slots[:] = _FREE
    return _pour(slots, keys, records, 0, old, low, high, sums, drop)


@njit(cache=True, nogil=True)
def _parts(keys, records, size):  # type: ignore[no-untyped-def]
    """Copies of the keys, smallest values, largest values and sums of a table."""
    return keys[:size].copy(), records[:size, 0].copy(), records[:size, 1].copy(), records[:size, 2:].copy()


@njit(cache=True, nogil=True)
def _new_table(capacity, width):  # type: ignore[no-untyped-def]
    """An empty table, whose number of slots is a power of two of at least twice the capacity."""
    size = 16
    while size < 2 * capacity:
        size *= 2
    return np.full(size, _FREE), np.empty(capacity, dtype=np.int64), np.empty((capacity, width))


@njit(cache=True, nogil=True)
def _find(slots, keys, key):  # type: ignore[no-untyped-def]
    """The slot of a key, or the free one where it belongs."""
    mask = len(slots) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)  # the first bits are well mixed; keys of integers end in zeros
    place = np.int64((mixed * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while slots[place] != _FREE and keys[slots[place]] != key:
        place = (place + 1) & mask
    return place
