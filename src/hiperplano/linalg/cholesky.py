"""Cholesky factors and their solutions by LAPACK, side by side in threads.

SciPy's own functions hold Python's lock while LAPACK works, so that threads wait for each other; ctypes gives it back.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_void_p
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

from hiperplano.data.design import Array

_LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_LOWER = b"U"  # LAPACK counts by columns: for it, the lower half of a matrix by rows is the upper one
_INT = POINTER(c_int)


@cache
def _lapack(name: str, dtype: np.dtype[Any], *kinds: Any) -> Any:
    address = get_cython_function_address("scipy.linalg.cython_lapack", _LETTERS[dtype] + name)
    return CFUNCTYPE(None, *kinds)(address)


def factor_in_place(matrix: Array) -> bool:
    """Put L where the lower half of a matrix was, L·Lᵀ = matrix; whether that is positive definite.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        By rows, in float32 or float64; what lies above the diagonal is not looked at.
    """
    if not matrix.flags.c_contiguous:
        raise ValueError("the matrix must lie in memory row by row")
    n, failed = c_int(len(matrix)), c_int(0)
    if n.value:
        function = _lapack("potrf", matrix.dtype, c_char_p, _INT, c_void_p, _INT, _INT)
        function(_LOWER, byref(n), matrix.ctypes.data, byref(n), byref(failed))
    return failed.value == 0


def solve_factored(factor: Array, right: Array) -> Array:
    """(L·Lᵀ)⁻¹·right, for the factor that `factor_in_place` left.

    Parameters
    ----------
    factor : ndarray of shape (n, n)
    right : ndarray of shape (n, k)
        In the factor's precision.
    """
    found = np.array(right.T, dtype=factor.dtype, order="C")
    n, k, failed = c_int(len(factor)), c_int(len(found)), c_int(0)
    if found.size:
        function = _lapack("potrs", factor.dtype, c_char_p, _INT, _INT, c_void_p, _INT, c_void_p, _INT, _INT)
        arrays = factor.ctypes.data, byref(n), found.ctypes.data, byref(n)
        function(_LOWER, byref(n), byref(k), *arrays, byref(failed))
    return found.T
