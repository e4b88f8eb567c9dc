"""Compiled solution for the free variables of a small machine: a factorisation replaces many SMO steps."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_SINGULAR = 1e-11  # a pivot below this share of its diagonal entry belongs to a linearly dependent row
_REFINED = 2  # solves with one factor: the second is a step of iterative refinement
# Work is counted in thirds of a multiplication, so that a Cholesky factorisation of size m counts m³.
PER_UPDATE = 3  # updating the gradient by one variable, for each row
MOST_MET = 8  # most steps in sequence, each of which ends at a bound


@njit(cache=True, nogil=True)
def settle_free(gram: Array, low: Array, high: Array, width: float, beta: Array, gradient: Array) -> int:
    """Move the free variables to where their slopes are equal, with their sum kept, as far as bounds and 0 allow.

    A step that would leave the bounds ends at the first of them, whose variable is then no longer free, and another
    follows. In place; returns what it cost: the cube of how many are free for a factorisation, and their updates.
    """
    n, work = len(beta), 0
    for _ in range(MOST_MET):
        m = 0
        for i in range(n):
            m += low[i] < beta[i] < high[i] and beta[i] != 0.0
        rows, slope, room = np.empty(m, dtype=np.intp), np.empty(m), np.empty((2, m))
        m = 0
        for i in range(n):
            if low[i] < beta[i] < high[i] and beta[i] != 0.0:
                rows[m], slope[m] = i, gradient[i] + width * np.sign(beta[i])
                room[0, m] = beta[i] - (max(low[i], 0.0) if beta[i] > 0.0 else low[i])
                room[1, m] = (high[i] if beta[i] > 0.0 else min(high[i], 0.0)) - beta[i]
                m += 1
        step, first = free_step(gram, rows, np.zeros(m, dtype=np.bool_), slope, room)
        work += m**3 + PER_UPDATE * m * n
        for a in range(m):
            i = rows[a]
            if step[a] == 0.0:
                continue
            for k in range(n):
                gradient[k] += step[a] * gram[i, k]
            if a != first:
                beta[i] += step[a]
            elif step[a] > 0.0:
                beta[i] = high[i] if beta[i] > 0.0 else min(high[i], 0.0)
            else:
                beta[i] = max(low[i], 0.0) if beta[i] > 0.0 else low[i]
        if first < 0:
            break
    return work


@njit(cache=True, nogil=True)
def free_step(gram: Array, rows: Array, second: Array, slope: Array, room: Array) -> tuple[Array, int]:
    """The step of free variables to where the slopes of each of two groups are equal, with the groups' sums kept.

    δ = level·K⁻¹1 − K⁻¹slope, with a level for each group that makes its Σδ = 0. Variables whose rows depend on those
    of others stay: their slopes follow.

    Parameters
    ----------
    rows : ndarray of int of shape (m,)
        Of the free variables.
    second : ndarray of bool of shape (m,)
        Which of them are in the second group.
    slope : ndarray of shape (m,)
        Of the objective; changed.
    room : ndarray of shape (2, m)
        How far each of them may fall, and grow.

    Returns
    -------
    step : ndarray of shape (m,)
        As far as the bounds allow.
    first : int
        Which variable meets its bound, so that it can go no further; −1 if none does.
    """
    m = len(rows)
    step = np.zeros(m)
    if m < 2:
        return step, -1
    part, factor = np.empty((m, m)), np.empty((m, m))
    for a in range(m):
        for b in range(m):
            part[a, b] = factor[a, b] = gram[rows[a], rows[b]]
    kept = _factor(factor)
    ones, others = np.where(second, 0.0, 1.0), np.where(second, 1.0, 0.0)
    _solve(factor, kept, ones)
    _solve(factor, kept, others)
    for _ in range(_REFINED):
        solved = slope + part @ step
        _solve(factor, kept, solved)
        step += _balanced(solved, ones, others, second)
    for group in (False, True):  # what rounding left of their sums
        off, count = 0.0, 0
        for a in range(m):
            if second[a] == group and kept[a]:
                off, count = off + step[a], count + 1
        for a in range(m):
            if second[a] == group and kept[a]:
                step[a] = step[a] - off / count if count > 1 else 0.0
    share, first = 1.0, -1
    if not np.isfinite(step).all():  # bounds so far apart that no step is a number
        return np.zeros(m), -1
    for a in range(m):
        space = room[1, a] if step[a] > 0.0 else room[0, a]
        if abs(step[a]) * share >= space:
            share, first = space / abs(step[a]), a
    return share * step, first


@njit(cache=True, nogil=True)
def _balanced(solved: Array, ones: Array, others: Array, second: Array) -> Array:
    """−K⁻¹slope with the multiples of K⁻¹1 that make the sum of each group 0."""
    own, shared, other, left, right = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(len(solved)):
        if second[a]:
            other, right = other + others[a], right + solved[a]
        else:
            own, shared, left = own + ones[a], shared + others[a], left + solved[a]
    if other == 0.0:
        return (left / own if own > 0.0 else 0.0) * ones - solved
    if own == 0.0:
        return right / other * others - solved
    apart = own * other - shared * shared
    if apart <= 0.0:
        return np.zeros(len(solved))
    return (other * left - shared * right) / apart * ones + (own * right - shared * left) / apart * others - solved


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, error_model="numpy")
def _factor(matrix: Array) -> Array:
    """The Cholesky factor in the lower half, in place, without rows that depend on those before: which are kept."""
    m = len(matrix)
    kept = np.ones(m, dtype=np.bool_)
    for a in range(m):
        whole = matrix[a, a]
        for b in range(a + 1):
            value = matrix[a, b]
            for c in range(b):
                value -= matrix[a, c] * matrix[b, c]
            if a > b:
                matrix[a, b] = value / matrix[b, b] if kept[b] else 0.0
            elif value <= _SINGULAR * whole:
                kept[a] = False
                matrix[a, : a + 1] = 0.0
            else:
                matrix[a, a] = np.sqrt(value)
    return kept


@njit(cache=True, nogil=True)
def _solve(factor: Array, kept: Array, right: Array) -> None:
    """(L·Lᵀ)⁻¹·right, in place; 0 for what is not kept."""
    m = len(right)
    for a in range(m):
        for b in range(a):
            right[a] -= factor[a, b] * right[b]
        right[a] = right[a] / factor[a, a] if kept[a] else 0.0
    for a in range(m - 1, -1, -1):
        right[a] = right[a] / factor[a, a] if kept[a] else 0.0
        for b in range(a):
            right[b] -= factor[a, b] * right[a]
