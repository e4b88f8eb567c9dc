"""Compiled step of Lanczos: a new direction, orthogonal to all before it."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def extend_basis(basis: Array, image: Array, count: int, beside: float) -> tuple[float, float]:
    """basis[count] = a unit vector along what is left of `image` beside all rows before; its parts along the last of
    those and along itself.

    Parameters
    ----------
    basis : ndarray of shape (more than count, d)
        Its first `count` rows are orthonormal.
    beside : float
        The image's part along the row before the last; 0 if there is none.
    """
    rest, weight = _beside_the_last(basis, image, count, beside)
    for k in range(count - 4, -1, -4):
        _subtract_four(basis, rest, k)
    for k in range(count % 4):
        _subtract_one(basis[k], rest)
    weight += _subtract_one(basis[count - 1], rest)
    return weight, _scale_to_one(rest)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def extend_basis_roughly(basis: Array, single: Array, image: Array, count: int, beside: float) -> tuple[float, float]:
    """The same, orthogonal to about seven digits: `single` is the basis in float32, which is read in half the time.

    What is subtracted along the rows before the last two is itself rounding, so it needs few digits.
    """
    rest, weight = _beside_the_last(basis, image, count, beside)
    length = _scale_to_one(rest)
    unit = rest.astype(np.float32)
    along = np.zeros_like(unit)
    for k in range(count - 4, -1, -4):
        _add_parts_of_four(single, unit, along, k)
    for k in range(count % 4):
        _add_part(single[k], unit, along)
    for j in range(np.uintp(len(rest))):
        rest[j] -= along[j]
    return weight, length * _scale_to_one(rest)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _beside_the_last(basis: Array, image: Array, count: int, beside: float) -> tuple[Array, float]:
    """What is left of the image beside the last two rows, in place of the next; and its part along the last."""
    rest, last, before = basis[count], basis[count - 1], basis[max(count - 2, 0)]
    for j in range(np.uintp(len(image))):
        rest[j] = image[j] - beside * before[j]
    return rest, _subtract_one(last, rest)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _scale_to_one(rest: Array) -> float:
    """Give it length 1, and return the length it had."""
    square = 0.0
    for j in range(np.uintp(len(rest))):
        square += rest[j] * rest[j]
    length = np.sqrt(square)
    inverse = 1.0 / length if length > 0 else 0.0
    for j in range(np.uintp(len(rest))):
        rest[j] *= inverse
    return length


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


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_part(row: Array, unit: Array, along: Array) -> None:
    """along += the part of `unit` along a row."""
    part = np.float32(0.0)
    for j in range(np.uintp(len(unit))):
        part += row[j] * unit[j]
    for j in range(np.uintp(len(unit))):
        along[j] += part * row[j]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_parts_of_four(rows: Array, unit: Array, along: Array, k: int) -> None:
    """along += the parts of `unit` along four rows, while they are in the cache."""
    one, two, three, four = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
    first = second = third = fourth = np.float32(0.0)
    for j in range(np.uintp(len(unit))):
        first += one[j] * unit[j]
        second += two[j] * unit[j]
        third += three[j] * unit[j]
        fourth += four[j] * unit[j]
    for j in range(np.uintp(len(unit))):
        along[j] += first * one[j] + second * two[j] + third * three[j] + fourth * four[j]
