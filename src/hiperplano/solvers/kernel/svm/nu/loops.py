"""Compiled sequential minimal optimisation of a dense problem with two sums that are kept."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_FLAT = 5e-13  # least curvature of a pair in units of its own diagonals: equal rows have none
_LEAST = 1e-100  # the same in units of the largest diagonal, for rows of zeros


@njit(cache=True, nogil=True)
def _worst(slope_sign: float, gradient: Array, side: Array, bound: Array) -> tuple[int, float, float]:
    """The variable whose growth lowers the objective fastest, its slope, and the least slope of those that can fall."""
    first, largest, least = -1, -np.inf, np.inf
    for k in range(len(side)):
        slope = slope_sign * gradient[k]
        if side[k] < bound[k] and slope > largest:
            first, largest = k, slope
        if side[k] > 0.0 and slope < least:
            least = slope
    return first, largest, least


@njit(cache=True, nogil=True)
def _partner(
    slope_sign: float, gradient: Array, side: Array, row: Array, diagonal: Array, first: int, top: float, least: float
) -> tuple[int, float]:
    """The variable to fall with which a step gains most, slope²/curvature, and the length of the step."""
    second, best, length = -1, -1.0, 0.0
    for k in range(len(side)):
        slope = top - slope_sign * gradient[k]
        if side[k] <= 0.0 or slope <= 0.0:
            continue
        both = diagonal[first] + diagonal[k]
        bend = max(both - 2.0 * row[k], _FLAT * both, least)
        if slope * slope / bend > best:
            second, best, length = k, slope * slope / bend, slope / bend
    return second, length


@njit(cache=True, nogil=True)
def smo_of_sides(
    gram: Array, diagonal: Array, gradient: Array, sides: Array, bounds: Array, tol: float, max_steps: int
) -> int:
    """Minimise ½βᵀKβ − tᵀβ over β = sides[0] − sides[1] within the bounds, with both sums kept, in place.

    Each step moves two variables of the same side by the same amount in opposite directions: of the side that violates
    the optimality conditions more, the one whose growth lowers the objective fastest, and the partner with which the
    step gains most.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    gradient : ndarray of shape (n,)
        Kβ − t at the start; updated.
    sides, bounds : ndarray of shape (2, n)
        `sides` are updated.
    tol : float
        Ends when no pair violates the optimality conditions by more.

    Returns
    -------
    int
        Steps.
    """
    least = _LEAST * max(diagonal.max(), 1e-200)
    for steps in range(max_steps):
        first, top, low = _worst(-1.0, gradient, sides[0], bounds[0])
        other, top_below, low_below = _worst(1.0, gradient, sides[1], bounds[1])
        which, slope_sign = 0, -1.0
        if other >= 0 and not top - low >= top_below - low_below:
            which, slope_sign, first, top, low = 1, 1.0, other, top_below, low_below
        if first < 0 or not top - low > tol:
            return steps
        side, row = sides[which], gram[first]
        second, step = _partner(slope_sign, gradient, side, row, diagonal, first, top, least)
        room, below = bounds[which, first] - side[first], side[second]
        step = min(step, room, below)
        side[first] = bounds[which, first] if step == room else side[first] + step
        side[second] = 0.0 if step == below else side[second] - step
        partner = gram[second]
        for k in range(len(gradient)):
            gradient[k] -= slope_sign * step * (row[k] - partner[k])
    return max_steps
