"""Cholesky factors and solves by LAPACK, concurrently in threads.

LAPACK is column-major: it sees the lower half of a row-major matrix as an upper half.
"""

from __future__ import annotations

from ctypes import POINTER, byref, c_char_p, c_int, c_void_p
from functools import partial

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.linalg.lapack.functions import INT, NUMBERS, compiled

_BLOCK = 512  # block size for one thread; products of smaller blocks would be slower
_FEW = 1024  # up to this number of rows, threads are not worth it
_UPPER, _LEFT, _TURNED, _AS_IT_IS = b"U", b"L", b"T", b"N"


def factor_in_place(matrix: Array) -> bool:
    """Replace the lower half of a matrix by L with L·Lᵀ = matrix; return whether it is positive definite.

    The result does not depend on the number of threads, to the last bit.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Row-major, in float32 or float64. Entries above the diagonal are ignored, and may be overwritten.
    """
    if not matrix.flags.c_contiguous:
        raise ValueError("the matrix must lie in memory row by row")
    n = len(matrix)
    step = _BLOCK if n > _FEW else max(n, 1)
    blocks = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    for number, own in enumerate(blocks):
        if not _factor_corner(matrix[own, own]):
            return False
        below, n_cells = blocks[number + 1 :], (n - own.stop) ** 2
        pairs = [(rows, columns) for place, rows in enumerate(below) for columns in below[: place + 1]]
        in_threads(partial(_divide, matrix, own), below, n_cells)
        in_threads(partial(_subtract, matrix, own), pairs, n_cells)
    return True


def _factor_corner(corner: Array) -> bool:
    size, apart, failed = c_int(len(corner)), _apart(corner), c_int(0)
    function = compiled("lapack", "potrf", corner.dtype, c_char_p, INT, c_void_p, INT, INT)
    function(_UPPER, byref(size), corner.ctypes.data, byref(apart), byref(failed))
    return failed.value == 0


def _divide(matrix: Array, own: slice, below: slice) -> None:
    """Multiply some rows below a corner by L⁻ᵀ of the corner's factor (TRSM)."""
    corner, rows = matrix[own, own], matrix[below, own]
    number = NUMBERS[matrix.dtype]
    kinds = (*[c_char_p] * 4, INT, INT, POINTER(number), c_void_p, INT, c_void_p, INT)
    height, width, one, apart = c_int(len(rows)), c_int(len(corner)), number(1.0), _apart(matrix)
    compiled("blas", "trsm", matrix.dtype, *kinds)(
        *(_LEFT, _UPPER, _TURNED, _AS_IT_IS, byref(width), byref(height), byref(one)),
        *(corner.ctypes.data, byref(apart), rows.ctypes.data, byref(apart)),
    )


def _subtract(matrix: Array, own: slice, pair: tuple[slice, slice]) -> None:
    """Subtract the product of the panels `own` from a block."""
    rows, columns = pair
    matrix[rows, columns] -= matrix[rows, own] @ matrix[columns, own].T


def _apart(part: Array) -> c_int:
    """Leading dimension of a part of a matrix: the distance of its rows, in entries."""
    return c_int(part.strides[0] // part.itemsize)


def solve_factored(factor: Array, right: Array) -> Array:
    """(L·Lᵀ)⁻¹·right, for a factor computed by `factor_in_place`.

    Parameters
    ----------
    factor : ndarray of shape (n, n)
    right : ndarray of shape (n, k)
        In the factor's precision.
    """
    found = np.array(right.T, dtype=factor.dtype, order="C")
    n, k, failed = c_int(len(factor)), c_int(len(found)), c_int(0)
    if found.size:
        function = compiled("lapack", "potrs", factor.dtype, c_char_p, INT, INT, c_void_p, INT, c_void_p, INT, INT)
        arrays = factor.ctypes.data, byref(n), found.ctypes.data, byref(n)
        function(_UPPER, byref(n), byref(k), *arrays, byref(failed))
    return found.T
