"""Compiled product of a tile and of its transpose with a few vectors: the tile is read from memory once."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}
_STRIP = 64  # rows that are added in the precision of the tile, before float64: a quarter of the error in float32


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def add_both_products(tile: Array, right: Array, out: Array, vectors: Array, row: int, column: int) -> None:
    """out += the parts of a symmetric matrix's product that a tile on or below the diagonal stands for.

    Four rows and up to two vectors at a time: their sums stay in registers.

    Parameters
    ----------
    tile : ndarray of shape (a, b)
        Of one on the diagonal only the lower half is read.
    right : ndarray of shape (k, n)
        In the tile's precision.
    out : ndarray of shape (k, n)
        In float64; may end where the tile's rows do.
    vectors : ndarray of int
        Which of the k vectors to multiply.
    row, column : int
        Where the tile begins.
    """
    a, b = tile.shape
    down = np.empty((len(vectors), b), dtype=right.dtype)
    for top in range(0, a, _STRIP):
        bottom = min(top + _STRIP, a)
        whole = bottom - (bottom - top) % 4
        down[:] = 0.0
        for i in range(top, whole, 4):
            width = b if row != column else i
            k = 0
            while k + 1 < len(vectors):
                _add_two(tile, right, out, down[k : k + 2], vectors[k : k + 2], i, width, row, column)
                k += 2
            if k < len(vectors):
                _add_one(tile, right, out, down[k], vectors[k], i, width, row, column)
            if row == column:
                _add_corner(tile, right, out, vectors, i, i + 4, row)
        for i in range(whole, bottom):
            for place, k in enumerate(vectors):
                total = 0.0
                for j in range(b if row != column else whole):
                    total += tile[i, j] * right[k, column + j]
                    down[place, j] += tile[i, j] * right[k, row + i]
                out[k, row + i] += total
        if row == column:
            _add_corner(tile, right, out, vectors, whole, bottom, row)
        for place, k in enumerate(vectors):
            for j in range(np.uintp(b)):
                out[k, column + j] += down[place, j]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_one(
    tile: Array, right: Array, out: Array, down: Array, k: int, i: int, width: int, row: int, column: int
) -> None:
    """Of four rows, from the first column to some width, and one vector."""
    one, two, three, four = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
    a, a_down = right[k, column : column + width], down
    a1, a2, a3, a4 = _four(right[k], row + i)
    a_one = a_two = a_three = a_four = right.dtype.type(0.0)
    for j in range(np.uintp(width)):
        p, q, r, s = one[j], two[j], three[j], four[j]
        a_one += p * a[j]
        a_two += q * a[j]
        a_three += r * a[j]
        a_four += s * a[j]
        a_down[j] += a1 * p + a2 * q + a3 * r + a4 * s
    _add_to_four(out[k], row + i, a_one, a_two, a_three, a_four)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_two(
    tile: Array, right: Array, out: Array, down: Array, vectors: Array, i: int, width: int, row: int, column: int
) -> None:
    """The same for two vectors."""
    one, two, three, four = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
    a, a_down = right[vectors[0], column : column + width], down[0]
    a1, a2, a3, a4 = _four(right[vectors[0]], row + i)
    a_one = a_two = a_three = a_four = right.dtype.type(0.0)
    b, b_down = right[vectors[1], column : column + width], down[1]
    b1, b2, b3, b4 = _four(right[vectors[1]], row + i)
    b_one = b_two = b_three = b_four = right.dtype.type(0.0)
    for j in range(np.uintp(width)):
        p, q, r, s = one[j], two[j], three[j], four[j]
        a_one += p * a[j]
        a_two += q * a[j]
        a_three += r * a[j]
        a_four += s * a[j]
        a_down[j] += a1 * p + a2 * q + a3 * r + a4 * s
        b_one += p * b[j]
        b_two += q * b[j]
        b_three += r * b[j]
        b_four += s * b[j]
        b_down[j] += b1 * p + b2 * q + b3 * r + b4 * s
    _add_to_four(out[vectors[0]], row + i, a_one, a_two, a_three, a_four)
    _add_to_four(out[vectors[1]], row + i, b_one, b_two, b_three, b_four)


@njit(cache=True, nogil=True, error_model="numpy")
def _four(values: Array, start: int) -> tuple[float, float, float, float]:
    return values[start], values[start + 1], values[start + 2], values[start + 3]


@njit(cache=True, nogil=True, error_model="numpy")
def _add_to_four(out: Array, start: int, first: float, second: float, third: float, fourth: float) -> None:
    out[start] += first
    out[start + 1] += second
    out[start + 2] += third
    out[start + 3] += fourth


@njit(cache=True, nogil=True, error_model="numpy")
def _add_corner(tile: Array, right: Array, out: Array, vectors: Array, first: int, last: int, start: int) -> None:
    """Of a few rows and the same columns, on the diagonal."""
    for k in vectors:
        for i in range(first, last):
            for j in range(first, last):
                out[k, start + i] += tile[max(i, j), min(i, j)] * right[k, start + j]
