"""Compiled solve for the free variables of a small machine: one factorisation replaces many SMO steps."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import subroutine

_SINGULAR = 1e-11  # a pivot below this share of its diagonal entry belongs to a linearly dependent row
_REFINED = 2  # solves with one factor: the second is a step of iterative refinement
# Work is counted in thirds of a multiplication, so that a Cholesky factorisation of size m counts as m³.
PER_UPDATE = 3  # updating the gradient by one variable, for each row
MOST_MET = 8  # most consecutive steps that each end at a bound


@subroutine
def settle_free(gram: Array, low: Array, high: Array, width: float, beta: Array, gradient: Array) -> int:
    """Move the free variables to where their slopes are equal, with their sum fixed, as far as the bounds and 0 allow.

    A step that would leave the bounds ends at the first bound it meets. That variable is then no longer free, and
    another step follows. Works in place. Returns the work: the cube of the number of free variables for a
    factorisation, plus updates.
    """
    n, work = len(beta), 0
    for _ in range(MOST_MET):
        m = 0
        for i in range(n):
            m += low[i] < beta[i] < high[i] and beta[i] != 0.0
        rows, second = np.empty(m, dtype=np.intp), np.empty(m, dtype=np.bool_)
        slope, room = np.empty(m), np.empty((2, m))
        m = 0
        for i in range(n):
            if low[i] < beta[i] < high[i] and beta[i] != 0.0:
                rows[m], second[m], slope[m] = i, False, gradient[i] + (width if beta[i] > 0.0 else -width)
                room[0, m] = beta[i] - (max(low[i], 0.0) if beta[i] > 0.0 else low[i])
                room[1, m] = (high[i] if beta[i] > 0.0 else min(high[i], 0.0)) - beta[i]
                m += 1
        step, first = free_step(gram, rows, second, slope, room)
        work += m * m * m + PER_UPDATE * m * n
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


@subroutine
def free_step(gram: Array, rows: Array, second: Array, slope: Array, room: Array) -> tuple[Array, int]:
    """The step of the free variables to where the slopes of each of two groups are equal, with the groups' sums fixed.

    δ = level·K⁻¹1 − K⁻¹slope, with one level for each group that makes its Σδ = 0. Variables with linearly dependent
    rows do not move, since their slopes follow from the others.

    Parameters
    ----------
    rows : ndarray of int of shape (m,)
        Rows of the free variables.
    second : ndarray of bool of shape (m,)
        Which free variables are in the second group.
    slope : ndarray of shape (m,)
        Slopes of the objective; modified in place.
    room : ndarray of shape (2, m)
        How far each variable may fall, and grow.

    Returns
    -------
    step : ndarray of shape (m,)
        The step, shortened to stay within the bounds.
    first : int
        The variable that reaches its bound; −1 if none does.
    """
    m = len(rows)
    step = np.empty(m)
    for a in range(m):
        step[a] = 0.0
    if m < 2:
        return step, -1
    part, factor = np.empty((m, m)), np.empty((m, m))
    for a in range(m):
        for b in range(m):
            part[a, b] = factor[a, b] = gram[rows[a], rows[b]]
    kept = _factor(factor)
    ones, others, solved = np.empty(m), np.empty(m), np.empty(m)
    for a in range(m):
        ones[a], others[a] = (0.0, 1.0) if second[a] else (1.0, 0.0)
    _solve(factor, kept, ones)
    _solve(factor, kept, others)
    for _ in range(_REFINED):
        for a in range(m):
            value = slope[a]
            for b in range(m):
                value += part[a, b] * step[b]
            solved[a] = value
        _solve(factor, kept, solved)
        _add_balanced(step, solved, ones, others, second)
    for group in (False, True):  # remove the rounding error of the groups' sums
        off, count = 0.0, 0
        for a in range(m):
            if second[a] == group and kept[a]:
                off, count = off + step[a], count + 1
        for a in range(m):
            if second[a] == group and kept[a]:
                step[a] = step[a] - off / count if count > 1 else 0.0
    share, first = 1.0, -1
    for a in range(m):
        if not np.isfinite(step[a]):  # bounds are so far apart that the step overflows
            for b in range(m):
                step[b] = 0.0
            return step, -1
        space = room[1, a] if step[a] > 0.0 else room[0, a]
        if abs(step[a]) * share >= space:
            share, first = space / abs(step[a]), a
    for a in range(m):
        step[a] *= share
    return step, first


@subroutine
def _add_balanced(step: Array, solved: Array, ones: Array, others: Array, second: Array) -> None:
    """Add −K⁻¹slope, plus the multiples of K⁻¹1 that make the sum of each group 0, to the step."""
    own, shared, other, left, right = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(len(solved)):
        if second[a]:
            other, right = other + others[a], right + solved[a]
        else:
            own, shared, left = own + ones[a], shared + others[a], left + solved[a]
    level, other_level, apart = 0.0, 0.0, own * other - shared * shared
    if other == 0.0:
        level = left / own if own > 0.0 else 0.0
    elif own == 0.0:
        other_level = right / other
    elif apart <= 0.0:
        return
    else:
        level, other_level = (other * left - shared * right) / apart, (own * right - shared * left) / apart
    for a in range(len(step)):
        step[a] += level * ones[a] + other_level * others[a] - solved[a]


@subroutine
def _factor(matrix: Array) -> Array:
    """Cholesky factorisation of the lower half in place, skipping rows that depend on earlier ones.

    Return the rows kept.
    """
    m = len(matrix)
    kept = np.empty(m, dtype=np.bool_)
    for a in range(m):
        kept[a], whole = True, matrix[a, a]
        for b in range(a + 1):
            value = matrix[a, b]
            for c in range(b):
                value -= matrix[a, c] * matrix[b, c]
            if a > b:
                matrix[a, b] = value / matrix[b, b] if kept[b] else 0.0
            elif value <= _SINGULAR * whole:
                kept[a] = False
                for c in range(a + 1):
                    matrix[a, c] = 0.0
            else:
                matrix[a, a] = np.sqrt(value)
    return kept


@subroutine
def _solve(factor: Array, kept: Array, right: Array) -> None:
    """Solve with L·Lᵀ in place; the result is 0 in skipped rows."""
    m = len(right)
    for a in range(m):
        for b in range(a):
            right[a] -= factor[a, b] * right[b]
        right[a] = right[a] / factor[a, a] if kept[a] else 0.0
    for a in range(m - 1, -1, -1):
        right[a] = right[a] / factor[a, a] if kept[a] else 0.0
        for b in range(a):
            right[b] -= factor[a, b] * right[a]
