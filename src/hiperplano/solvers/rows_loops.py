"""Compiled access to one row: dense, CSR, or given by a kernel.

A loop takes rows as three arrays. Dense: `x` has two dimensions, and the other two arrays are empty. CSR: `x` holds the
stored values, with `indices` and `indptr`. Rows φ(x) given by a kernel: `x` of shape (1, slots, n) holds cached rows of
the Gram matrix, `indices[i]` is the slot of row i or −1 if it is not cached, and weights are [α, scores of all n rows]
for w = Σ αᵢ·φ(xᵢ). Tests of `x.ndim` are resolved at compile time, so they cost nothing. Weights are float64 whatever
the dtype of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hiperplano.data.loops.compiled import loop as loop
from hiperplano.data.loops.compiled import part as part
from hiperplano.data.loops.compiled import subroutine as subroutine
from hiperplano.data.loops.sparse_products import sparse_dot

_LINE = 64  # bytes of a cache line
PREFETCH_ROWS = 10  # rows between the prefetch of a row and its use
_INDEX_LINES = 2  # prefetched cache lines of a sparse row's indices; of its values, which are larger, twice as many


def _line(typingctx: Any, array: Any, offset: Any) -> Any:
    """Prefetch the cache line of the array's byte at this offset."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.gep(builder.bitcast(data, cgutils.voidptr_t), [args[1]])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        builder.call(function, [address, number(0), number(3), number(1)])  # for reading, into all cache levels, data
        return context.get_dummy_value()

    return types.void(array, offset), generate


_fetch: Any = intrinsic(_line)


@part
def fetch_row(x, indices, indptr, i):  # type: ignore[no-untyped-def]
    """Prefetch row i, since rows visited in random order cause cache misses.

    Of a sparse row, a fixed number of cache lines is prefetched: a branch on the row's length would often be
    mispredicted, which takes longer than these lines. The rest of a long row is loaded when it is used.
    """
    if x.ndim == 2:  # offsets in bytes: a division by the size of an item takes as long as the product of a short row
        row_bytes = x.shape[1] * x.itemsize
        for line in range((row_bytes + _LINE - 1) // _LINE):
            _fetch(x, i * row_bytes + line * _LINE)
    elif x.ndim == 1:
        first = np.int64(indptr[i])
        for line in range(_INDEX_LINES):
            _fetch(indices, first * indices.itemsize + line * _LINE)
        for line in range(2 * _INDEX_LINES):
            _fetch(x, first * x.itemsize + line * _LINE)


@part
def _place(index):  # type: ignore[no-untyped-def]
    """A stored index as unsigned.

    A signed index is first checked for a negative value, as Python allows, which takes a third of the time of a product
    and half of that of an addition.
    """
    return np.uint64(index)


@part
def _span(indptr, i):  # type: ignore[no-untyped-def]
    """Where the stored values of row i begin and end."""
    return _place(indptr[i]), _place(indptr[i + 1])


@part
def row_dot(x, indices, indptr, i, w):  # type: ignore[no-untyped-def]
    """x[i]·w."""
    if x.ndim == 3:
        return w[x.shape[2] + i]
    total = 0.0
    if x.ndim == 2:
        for j in range(x.shape[1]):
            total += x[i, j] * w[j]
    else:
        first, last = _span(indptr, i)
        total = sparse_dot(x, indices, first, last, w)
    return total


@part
def row_square(x, indices, indptr, i):  # type: ignore[no-untyped-def]
    """‖x[i]‖²."""
    if x.ndim == 3:
        return x[0, indices[i], i]
    total = 0.0
    if x.ndim == 2:
        for j in range(x.shape[1]):
            value = 1.0 * x[i, j]
            total += value * value
    else:
        for j in range(*_span(indptr, i)):
            value = 1.0 * x[j]
            total += value * value
    return total


@part
def row_add(x, indices, indptr, i, step, w):  # type: ignore[no-untyped-def]
    """w += step·x[i]."""
    if x.ndim == 3:
        w[i] += step
        n, slot = x.shape[2], indices[i]
        for j in range(n):
            w[n + j] += step * x[0, slot, j]
    elif x.ndim == 2:
        for j in range(x.shape[1]):
            w[j] += step * x[i, j]
    else:
        for j in range(*_span(indptr, i)):
            w[_place(indices[j])] += step * x[j]


@part
def row_held(x, indices, i):  # type: ignore[no-untyped-def]
    """Whether weights can be moved along row i: of rows given by a kernel, only some are in memory."""
    return indices[i] >= 0 if x.ndim == 3 else True


@part
def squared_length(x, w):  # type: ignore[no-untyped-def]
    """‖w‖²."""
    total = 0.0
    if x.ndim == 3:
        for j in range(x.shape[2]):
            total += w[j] * w[x.shape[2] + j]
    else:
        for j in range(len(w)):
            total += w[j] * w[j]
    return total
