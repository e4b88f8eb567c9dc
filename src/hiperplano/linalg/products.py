"""Products of tall matrices, by blocks of rows in threads.

Results do not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

from operator import iadd
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.design import Array
from hiperplano.data.loops.arrays import row_arrays
from hiperplano.data.parallel.threads import in_threads, ordered_reduce, worker_count

_BLOCK = 1024
_PANEL = 256  # rows of a panel: few enough to distribute, enough for BLAS
_FEW = 2 * _PANEL  # fewer rows make too few panels to distribute, so that their columns are split instead
_PARTS = 4
_SHORTEST = 512  # least columns of a part
_WORTH = 2**22  # least multiplications for which another thread is worth starting


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


def row_products(rows: Any) -> Array:
    """rows·rowsᵀ, of shape (n, n), of an array or a CSR array."""
    n = rows.shape[0]
    if issparse(rows):
        return _products_of_sparse(rows)
    if n <= _FEW:
        return _products_of_few(rows)
    found = np.empty((n, n), dtype=rows.dtype)

    def panel(start: int) -> None:
        stop = min(start + _PANEL, n)
        here = rows[start:stop]
        np.matmul(here, rows[:start].T, out=found[start:stop, :start])
        found[:start, start:stop] = found[start:stop, :start].T
        np.matmul(here, here.T, out=found[start:stop, start:stop])

    in_threads(panel, reversed(range(0, n, _PANEL)), rows.size)  # the longest panels first
    return found


def _products_of_sparse(rows: Any) -> Array:
    """The same of a CSR array; SciPy's sparse product would have to find the sparsity pattern."""
    from hiperplano.data.loops.mirror import mirror  # compiled code is imported on demand
    from hiperplano.data.loops.sparse_products import add_row_products

    n, d = rows.shape
    out, ends = np.zeros((n, n)), np.zeros(d + 1, dtype=np.int64)
    add_row_products(*row_arrays(rows), ends, out)
    mirror(out.T, (0, n), (0, n))
    return out


def _products_of_few(rows: Array) -> Array:
    """The same as a sum over parts of the columns, each at least twice as long as the result is wide."""
    n, d = rows.shape
    n_parts = min(_PARTS, d // max(2 * n, _SHORTEST), n * n * d // _WORTH)
    if n_parts < 2:
        return np.asarray(rows @ rows.T)
    length = -(-d // n_parts)

    def product(start: int) -> Array:
        part = rows[:, start : start + length]
        return np.asarray(part @ part.T)

    return ordered_reduce(product, range(0, d, length), iadd, worker_count())
