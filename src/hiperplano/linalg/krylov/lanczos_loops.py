"""Compiled step of Lanczos: a new direction, orthogonal to all before it."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def extend_basis(
    basis: Array, rows: Array, units: Array, image: Array, count: int, beside: float
) -> tuple[float, float]:
    """basis[count] = a unit vector along what is left of `image` beside all rows before; its parts along the last of
    those and along itself.

    Parameters
    ----------
    basis : ndarray of shape (more than count, d)
        Its first `count` rows are orthonormal.
    rows : ndarray of shape (count, d), units : ndarray of shape (count,)
        The same, maybe as integers times a unit: for what rounding leaves of the image along rows before the last two.
    beside : float
        The image's part along the row before the last; 0 if there is none.
    """
    rest, last, before = basis[count], basis[count - 1], basis[max(count - 2, 0)]
    for j in range(np.uintp(len(image))):
        rest[j] = image[j] - beside * before[j]
    weight = _subtract_one(last, 1.0, rest)
    for k in range(count - 4, -1, -4):
        _subtract_four(rows, units, rest, k)
    for k in range(count % 4):
        _subtract_one(rows[k], units[k], rest)
    weight += _subtract_one(last, 1.0, rest)
    square = 0.0
    for j in range(np.uintp(len(rest))):
        square += rest[j] * rest[j]
    length = np.sqrt(square)
    inverse = 1.0 / length if length > 0 else 0.0
    for j in range(np.uintp(len(rest))):
        rest[j] *= inverse
    return weight, length


@njit(cache=True, nogil=True, error_model="numpy")
def round_row(row: Array, out: Array) -> float:
    """Write a row as integers times a unit, and return that."""
    largest = 0.0
    for j in range(np.uintp(len(row))):
        largest = max(largest, abs(row[j]))
    unit = largest / np.iinfo(out.dtype).max
    inverse = 1.0 / unit if unit > 0 else 0.0
    for j in range(np.uintp(len(row))):
        out[j] = int(np.rint(row[j] * inverse))
    return unit


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _subtract_one(row: Array, unit: float, rest: Array) -> float:
    """Take the part of row·unit from `rest`, and return it."""
    along = 0.0
    for j in range(np.uintp(len(rest))):
        along += row[j] * rest[j]
    along *= unit
    for j in range(np.uintp(len(rest))):
        rest[j] -= along * unit * row[j]
    return along


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _subtract_four(rows: Array, units: Array, rest: Array, k: int) -> None:
    """Take the parts of four rows from `rest`, while they are in the cache."""
    one, two, three, four = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
    first = second = third = fourth = 0.0
    for j in range(np.uintp(len(rest))):
        first += one[j] * rest[j]
        second += two[j] * rest[j]
        third += three[j] * rest[j]
        fourth += four[j] * rest[j]
    first, second = first * units[k] ** 2, second * units[k + 1] ** 2
    third, fourth = third * units[k + 2] ** 2, fourth * units[k + 3] ** 2
    for j in range(np.uintp(len(rest))):
        rest[j] -= first * one[j] + second * two[j] + third * three[j] + fourth * four[j]
