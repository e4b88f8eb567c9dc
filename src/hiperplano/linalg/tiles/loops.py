"""Compiled loops over a tile: its products with a few vectors, for which it is read once; and rounding to integers."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def add_both_products(tile: Array, right: Array, out: Array, vectors: Array, row: int, column: int) -> None:
    """out += the parts of a symmetric matrix's product that a tile on or below the diagonal stands for.

    Parameters
    ----------
    tile : ndarray of shape (a, b)
        Of floats, or of integers. Of one on the diagonal only the lower half is read.
    right, out : ndarray of shape (k, n)
        Of floats; `out` may end where the tile's rows do.
    vectors : ndarray of int
        Which of the k vectors to multiply.
    row, column : int
        Where the tile begins.
    """
    a, b = tile.shape
    whole = a - a % 4
    for i in range(0, whole, 4):  # four rows and two vectors at a time: fewer loads and stores of the sums
        width = b if row != column else i
        k = 0
        while k + 1 < len(vectors):
            _add_two(tile, right, out, vectors[k], vectors[k + 1], i, width, row, column)
            k += 2
        if k < len(vectors):
            _add_one(tile, right, out, vectors[k], i, width, row, column)
        if row == column:
            _add_corner(tile, right, out, vectors, i, i + 4, row)
    for i in range(whole, a):
        width = b if row != column else whole
        for k in vectors:
            total = right.dtype.type(0.0)
            for j in range(width):
                total += tile[i, j] * right[k, column + j]
                out[k, column + j] += tile[i, j] * right[k, row + i]
            out[k, row + i] += total
    if row == column:
        _add_corner(tile, right, out, vectors, whole, a, row)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_one(tile: Array, right: Array, out: Array, k: int, i: int, width: int, row: int, column: int) -> None:
    """Of four rows, from the first column to some width."""
    one, two, three, four = tile[i, :width], tile[i + 1, :width], tile[i + 2, :width], tile[i + 3, :width]
    across, down = right[k, column : column + width], out[k, column : column + width]
    w, x, y, z = right[k, row + i], right[k, row + i + 1], right[k, row + i + 2], right[k, row + i + 3]
    first = second = third = fourth = right.dtype.type(0.0)
    for j in range(np.uintp(width)):
        first += one[j] * across[j]
        second += two[j] * across[j]
        third += three[j] * across[j]
        fourth += four[j] * across[j]
        down[j] += w * one[j] + x * two[j] + y * three[j] + z * four[j]
    out[k, row + i] += first
    out[k, row + i + 1] += second
    out[k, row + i + 2] += third
    out[k, row + i + 3] += fourth


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_two(tile: Array, right: Array, out: Array, k: int, m: int, i: int, width: int, row: int, column: int) -> None:
    """The same for two vectors."""
    one, two, three, four = tile[i, :width], tile[i + 1, :width], tile[i + 2, :width], tile[i + 3, :width]
    across, down = right[k, column : column + width], out[k, column : column + width]
    across_m, down_m = right[m, column : column + width], out[m, column : column + width]
    w, x, y, z = right[k, row + i], right[k, row + i + 1], right[k, row + i + 2], right[k, row + i + 3]
    w_m, x_m, y_m, z_m = right[m, row + i], right[m, row + i + 1], right[m, row + i + 2], right[m, row + i + 3]
    first = second = third = fourth = right.dtype.type(0.0)
    first_m = second_m = third_m = fourth_m = right.dtype.type(0.0)
    for j in range(np.uintp(width)):
        p, q, r, s = one[j], two[j], three[j], four[j]
        u, v = across[j], across_m[j]
        first += p * u
        second += q * u
        third += r * u
        fourth += s * u
        first_m += p * v
        second_m += q * v
        third_m += r * v
        fourth_m += s * v
        down[j] += w * p + x * q + y * r + z * s
        down_m[j] += w_m * p + x_m * q + y_m * r + z_m * s
    out[k, row + i] += first
    out[k, row + i + 1] += second
    out[k, row + i + 2] += third
    out[k, row + i + 3] += fourth
    out[m, row + i] += first_m
    out[m, row + i + 1] += second_m
    out[m, row + i + 2] += third_m
    out[m, row + i + 3] += fourth_m


@njit(cache=True, nogil=True, error_model="numpy")
def _add_corner(tile: Array, right: Array, out: Array, vectors: Array, first: int, last: int, start: int) -> None:
    """Of a few rows and the same columns, on the diagonal."""
    for k in vectors:
        for i in range(first, last):
            for j in range(first, last):
                out[k, start + i] += tile[max(i, j), min(i, j)] * right[k, start + j]


@njit(cache=True, nogil=True, error_model="numpy")
def round_to_integers(tile: Array, rows: Array, columns: Array, out: Array) -> None:
    """out = tile·rows·columns, each entry times the factors of its row and column, as the nearest integer that fits."""
    largest = float(np.iinfo(out.dtype).max)
    for i in range(np.uintp(tile.shape[0])):
        for j in range(np.uintp(tile.shape[1])):
            value = np.rint(tile[i, j] * rows[i] * columns[j])
            out[i, j] = int(min(max(value, -largest), largest))
