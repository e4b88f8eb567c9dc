"""Compiled product of a tile and its transpose with a few vectors; the tile is read from memory once."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}
# Rows summed in the precision of the tile before they are added in float64; this quarters the error of float32.
_STRIP = 64


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def add_both_products(
    tile: Array, right: Array, out: Array, vectors: Array, row: int, column: int, below: bool
) -> None:
    """Add the contributions of some rows of a tile, on or below the diagonal, to the product of a symmetric matrix.

    Four rows and up to three vectors are processed at a time, so that their sums stay in registers. The rows are a
    quarter of the tile apart, so that each is part of a long sequential read, which the processor prefetches.

    Parameters
    ----------
    tile : ndarray of shape (a, b)
    right : ndarray of shape (k, n)
        In the tile's precision.
    out : ndarray of shape (k, n)
        In float64; may end at the tile's last row.
    vectors : ndarray of int
        Numbers of the vectors to multiply.
    row, column : int
        First row, and first column of the tile.
    below : bool
        Whether to add the transpose, too. A tile on the diagonal holds both halves already.
    """
    a, b = tile.shape
    gap, down = a // 4, np.zeros((len(vectors), b), dtype=right.dtype)
    for top in range(0, gap, _STRIP // 4):
        first = 0
        while first < len(vectors):
            count = _at_a_time(len(vectors) - first, below)
            mine = vectors[first : first + count]
            for i in range(top, min(top + _STRIP // 4, gap)):
                if below and count == 2:
                    _add_two(tile, right, out, down[first : first + 2], mine, i, gap, row, column)
                elif below:
                    _add_one(tile, right, out, down[first], mine[0], i, gap, row, column)
                elif count == 3:
                    _add_rows_of_three(tile, right, out, mine, i, gap, row, column)
                elif count == 2:
                    _add_rows_of_two(tile, right, out, mine, i, gap, row, column)
                else:
                    _add_rows_of_one(tile, right, out, mine[0], i, gap, row, column)
            first += count
        if below:
            _add_and_clear(down, out, vectors, column)
    for i in range(4 * gap, a):
        for place, k in enumerate(vectors):
            out[k, row + i] += _dot(tile[i], right[k, column : column + b])
            if below:
                _add_times(down[place], tile[i], right[k, row + i])
    if below:
        _add_and_clear(down, out, vectors, column)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _dot(row: Array, vector: Array) -> float:
    """Inner products in a loop without writes, so that LLVM can vectorise without checks for aliasing."""
    total = 0.0
    for j in range(np.uintp(len(row))):
        total += row[j] * vector[j]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _add_times(sums: Array, row: Array, factor: float) -> None:
    for j in range(np.uintp(len(row))):
        sums[j] += row[j] * factor


@njit(cache=True, nogil=True, error_model="numpy")
def _at_a_time(left: int, below: bool) -> int:
    """How many of the remaining vectors to process next.

    Three only without the transpose, and if possible never one alone.
    """
    return 3 if not below and (left == 3 or left > 4) else min(left, 2)


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _plus_four(total: float, a: float, p: float, b: float, q: float, c: float, r: float, d: float, s: float) -> float:
    """total + ap + bq + cr + ds, term by term, as four fused multiply-adds.

    Other orders need five instructions or more.
    """
    return (((total + a * p) + b * q) + c * r) + d * s


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_one(
    tile: Array, right: Array, out: Array, down: Array, k: int, i: int, gap: int, row: int, column: int
) -> None:
    """Contributions of four rows and one vector."""
    one, two, three, four = tile[i], tile[i + gap], tile[i + 2 * gap], tile[i + 3 * gap]
    a, a_down = right[k, column : column + tile.shape[1]], down
    a1, a2, a3, a4 = _four(right[k], row + i, gap)
    a_one = a_two = a_three = a_four = right.dtype.type(0.0)
    for j in range(np.uintp(tile.shape[1])):
        p, q, r, s = one[j], two[j], three[j], four[j]
        a_one += p * a[j]
        a_two += q * a[j]
        a_three += r * a[j]
        a_four += s * a[j]
        a_down[j] = _plus_four(a_down[j], a1, p, a2, q, a3, r, a4, s)
    _add_to_four(out[k], row + i, gap, a_one, a_two, a_three, a_four)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_two(
    tile: Array, right: Array, out: Array, down: Array, vectors: Array, i: int, gap: int, row: int, column: int
) -> None:
    """The same for two vectors."""
    one, two, three, four = tile[i], tile[i + gap], tile[i + 2 * gap], tile[i + 3 * gap]
    a, a_down = right[vectors[0], column : column + tile.shape[1]], down[0]
    a1, a2, a3, a4 = _four(right[vectors[0]], row + i, gap)
    a_one = a_two = a_three = a_four = right.dtype.type(0.0)
    b, b_down = right[vectors[1], column : column + tile.shape[1]], down[1]
    b1, b2, b3, b4 = _four(right[vectors[1]], row + i, gap)
    b_one = b_two = b_three = b_four = right.dtype.type(0.0)
    for j in range(np.uintp(tile.shape[1])):
        p, q, r, s = one[j], two[j], three[j], four[j]
        a_one += p * a[j]
        a_two += q * a[j]
        a_three += r * a[j]
        a_four += s * a[j]
        a_down[j] = _plus_four(a_down[j], a1, p, a2, q, a3, r, a4, s)
        b_one += p * b[j]
        b_two += q * b[j]
        b_three += r * b[j]
        b_four += s * b[j]
        b_down[j] = _plus_four(b_down[j], b1, p, b2, q, b3, r, b4, s)
    _add_to_four(out[vectors[0]], row + i, gap, a_one, a_two, a_three, a_four)
    _add_to_four(out[vectors[1]], row + i, gap, b_one, b_two, b_three, b_four)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_rows_of_one(tile: Array, right: Array, out: Array, k: int, i: int, gap: int, row: int, column: int) -> None:
    """Contributions of four rows and one vector, without the transpose."""
    one, two, three, four = tile[i], tile[i + gap], tile[i + 2 * gap], tile[i + 3 * gap]
    a = right[k, column : column + tile.shape[1]]
    a_one = a_two = a_three = a_four = right.dtype.type(0.0)
    for j in range(np.uintp(tile.shape[1])):
        a_one += one[j] * a[j]
        a_two += two[j] * a[j]
        a_three += three[j] * a[j]
        a_four += four[j] * a[j]
    _add_to_four(out[k], row + i, gap, a_one, a_two, a_three, a_four)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_rows_of_two(
    tile: Array, right: Array, out: Array, vectors: Array, i: int, gap: int, row: int, column: int
) -> None:
    """The same for two vectors."""
    one, two, three, four = tile[i], tile[i + gap], tile[i + 2 * gap], tile[i + 3 * gap]
    a, b = (right[vectors[0], column : column + tile.shape[1]], right[vectors[1], column : column + tile.shape[1]])
    a_one = a_two = a_three = a_four = b_one = b_two = b_three = b_four = right.dtype.type(0.0)
    for j in range(np.uintp(tile.shape[1])):
        p, q, r, s = one[j], two[j], three[j], four[j]
        a_one += p * a[j]
        a_two += q * a[j]
        a_three += r * a[j]
        a_four += s * a[j]
        b_one += p * b[j]
        b_two += q * b[j]
        b_three += r * b[j]
        b_four += s * b[j]
    _add_to_four(out[vectors[0]], row + i, gap, a_one, a_two, a_three, a_four)
    _add_to_four(out[vectors[1]], row + i, gap, b_one, b_two, b_three, b_four)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_rows_of_three(
    tile: Array, right: Array, out: Array, vectors: Array, i: int, gap: int, row: int, column: int
) -> None:
    """The same for three vectors."""
    one, two, three, four = tile[i], tile[i + gap], tile[i + 2 * gap], tile[i + 3 * gap]
    stop = column + tile.shape[1]
    a, b, c = right[vectors[0], column:stop], right[vectors[1], column:stop], right[vectors[2], column:stop]
    a_one = a_two = a_three = a_four = b_one = b_two = b_three = b_four = right.dtype.type(0.0)
    c_one = c_two = c_three = c_four = right.dtype.type(0.0)
    for j in range(np.uintp(tile.shape[1])):
        p, q, r, s = one[j], two[j], three[j], four[j]
        a_one += p * a[j]
        a_two += q * a[j]
        a_three += r * a[j]
        a_four += s * a[j]
        b_one += p * b[j]
        b_two += q * b[j]
        b_three += r * b[j]
        b_four += s * b[j]
        c_one += p * c[j]
        c_two += q * c[j]
        c_three += r * c[j]
        c_four += s * c[j]
    _add_to_four(out[vectors[0]], row + i, gap, a_one, a_two, a_three, a_four)
    _add_to_four(out[vectors[1]], row + i, gap, b_one, b_two, b_three, b_four)
    _add_to_four(out[vectors[2]], row + i, gap, c_one, c_two, c_three, c_four)


@njit(cache=True, nogil=True, error_model="numpy")
def _four(values: Array, start: int, gap: int) -> tuple[float, float, float, float]:
    return values[start], values[start + gap], values[start + 2 * gap], values[start + 3 * gap]


@njit(cache=True, nogil=True, error_model="numpy")
def _add_to_four(out: Array, start: int, gap: int, first: float, second: float, third: float, fourth: float) -> None:
    out[start] += first
    out[start + gap] += second
    out[start + 2 * gap] += third
    out[start + 3 * gap] += fourth


@njit(cache=True, nogil=True, error_model="numpy")
def _add_and_clear(down: Array, out: Array, vectors: Array, column: int) -> None:
    """Add the sums over the rows of a strip to the output, and clear them."""
    for place, k in enumerate(vectors):
        for j in range(np.uintp(down.shape[1])):
            out[k, column + j] += down[place, j]
            down[place, j] = 0.0
