"""Compiled access to one row: dense, CSR, or known by a kernel only.

A loop takes rows as three arrays. Dense: `x` of two dimensions, the other two empty. CSR: `x` the stored values,
with `indices` and `indptr`. Rows φ(x) that a kernel knows: `x` of shape (1, slots, n) holds rows of the Gram matrix,
`indices[i]` is the slot of row i, −1 if it is not held, and weights are [α, scores of all n rows], for
w = Σ αᵢ·φ(xᵢ). The test of `x.ndim` is settled when a loop is compiled, so it costs nothing.
Weights are float64 whatever the type of the rows.
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

_LINE = 64  # bytes that come from memory together
_INDEX_LINES = 2  # of a sparse row that are asked for ahead; of its values, which are larger, twice as many


def _line(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of array.flat[index], without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        builder.call(function, [address, number(0), number(3), number(1)])  # for reading, to keep, data
        return context.get_dummy_value()

    return types.void(array, index), generate


_fetch: Any = intrinsic(_line)


@part
def fetch_row(x, indices, indptr, i):  # type: ignore[no-untyped-def]
    """Start to bring row i into the cache: rows visited in random order would otherwise be waited for.

    Of a sparse row the beginning is asked for, and what follows it there if it is short: nobody can guess how many
    lines it has, and a wrong guess takes longer than the lines. What a long row has beyond comes in its turn.
    """
    if x.ndim == 2:
        j, last = i * x.shape[1], (i + 1) * x.shape[1]
        while j < last:
            _fetch(x, j)
            j += _LINE // x.itemsize
    elif x.ndim == 1:
        first = np.int64(indptr[i])
        for line in range(_INDEX_LINES):
            _fetch(indices, first + line * (_LINE // indices.itemsize))
        for line in range(2 * _INDEX_LINES):
            _fetch(x, first + line * (_LINE // x.itemsize))


@part
def _place(index):  # type: ignore[no-untyped-def]
    """A stored index without its sign: a signed one is compared with 0 first, as Python counts from the end below it,
    which costs a third of the time of a product and half of that of an addition."""
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
        for j in range(*_span(indptr, i)):
            total += x[j] * w[_place(indices[j])]
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
    """Whether weights can be moved along row i: of rows that a kernel knows, only some are in memory."""
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
