"""Compiled step of Lanczos: a new direction, orthogonal to all before it."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def extend_basis(basis: Array, rows: Array, image: Array, count: int, beside: float) -> tuple[float, float]:
    """basis[count] = a unit vector along what is left of `image` beside all rows before; its parts along the last of
    those and along itself.

    Parameters
    ----------
    basis : ndarray of shape (more than count, d)
        Its first `count` rows are orthonormal.
    rows : ndarray of the same shape
        The same, maybe in float32, for what rounding leaves of the image along rows before the last two.
    beside : float
        The image's part along the row before the last; 0 if there is none.
    """
    rest, last, before = basis[count], basis[count - 1], basis[max(count - 2, 0)]
    for j in range(np.uintp(len(image))):
        rest[j] = image[j] - beside * before[j]
    weight = _subtract_one(last, rest)
    for k in range(count - 4, -1, -4):
        _subtract_four(rows, rest, k)
    for k in range(count % 4):
        _subtract_one(rows[k], rest)
    weight += _subtract_one(last, rest)
    square = 0.0
    for j in range(np.uintp(len(rest))):
        square += rest[j] * rest[j]
    length = np.sqrt(square)
    inverse = 1.0 / length if length > 0 else 0.0
    for j in range(np.uintp(len(rest))):
        rest[j] *= inverse
    return weight, length


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _subtract_one(row: Array, rest: Array) -> float:
    """Take a row's part from `rest`, and return it."""
    along = 0.0
    for j in range(np.uintp(len(rest))):
        along += row[j] * rest[j]
    for j in range(np.uintp(len(rest))):
        rest[j] -= along * row[j]
    return along


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _subtract_four(rows: Array, rest: Array, k: int) -> None:
    """Take the parts of four rows from `rest`, while they are in the cache."""
    one, two, three, four = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
    first = second = third = fourth = 0.0
    for j in range(np.uintp(len(rest))):
        first += one[j] * rest[j]
        second += two[j] * rest[j]
        third += three[j] * rest[j]
        fourth += four[j] * rest[j]
    for j in range(np.uintp(len(rest))):
        rest[j] -= first * one[j] + second * two[j] + third * three[j] + fourth * four[j]
