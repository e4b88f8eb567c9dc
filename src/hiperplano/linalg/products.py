"""Products of tall matrices, by blocks of rows in threads: the number of threads does not change a bit."""

from __future__ import annotations

from operator import iadd

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads, ordered_reduce, worker_count

_BLOCK = 1024


def rows_dot(left: Array, right: Array, out: Array | None = None) -> Array:
    """left·right, for a `left` of many rows."""
    shape = (len(left), *right.shape[1:])
    found = np.empty(shape, dtype=np.result_type(left, right)) if out is None else out

    def product(start: int) -> None:
        rows = slice(start, start + _BLOCK)
        np.matmul(left[rows], right, out=found[rows])

    in_threads(product, range(0, len(left), _BLOCK), left.size)
    return found


def columns_dot(left: Array, right: Array) -> Array:
    """leftᵀ·right, for matrices of many rows."""

    def product(start: int) -> Array:
        rows = slice(start, start + _BLOCK)
        return np.asarray(left[rows].T @ right[rows])

    starts = range(0, max(len(left), 1), _BLOCK)
    return ordered_reduce(product, starts, iadd, worker_count() if len(starts) > 1 else 1)
