"""Compiled sums and gathers over cached rows of a Gram matrix."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def add_rows(held: Array, slots: Array, factors: Array, out: Array, start: int) -> None:
    """out += Σ factor·row, summed in float64; `out` holds the columns from `start` on."""
    n, fours = len(out), len(slots) - len(slots) % 4
    for place in range(0, fours, 4):  # four rows at a time need fewer loads and stores of the sums
        one, two = held[slots[place], start : start + n], held[slots[place + 1], start : start + n]
        three, four = held[slots[place + 2], start : start + n], held[slots[place + 3], start : start + n]
        w, x, y, z = factors[place], factors[place + 1], factors[place + 2], factors[place + 3]
        for k in range(n):
            first = w * np.float64(one[k]) + x * np.float64(two[k])
            out[k] += first + (y * np.float64(three[k]) + z * np.float64(four[k]))
    for place in range(fours, len(slots)):
        row, factor = held[slots[place], start : start + n], factors[place]
        for k in range(n):
            out[k] += factor * np.float64(row[k])


@njit(cache=True, nogil=True)
def gather(held: Array, slots: Array, columns: Array, out: Array) -> None:
    """out[a, b] = held[slots[a], columns[b]]."""
    for place in range(len(slots)):
        row = held[slots[place]]
        for k in range(len(columns)):
            out[place, k] = row[columns[k]]


@njit(cache=True, nogil=True)
def put_tile(gram: Array, rows: Array, mirrored: Array, start: int, tile: Array) -> None:
    """Write a tile into some rows, from column `start` on, and its transpose into the rows of the mirrored columns."""
    for a in range(tile.shape[0]):
        row = gram[rows[a]]
        for b in range(tile.shape[1]):
            row[start + b] = tile[a, b]
    for b in range(tile.shape[1]):
        if mirrored[start + b]:
            row = gram[start + b]
            for a in range(tile.shape[0]):
                row[rows[a]] = tile[a, b]


@njit(cache=True, nogil=True, error_model="numpy")
def split(tile: Array, rounded: Array, rest: Array, top: int, left: int, per_unit: float) -> None:
    """Split a tile into float32 values and their rounding errors, in units."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            rounded[top + i, left + j] = tile[i, j]
            rest[top + i, left + j] = np.rint((tile[i, j] - np.float64(rounded[top + i, left + j])) * per_unit)


@njit(cache=True, nogil=True)
def drop_tiny(gram: Array, least: float) -> None:
    """Set values below `least` to 0."""
    flat = gram.reshape(gram.size)
    for k in range(len(flat)):
        flat[k] = 0.0 if abs(flat[k]) < least else flat[k]
