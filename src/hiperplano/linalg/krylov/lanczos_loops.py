"""Compiled Lanczos step: a new direction, orthogonal to all previous ones."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def extend_basis(basis: Array, image: Array, count: int, beside: float) -> tuple[float, float]:
    """basis[count] = `image` orthogonalised against all previous rows and normalised.

    Return its component along the last of these rows, and its norm before normalisation.

    Parameters
    ----------
    basis : ndarray of shape (more than count, d)
        Its first `count` rows are orthonormal.
    beside : float
        Component of the image along the row before the last; 0 if there is none.
    """
    rest, weight = _orthogonalise_to_last_two(basis, image, count, beside)
    for k in range(count - 4, -1, -4):
        _subtract_four(basis, rest, k)
    for k in range(count % 4):
        _subtract_one(basis[k], rest)
    weight += _subtract_one(basis[count - 1], rest)
    return weight, _normalise(rest)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def extend_basis_roughly(basis: Array, single: Array, image: Array, count: int, beside: float) -> tuple[float, float]:
    """The same, orthogonal to about seven digits; `single` is the basis in float32, which is read in half the time.

    The components along rows before the last two are rounding errors, so they need few digits.
    """
    rest, weight = _orthogonalise_to_last_two(basis, image, count, beside)
    length = _normalise(rest)
    unit = rest.astype(np.float32)
    along = np.zeros_like(unit)
    for k in range(count - 4, -1, -4):
        _add_parts_of_four(single, unit, along, k)
    for k in range(count % 4):
        _add_part(single[k], unit, along)
    for j in range(np.uintp(len(rest))):
        rest[j] -= along[j]
    return weight, length * _normalise(rest)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _orthogonalise_to_last_two(basis: Array, image: Array, count: int, beside: float) -> tuple[Array, float]:
    """Write the image minus its components along the last two rows into the next row.

    Return it and its component along the last row.
    """
    rest, last, before = basis[count], basis[count - 1], basis[max(count - 2, 0)]
    for j in range(np.uintp(len(image))):
        rest[j] = image[j] - beside * before[j]
    return rest, _subtract_one(last, rest)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _normalise(rest: Array) -> float:
    """Normalise a vector in place; return its previous norm."""
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
    """Subtract the component along a row from `rest`; return it."""
    along = 0.0
    for j in range(np.uintp(len(rest))):
        along += row[j] * rest[j]
    for j in range(np.uintp(len(rest))):
        rest[j] -= along * row[j]
    return along


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _subtract_four(rows: Array, rest: Array, k: int) -> None:
    """Subtract the components along four rows from `rest`, while these are in the cache."""
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
    """along += the component of `unit` along a row."""
    part = np.float32(0.0)
    for j in range(np.uintp(len(unit))):
        part += row[j] * unit[j]
    for j in range(np.uintp(len(unit))):
        along[j] += part * row[j]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_parts_of_four(rows: Array, unit: Array, along: Array, k: int) -> None:
    """along += the components of `unit` along four rows, while these are in the cache."""
    one, two, three, four = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
    first = second = third = fourth = np.float32(0.0)
    for j in range(np.uintp(len(unit))):
        first += one[j] * unit[j]
        second += two[j] * unit[j]
        third += three[j] * unit[j]
        fourth += four[j] * unit[j]
    for j in range(np.uintp(len(unit))):
        along[j] += first * one[j] + second * two[j] + third * three[j] + fourth * four[j]
