"""Compiled loops of sketches: sums over runs of equal keys."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array


@njit(cache=True, nogil=True)
def sum_classes(  # type: ignore[no-untyped-def]
    order, keys, values, code, weight, low, high, sums
):
    """Weights of the classes of each run of equal keys, with the smallest and largest value.

    Parameters
    ----------
    order : ndarray of int of shape (n,)
        Rows by ascending key.
    keys : ndarray of int64 of shape (n,)
        Of the rows, in `order`.
    values : ndarray of float64 of shape (n,)
    code : ndarray of int of shape (n,)
        The class of each row.
    weight : ndarray of shape (n,) or (0,)
        Empty where all weights are one.
    low, high : ndarray of shape (runs,)
        Filled.
    sums : ndarray of shape (runs, classes)
        Added to.
    """
    run = -1
    for place in range(len(order)):
        row = order[place]
        if place == 0 or keys[place] != keys[place - 1]:
            run += 1
            low[run] = high[run] = values[row]
        low[run] = min(low[run], values[row])
        high[run] = max(high[run], values[row])
        sums[run, code[row]] += weight[row] if len(weight) else 1.0


@njit(cache=True, nogil=True)
def sum_moments(  # type: ignore[no-untyped-def]
    order, keys, values, target, weight, low, high, sums
):
    """Σw, Σw·y and Σw·y² of each run of equal keys; arguments as in `sum_classes`, with the numbers `target`."""
    run = -1
    for place in range(len(order)):
        row = order[place]
        if place == 0 or keys[place] != keys[place - 1]:
            run += 1
            low[run] = high[run] = values[row]
        low[run] = min(low[run], values[row])
        high[run] = max(high[run], values[row])
        w = weight[row] if len(weight) else 1.0
        sums[run, 0] += w
        sums[run, 1] += w * target[row]
        sums[run, 2] += w * target[row] * target[row]


def starts_of_runs(keys: Array) -> Array:
    """Where runs of equal numbers begin in a sorted vector."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
