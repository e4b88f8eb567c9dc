"""LAPACK's and BLAS's functions, called without the GIL, so that threads do not wait for each other.

SciPy's own functions hold the GIL while LAPACK works; ctypes releases it. Their addresses are in the capsules that
SciPy offers to Cython.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, PYFUNCTYPE, c_char_p, c_double, c_float, c_int, c_void_p, py_object, pythonapi
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

_LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
NUMBERS: dict[np.dtype[Any], Any] = {np.dtype(np.float32): c_float, np.dtype(np.float64): c_double}
INT = POINTER(c_int)


@cache
def compiled(library: str, name: str, dtype: np.dtype[Any], *kinds: Any) -> Any:
    """A function of "lapack" or "blas" without the letter of its precision, for arguments of these kinds."""
    capsule = import_module(f"scipy.linalg.cython_{library}").__pyx_capi__[_LETTERS[dtype] + name]
    signature = PYFUNCTYPE(c_char_p, py_object)(("PyCapsule_GetName", pythonapi))(capsule)
    address = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))(capsule, signature)
    return CFUNCTYPE(None, *kinds)(address)
