"""Arrays in the few types that compiled loops accept; each further type would take seconds to compile."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array


class RowArrays(NamedTuple):
    """Rows in the form that compiled loops expect; see `rows_loops`."""

    x: Array
    indices: Array
    indptr: Array


def frozen(array: Array) -> Array:
    """A read-only view. Loops are compiled only for such arrays, which include memory maps."""
    view = array.view()
    view.setflags(write=False)
    return view


NO_INDEX = frozen(np.empty(0, dtype=np.int32))


def row_arrays(x: Any) -> RowArrays:
    """The rows of a checked array or CSR matrix for compiled loops.

    Parameters
    ----------
    x : ndarray or CSR matrix of shape (n, d)
    """
    if not issparse(x):
        return RowArrays(frozen(np.ascontiguousarray(x)), NO_INDEX, NO_INDEX)
    # 64-bit indices are rare, and would require another compilation of every loop.
    small = x.nnz < 2**31 and x.shape[1] < 2**31
    kind = np.int32 if small else np.int64
    index, pointer = x.indices.astype(kind, copy=False), x.indptr.astype(kind, copy=False)
    return RowArrays(frozen(np.ascontiguousarray(x.data)), frozen(index), frozen(pointer))
