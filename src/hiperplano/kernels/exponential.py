"""Compiled exponentials of numbers not far above 0, which dominate the time of radial kernels.

NumPy takes up to three times as long on processors for which it has no vector code. With x = k·log 2 + r, |r| below
0.35 and an integer k, eˣ is 2ᵏ, whose exponent bits are those of k, times a polynomial in r. The error is about one
unit in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hiperplano.data.block import Array

_COPIED = 2**14  # numbers in a copy, which stays in a core's cache
_FAST = {"contract"}  # other flags would undo the subtraction of k·log 2 in two parts
_INVERSE_LOG_2 = 1 / np.log(2.0)
# Log 2 in two parts; k times the first part is exact.
_HIGH, _LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUND = 1.5 * 2.0**52  # adding this rounds a number to an integer, in the lowest bits
_INVERSE_LOG_2_32 = np.float32(_INVERSE_LOG_2)
_HIGH_32, _LOW_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUND_32 = np.float32(1.5 * 2.0**23)
_ONE_32, _ZERO_32 = np.float32(1.0), np.float32(0.0)

# (eʳ − 1 − r)/r² interpolated at Chebyshev points: eʳ to 2e-17 with ten coefficients, to 1.1e-8 with five.
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = (
    0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717,
    0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06, 2.7620088445409746e-07,
    2.510038549551032e-08,
)  # fmt: skip
_D2, _D3, _D4, _D5, _D6 = map(
    np.float32, (0.5, 0.16666576266288757, 0.041666556149721146, 0.008363178931176662, 0.0013926184037700295)
)


def exponentials(out: Array) -> None:
    """exp of every number of a matrix in place; all numbers are below 80.

    Results that would be subnormal become 0, since subnormal numbers take a hundred times as long in later sums.
    """
    if out.flags.f_contiguous:
        out = out.T
    if out.flags.c_contiguous:
        _fill(out.reshape(-1))
        return
    step = max(1, _COPIED // max(1, out.shape[1]))
    for start in range(0, len(out), step):  # loops over contiguous numbers are vectorised
        copy = out[start : start + step].copy()
        _fill(copy.reshape(-1))
        out[start : start + step] = copy


def _fill(numbers: Array) -> None:
    least = np.log(4.0 * np.finfo(numbers.dtype).tiny)
    if numbers.dtype == np.float32:
        _exponentials_32(numbers, np.float32(least))
    else:
        _exponentials_64(numbers, least)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", inline="always")
def _exponential_64(x: Any, least: Any) -> Any:
    inside = least if x < least else x
    rounded = inside * _INVERSE_LOG_2 + _ROUND
    k = rounded - _ROUND
    power = np.int64((np.float64(rounded).view(np.int64) + 1023) << 52).view(np.float64)
    r = (inside - k * _HIGH) - k * _LOW
    r2 = r * r
    r4 = r2 * r2
    low = (_C2 + _C3 * r) + (_C4 + _C5 * r) * r2
    high = ((_C6 + _C7 * r) + (_C8 + _C9 * r) * r2) + (_C10 + _C11 * r) * r4
    value = (1.0 + (r + r2 * (low + r4 * high))) * power
    return 0.0 if x <= least else value


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy", inline="always")
def _exponential_32(x: Any, least: Any) -> Any:
    inside = least if x < least else x
    rounded = inside * _INVERSE_LOG_2_32 + _ROUND_32
    k = rounded - _ROUND_32
    power = np.int32((np.float32(rounded).view(np.int32) + np.int32(127)) << np.int32(23)).view(np.float32)
    r = (inside - k * _HIGH_32) - k * _LOW_32
    r2 = r * r
    rest = (_D2 + _D3 * r) + r2 * ((_D4 + _D5 * r) + _D6 * r2)
    value = (_ONE_32 + (r + r2 * rest)) * power
    return _ZERO_32 if x <= least else value


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _exponentials_64(x: Array, least: float) -> None:
    for j in range(np.uintp(len(x))):
        x[j] = _exponential_64(x[j], least)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _exponentials_32(x: Array, least: np.float32) -> None:
    for j in range(np.uintp(len(x))):
        x[j] = _exponential_32(x[j], least)
