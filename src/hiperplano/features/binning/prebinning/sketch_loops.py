"""Compiled loops of sketches: a hash table from keys to sums, whose keys lose bits when it is full."""

from __future__ import annotations

import numpy as np
from numba import njit

_FULL = 4
"""A table takes this many times `limit` keys before bits are dropped: that is done seldom, and never beyond need."""


@njit(cache=True, nogil=True)
def sketch_rows(  # type: ignore[no-untyped-def]
    values, target, weight, special, special_groups, n_groups, n_classes, limit, first, last
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
        0 for a target of numbers.
    limit : int
    first, last : ndarray of float64
        Ends of ascending intervals: values between them are left out. Empty to take all.

    Returns
    -------
    keys, low, high, sums, apart, level
        As in `Sketch`, with keys in the order of their appearance and up to `_FULL`·limit of them.
    """
    n_sums = n_classes if n_classes else 3
    capacity = min(_FULL * limit, len(values))
    keys = np.empty(capacity, dtype=np.int64)
    low, high, sums = np.empty(capacity), np.empty(capacity), np.zeros((capacity, n_sums))
    apart = np.zeros((n_groups + 1, n_sums))
    slots = np.full(_table_size(capacity), -1, dtype=np.int32)
    floats = np.empty(1)
    bits = floats.view(np.int64)
    size, level = 0, 0
    for r in range(len(values)):
        value = float(values[r]) + 0.0  # −0.0 is 0.0
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
        floats[0] = value
        whole = bits[0] if bits[0] >= 0 else bits[0] ^ np.int64(0x7FFFFFFFFFFFFFFF)
        place = _find(slots, keys, whole >> level)
        if slots[place] < 0:
            if size == capacity:
                raised = _level_needed(keys, size, limit, 1 if level else 32)
                level += raised
                size = _drop_bits(slots, keys, low, high, sums, size, raised)
                place = _find(slots, keys, whole >> level)
            if slots[place] < 0:
                slots[place] = size
                keys[size], low[size], high[size] = whole >> level, value, value
                sums[size] = 0.0  # dropped bits left old sums behind the last key
                size += 1
        k = slots[place]
        low[k], high[k] = min(low[k], value), max(high[k], value)
        _add(sums, k, target[r], weight, r, n_classes)
    return keys[:size].copy(), low[:size].copy(), high[:size].copy(), sums[:size].copy(), apart, level


@njit(cache=True, nogil=True)
def merge_sketches(  # type: ignore[no-untyped-def]
    keys_1, low_1, high_1, sums_1, level_1, keys_2, low_2, high_2, sums_2, level_2, limit
):
    """The keys, lows, highs, sums and level of two sketches together."""
    level = max(level_1, level_2)
    capacity = len(keys_1) + len(keys_2)
    keys = np.empty(capacity, dtype=np.int64)
    low, high, sums = np.empty(capacity), np.empty(capacity), np.zeros((capacity, sums_1.shape[1]))
    slots = np.full(_table_size(capacity), -1, dtype=np.int32)
    size = _pour(slots, keys, low, high, sums, 0, keys_1, low_1, high_1, sums_1, level - level_1)
    size = _pour(slots, keys, low, high, sums, size, keys_2, low_2, high_2, sums_2, level - level_2)
    if size > _FULL * limit:
        raised = _level_needed(keys, size, limit, 1 if level else 32)
        level += raised
        size = _drop_bits(slots, keys, low, high, sums, size, raised)
    return keys[:size].copy(), low[:size].copy(), high[:size].copy(), sums[:size].copy(), level


@njit(cache=True, nogil=True)
def _add(sums, k, target, weight, r, n_classes):  # type: ignore[no-untyped-def]
    """Add a row to the sums of key k."""
    w = weight[r] if len(weight) else 1.0
    if n_classes:
        sums[k, int(target)] += w
    else:
        sums[k, 0] += w
        sums[k, 1] += w * target
        sums[k, 2] += w * target * target


@njit(cache=True, nogil=True)
def _pour(slots, keys, low, high, sums, size, new_keys, new_low, new_high, new_sums, drop):  # type: ignore[no-untyped-def]
    """Add a sketch to a table, without the last `drop` bits of its keys; the new size of the table."""
    for i in range(len(new_keys)):
        key = new_keys[i] >> drop
        place = _find(slots, keys, key)
        k = slots[place]
        if k < 0:
            k = size
            slots[place], keys[k], low[k], high[k] = k, key, new_low[i], new_high[i]
            sums[k] = 0.0
            size += 1
        low[k], high[k] = min(low[k], new_low[i]), max(high[k], new_high[i])
        for c in range(sums.shape[1]):
            sums[k, c] += new_sums[i, c]
    return size


@njit(cache=True, nogil=True)
def _drop_bits(slots, keys, low, high, sums, size, drop):  # type: ignore[no-untyped-def]
    """Shorten all keys of a table by `drop` bits, in place; its new size."""
    old = keys[:size].copy(), low[:size].copy(), high[:size].copy(), sums[:size].copy()
    slots[:] = -1
    return _pour(slots, keys, low, high, sums, 0, old[0], old[1], old[2], old[3], drop)


@njit(cache=True, nogil=True)
def _level_needed(keys, size, limit, step):  # type: ignore[no-untyped-def]
    """The smallest number of last bits without which at most `limit` keys differ, by doubling `step` and halving."""
    slots = np.empty(_table_size(size), dtype=np.int32)
    short = np.empty(size, dtype=np.int64)
    enough = 0
    while True:
        enough = min(enough + step, 64)
        if enough >= 64 or _distinct(slots, short, keys, size, enough) <= limit:
            break
        step *= 2
    too_few = max(enough - step, 0)
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _distinct(slots, short, keys, size, middle) <= limit:
            enough = middle
        else:
            too_few = middle
    return min(enough, 63)


@njit(cache=True, nogil=True)
def _distinct(slots, short, keys, size, drop):  # type: ignore[no-untyped-def]
    """How many keys differ without their last `drop` bits."""
    slots[:] = -1
    found = 0
    for i in range(size):
        key = keys[i] >> drop
        place = _find(slots, short, key)
        if slots[place] < 0:
            slots[place], short[found] = found, key
            found += 1
    return found


@njit(cache=True, nogil=True)
def _find(slots, keys, key):  # type: ignore[no-untyped-def]
    """The slot of a key, or the free one where it belongs."""
    mask = len(slots) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    place = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
    while slots[place] >= 0 and keys[slots[place]] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True)
def _table_size(capacity):  # type: ignore[no-untyped-def]
    """A power of two of at least twice the capacity."""
    size = 16
    while size < 2 * capacity:
        size *= 2
    return size
