"""Compiled access to one row, dense or CSR.

A loop takes rows as three arrays. Dense: `x` of two dimensions, the other two empty. CSR: `x` the stored values,
with `indices` and `indptr`. The test of `x.ndim` is settled when a loop is compiled, so it costs nothing.
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
    """Start to bring row i into the cache: rows visited in random order would otherwise be waited for."""
    if x.ndim == 2:
        first, last = i * x.shape[1], (i + 1) * x.shape[1]
    else:
        first, last = indptr[i], indptr[i + 1]
        for j in range(first, last, _LINE // indices.itemsize):
            _fetch(indices, j)
    for j in range(first, last, _LINE // x.itemsize):
        _fetch(x, j)


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
    if x.ndim == 2:
        for j in range(x.shape[1]):
            w[j] += step * x[i, j]
    else:
        for j in range(*_span(indptr, i)):
            w[_place(indices[j])] += step * x[j]
