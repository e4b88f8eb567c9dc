"""Compiled product of normal equations with a few vectors: every row is read from memory once."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FAST = {"reassoc", "contract", "nsz"}
_BLOCK = 256  # rows whose sums are accumulated in the precision of the rows, while these are in the cache


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def add_normal_product(rows: Array, weight: Array, right: Array, constant: Array, out: Array) -> None:
    """out += (A, 1)ᵀ·W·(A·right + constant), for the rows A.

    Parameters
    ----------
    rows : ndarray of shape (n, r)
    weight : ndarray of shape (n,)
    right : ndarray of shape (k, r)
    constant : ndarray of shape (k,)
    out : ndarray of shape (k, r + 1)
        In float64.
    """
    n, r = rows.shape
    part = np.empty(r, dtype=rows.dtype)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        whole = stop - (stop - start) % 4
        for k in range(len(right)):
            part[:] = 0.0
            total = 0.0
            for i in range(start, whole, 4):
                total += _add_four(rows, weight, right[k], constant[k], part, i)
            for i in range(whole, stop):
                score = constant[k]
                for j in range(r):
                    score += rows[i, j] * right[k, j]
                score *= weight[i]
                for j in range(r):
                    part[j] += score * rows[i, j]
                total += score
            for j in range(r):
                out[k, j] += part[j]
            out[k, r] += total


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_four(rows: Array, weight: Array, right: Array, constant: float, part: Array, i: int) -> float:
    """Add the contributions of four rows, while these are in the cache; return the sum of their scores."""
    one, two, three, four = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
    first = second = third = fourth = rows.dtype.type(0.0)
    for j in range(np.uintp(len(right))):
        first += one[j] * right[j]
        second += two[j] * right[j]
        third += three[j] * right[j]
        fourth += four[j] * right[j]
    first = (first + constant) * weight[i]
    second = (second + constant) * weight[i + 1]
    third = (third + constant) * weight[i + 2]
    fourth = (fourth + constant) * weight[i + 3]
    for j in range(np.uintp(len(right))):
        part[j] += first * one[j] + second * two[j] + third * three[j] + fourth * four[j]
    return first + second + third + fourth
