"""Compiled exponentials of numbers that are not far above 0: a radial kernel spends most of its time on them.

NumPy's take up to twice as long where it does not use the processor's vectors. x = k·log 2 + r, with |r| below 0.35 and
k a whole number: eˣ is 2ᵏ, whose bits are those of k, times a polynomial in r. The error is about one unit in the last
place.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numba import njit

from hiperplano.data.block import Array

_CHUNK = 256  # numbers at a time: what lies between the loops stays in the nearest cache
_FAST = {"contract"}  # more would undo the subtraction of k·log 2 in two parts
_INVERSE_LOG_2 = 1 / np.log(2.0)
_HIGH, _LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # log 2; times k, the first part has no rounding
_HIGH_32, _LOW_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUND, _ROUND_32 = 1.5 * 2.0**52, np.float32(1.5 * 2.0**23)  # added to a number, they round it to a whole one
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (1 / factorial(k) for k in range(2, 14))
_D2, _D3, _D4, _D5, _D6, _D7 = (np.float32(1 / factorial(k)) for k in range(2, 8))
_ONE_32, _ZERO_32, _INVERSE_LOG_2_32 = np.float32(1.0), np.float32(0.0), np.float32(_INVERSE_LOG_2)


def exponentials(out: Array) -> None:
    """exp of every number of a matrix in place, none of which is above 80; 0 for what is too small to have all its
    digits.

    Numbers that have lost digits (subnormal ones) take a hundred times as long in every sum they enter.
    """
    least = np.log(4.0 * np.finfo(out.dtype).tiny)
    if out.dtype == np.float32:
        _exponentials_32(out, np.float32(least))
    else:
        _exponentials_64(out, least)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _round(part: Array, least: Any, inverse: Any, whole: Any, x: Array, rounded: Array) -> None:
    """Copy numbers to x, none below the least, and set the lower bits of `rounded` to k."""
    n = np.uintp(len(part))
    for j in range(n):
        x[j] = part[j]
    for j in range(n):
        value = least if x[j] < least else x[j]
        x[j] = value
        rounded[j] = value * inverse + whole


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _exponentials_64(out: Array, least: float) -> None:
    x, rounded, power = np.empty(_CHUNK), np.empty(_CHUNK), np.empty(_CHUNK, np.int64)
    bits, scale = rounded.view(np.int64), power.view(np.float64)
    for i in range(out.shape[0]):
        for start in range(0, out.shape[1], _CHUNK):
            part = out[i, start : start + _CHUNK]
            n = np.uintp(len(part))
            _round(part, least, _INVERSE_LOG_2, _ROUND, x, rounded)
            for j in range(n):
                power[j] = (bits[j] + 1023) << 52
            for j in range(n):
                k = rounded[j] - _ROUND
                r = (x[j] - k * _HIGH) - k * _LOW
                r2 = r * r
                r4 = r2 * r2
                low = (_C2 + _C3 * r) + (_C4 + _C5 * r) * r2
                middle = (_C6 + _C7 * r) + (_C8 + _C9 * r) * r2
                high = (_C10 + _C11 * r) + (_C12 + _C13 * r) * r2
                value = (1.0 + (r + r2 * (low + r4 * (middle + r4 * high)))) * scale[j]
                x[j] = 0.0 if x[j] <= least else value
            for j in range(n):
                part[j] = x[j]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _exponentials_32(out: Array, least: np.float32) -> None:
    x, rounded = np.empty(_CHUNK, np.float32), np.empty(_CHUNK, np.float32)
    power = np.empty(_CHUNK, np.int32)
    bits, scale = rounded.view(np.int32), power.view(np.float32)
    for i in range(out.shape[0]):
        for start in range(0, out.shape[1], _CHUNK):
            part = out[i, start : start + _CHUNK]
            n = np.uintp(len(part))
            _round(part, least, _INVERSE_LOG_2_32, _ROUND_32, x, rounded)
            for j in range(n):
                power[j] = np.int32(bits[j] + np.int32(127)) << np.int32(23)
            for j in range(n):
                k = rounded[j] - _ROUND_32
                r = (x[j] - k * _HIGH_32) - k * _LOW_32
                r2 = r * r
                rest = (_D2 + _D3 * r) + r2 * ((_D4 + _D5 * r) + (_D6 + _D7 * r) * r2)
                value = (_ONE_32 + (r + r2 * rest)) * scale[j]
                x[j] = _ZERO_32 if x[j] <= least else value
            for j in range(n):
                part[j] = x[j]
