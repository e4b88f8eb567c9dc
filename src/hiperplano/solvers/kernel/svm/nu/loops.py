"""Compiled SMO for dense dual problems with two equality constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import loop, part, subroutine
from hiperplano.solvers.kernel.svm.dual_problem import CLOSED
from hiperplano.solvers.kernel.svm.smo.loops import (
    ASKED,
    BLOCK,
    ENOUGH,
    FLAT,
    LEAST,
    LEAST_RANKED,
    best_there,
    larger,
    smaller,
)


@subroutine
def _descend(
    gradient: Array, step: float, row: Array, other: Array, up: Array, down: Array, start: Any, stop: Any
) -> tuple[float, float, float, float]:
    """gradient += step·(row − other). Return the best slopes for growing and falling p (−gradient) and m (gradient)."""
    best, worst, best_below, worst_below = -2 * CLOSED, 2 * CLOSED, -2 * CLOSED, 2 * CLOSED
    for k in range(start, stop):
        now = gradient[k] + step * (np.float64(row[k]) - np.float64(other[k]))
        gradient[k] = now
        best, worst = larger(best, up[0, k] - now), smaller(worst, down[0, k] - now)
        best_below, worst_below = larger(best_below, up[1, k] + now), smaller(worst_below, down[1, k] + now)
    return best, worst, best_below, worst_below


@subroutine
def _rank_partners(
    gains: Array,
    gradient: Array,
    sign: float,
    down: Array,
    row: Array,
    diagonal: Array,
    top: float,
    own: float,
    per_slope: float,
    per_bend: float,
    start: Any,
    stop: Any,
) -> np.float32:
    """gains = slope² / curvature of the pair with each variable that may fall, in units of `per_…`; return the largest.

    Slopes are down − sign·gradient.
    """
    largest = np.float32(-1.0)
    for k in range(start, stop):
        slope = larger(np.float32((top - down[k] + sign * gradient[k]) * per_slope), np.float32(0.0))
        both = own + diagonal[k]
        bend = larger(both - 2.0 * np.float64(row[k]), FLAT * both)
        gains[k] = slope * slope / larger(np.float32(bend * per_bend), LEAST_RANKED)
        largest = larger(largest, gains[k])
    return largest


@part
def _open(value: float, bound: float) -> tuple[float, float]:
    """Whether a variable can grow, and whether it can fall: 0 if it can, closed otherwise."""
    return 0.0 if value < bound else -CLOSED, 0.0 if value > 0.0 else CLOSED


@loop
def smo_of_all_rows(
    gram: Array, diagonal: Array, gradient: Array, sides: Array, bounds: Array, tol: float, max_steps: int
) -> tuple[int, float]:
    """`smo_of_sides` with a complete Gram matrix."""
    there = np.ones(len(gram), dtype=np.uint8)
    return smo_of_sides(gram, there, diagonal, gradient, sides, bounds, tol, max_steps)


@subroutine
def smo_of_sides(
    gram: Array,
    there: Array,
    diagonal: Array,
    gradient: Array,
    sides: Array,
    bounds: Array,
    tol: float,
    max_steps: int,
) -> tuple[int, float]:
    """Minimise ½βᵀKβ − tᵀβ over β = sides[0] − sides[1] within the bounds, with both sums fixed. Works in place.

    Each step moves two variables of one side by the same amount in opposite directions. The side is the one with the
    larger violation; the first variable is the one whose growth lowers the objective fastest, and its partner the one
    with the largest gain.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    there : ndarray of uint8 of shape (n,)
        1 for rows that are computed. The loop ends if it needs another row, and marks it as `ASKED`.
    gradient : ndarray of shape (n,)
        Kβ − t at the start; updated.
    sides, bounds : ndarray of shape (2, n)
        `sides` are updated.
    tol : float
        Ends when no pair violates the optimality conditions by more.

    Returns
    -------
    steps : int
    violation : float
        Largest violation of the optimality conditions by a pair.
    """
    n = len(gradient)
    up, down, gains, most = np.empty((2, n)), np.empty((2, n)), np.empty(n, dtype=np.float32), 1e-200
    for k in range(n):
        most = max(most, diagonal[k])
    for which in range(2):
        for k in range(n):
            up[which, k], down[which, k] = _open(sides[which, k], bounds[which, k])
    first, second, change, steps, per_bend = 0, 0, 0.0, 0, 1.0 / most
    while True:
        top, low, top_below, low_below, place, place_below = -2 * CLOSED, 2 * CLOSED, -2 * CLOSED, 2 * CLOSED, 0, 0
        row, other = gram[first], gram[second]
        for start in range(0, n, BLOCK):
            one, two, three, four = _descend(
                gradient, change, row, other, up, down, np.uintp(start), np.uintp(min(n, start + BLOCK))
            )
            low, low_below = min(low, two), min(low_below, four)
            if one > top:
                top, place = one, start
            if three > top_below:
                top_below, place_below = three, start
        which, sign, first = 0, 1.0, place
        if top_below - low_below > top - low:
            which, sign, first, top, low = 1, -1.0, place_below, top_below, low_below
        if not top - low > tol or steps >= max_steps:
            return steps, top - low
        side, falls = sides[which], down[which]
        while up[which, first] - sign * gradient[first] < top:
            first += 1
        if there[first] != 1:
            there[first] = ASKED
            return steps, top - low
        row, own, per_slope = gram[first], diagonal[first], 1.0 / (top - low)
        best, second = np.float32(-1.0), 0
        for start in range(0, n, BLOCK):
            gain = _rank_partners(
                gains, gradient, sign, falls, row, diagonal, top, own, per_slope, per_bend,
                np.uintp(start), np.uintp(min(n, start + BLOCK)),
            )  # fmt: skip
            if gain > best:
                best, second = gain, start
        while gains[second] < best:
            second += 1
        if there[second] != 1:
            there[second] = ASKED
            second = best_there(gains, there, ENOUGH * float(best))
            if second < 0:
                return steps, top - low
        both = own + diagonal[second]
        bend = max(max(both - 2.0 * row[second], FLAT * both), LEAST / per_bend)
        room, below = bounds[which, first] - side[first], side[second]
        step = min(min((top - falls[second] + sign * gradient[second]) / bend, room), below)
        side[first] = bounds[which, first] if step == room else side[first] + step
        side[second] = 0.0 if step == below else side[second] - step
        for k in (first, second):
            up[which, k], down[which, k] = _open(side[k], bounds[which, k])
        change = sign * step
        steps += 1
