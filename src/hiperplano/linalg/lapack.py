"""LAPACK's and BLAS's functions, called without the GIL, so that threads do not wait for each other.

SciPy's own functions hold the GIL while LAPACK works; ctypes releases it.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, c_double, c_float, c_int
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

_LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
NUMBERS: dict[np.dtype[Any], Any] = {np.dtype(np.float32): c_float, np.dtype(np.float64): c_double}
INT = POINTER(c_int)


@cache
def compiled(library: str, name: str, dtype: np.dtype[Any], *kinds: Any) -> Any:
    """A function of "lapack" or "blas" without the letter of its precision, for arguments of these kinds."""
    address = get_cython_function_address(f"scipy.linalg.cython_{library}", _LETTERS[dtype] + name)
    return CFUNCTYPE(None, *kinds)(address)
