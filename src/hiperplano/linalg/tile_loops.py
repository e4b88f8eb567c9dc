"""Compiled product of a tile and of its transpose with a few vectors: the tile is read from memory once."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def add_both_products(tile: Array, right: Array, out: Array, row: int, column: int) -> None:
    """out += the parts of a symmetric matrix's product that a tile below the diagonal stands for.

    Parameters
    ----------
    tile : ndarray of shape (a, b)
    right, out : ndarray of shape (vectors, n)
    row, column : int
        Where the tile begins.
    """
    a, b = tile.shape
    for i in range(0, a - a % 4, 4):  # four rows at a time: fewer loads and stores of the sums
        one, two, three, four = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
        for k in range(len(right)):
            across, down = right[k, column : column + b], out[k, column : column + b]
            w, x, y, z = right[k, row + i], right[k, row + i + 1], right[k, row + i + 2], right[k, row + i + 3]
            first = second = third = fourth = tile.dtype.type(0.0)
            for j in range(np.uintp(b)):
                first += one[j] * across[j]
                second += two[j] * across[j]
                third += three[j] * across[j]
                fourth += four[j] * across[j]
                down[j] += w * one[j] + x * two[j] + y * three[j] + z * four[j]
            out[k, row + i] += first
            out[k, row + i + 1] += second
            out[k, row + i + 2] += third
            out[k, row + i + 3] += fourth
    for i in range(a - a % 4, a):
        one = tile[i]
        for k in range(len(right)):
            across, down = right[k, column : column + b], out[k, column : column + b]
            w, first = right[k, row + i], tile.dtype.type(0.0)
            for j in range(np.uintp(b)):
                first += one[j] * across[j]
                down[j] += w * one[j]
            out[k, row + i] += first
