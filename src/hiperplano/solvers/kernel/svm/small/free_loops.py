"""Compiled solution for the free variables of a small machine: one factorisation in place of many small steps."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_MOST = 96  # free variables: more are solved as fast by steps
_SINGULAR = 1e-6  # of the diagonal: what is left of it where rows depend on others, and ten digits of the step


@njit(cache=True, nogil=True)
def settle_free(gram: Array, low: Array, high: Array, width: float, beta: Array, gradient: Array) -> None:
    """Move the free variables to where their slopes are equal, with their sum kept, unless that meets a bound or 0.

    δ = level·K⁻¹1 − K⁻¹g for the free ones, with the level that makes Σδ = 0; g is the gradient and ±width, the slope
    of width·|β|. In place.
    """
    n, m = len(beta), 0
    rows = np.empty(_MOST, dtype=np.intp)
    for i in range(n):
        if low[i] < beta[i] < high[i] and beta[i] != 0.0:
            if m == _MOST:
                return
            rows[m] = i
            m += 1
    if m < 2:
        return
    factor, slope, ones = np.empty((m, m)), np.empty(m), np.ones(m)
    for a in range(m):
        slope[a] = gradient[rows[a]] + width * np.sign(beta[rows[a]])
        for b in range(a + 1):
            factor[a, b] = gram[rows[a], rows[b]]
    if not _factor(factor):
        return
    _solve(factor, slope)
    _solve(factor, ones)
    level = slope.sum() / ones.sum()
    step = level * ones - slope
    step -= step.sum() / m  # what rounding left
    for a in range(m):
        moved = beta[rows[a]] + step[a]
        if not low[rows[a]] < moved < high[rows[a]] or moved * beta[rows[a]] <= 0.0:
            return
    for a in range(m):
        beta[rows[a]] += step[a]
        row = gram[rows[a]]
        for i in range(n):
            gradient[i] += step[a] * row[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, error_model="numpy")
def _factor(matrix: Array) -> bool:
    """The Cholesky factor in the lower half, in place; whether the matrix is positive definite."""
    m = len(matrix)
    for a in range(m):
        whole = matrix[a, a]
        for b in range(a + 1):
            value = matrix[a, b]
            for c in range(b):
                value -= matrix[a, c] * matrix[b, c]
            if a > b:
                matrix[a, b] = value / matrix[b, b]
            elif value <= _SINGULAR * whole:
                return False
            else:
                matrix[a, a] = np.sqrt(value)
    return True


@njit(cache=True, nogil=True)
def _solve(factor: Array, right: Array) -> None:
    """(L·Lᵀ)⁻¹·right, in place."""
    m = len(right)
    for a in range(m):
        for b in range(a):
            right[a] -= factor[a, b] * right[b]
        right[a] /= factor[a, a]
    for a in range(m - 1, -1, -1):
        for b in range(a + 1, m):
            right[a] -= factor[b, a] * right[b]
        right[a] /= factor[a, a]
