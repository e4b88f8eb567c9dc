"""Products of tall matrices, by blocks of rows in threads: the number of threads does not change a bit."""

from __future__ import annotations

from operator import iadd

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads, ordered_reduce, worker_count

_BLOCK = 1024
_PANEL = 256  # rows multiplied with those before them: few enough to share out, many enough for BLAS


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


def row_products(rows: Array) -> Array:
    """rows·rowsᵀ, of shape (n, n)."""
    n = len(rows)
    found = np.empty((n, n), dtype=rows.dtype)

    def panel(start: int) -> None:
        stop = min(start + _PANEL, n)
        here = rows[start:stop]
        np.matmul(here, rows[:start].T, out=found[start:stop, :start])
        found[:start, start:stop] = found[start:stop, :start].T
        np.matmul(here, here.T, out=found[start:stop, start:stop])

    in_threads(panel, reversed(range(0, n, _PANEL)), rows.size)  # the longest first
    return found
