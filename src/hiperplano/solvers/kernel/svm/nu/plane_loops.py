"""Compiled interior point method for machines with a parameter nu, in the features of their kernel.

The unknowns are the coefficients of the features, the intercept, and ε or −ρ, which is the multiplier of the number of
support vectors. A step of Mehrotra's predictor-corrector method solves their normal equations. Ten to thirty steps
suffice, whatever the scales of the columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from hiperplano.data.design import Array

_TOL = 1e-13  # duality gap, as a share of the objective, at which the method ends
_PATIENCE = 10  # it also ends after so many steps in which the gap has not halved
_INSIDE = 0.995  # a step goes at most this share of the way to the nearest bound
_CLOSEST = 1e-16  # dual variables keep this distance from a bound, as a share of the distance between both
_JITTER = 1e-15  # added to a unit diagonal, since rounding may make the matrix singular


class NuPlane(NamedTuple):
    """The result.

    Attributes
    ----------
    part : ndarray of shape (k, n)
        Nonnegative dual variables.
    unknowns : ndarray of shape (r + 2,)
        Coefficients, intercept, and ε or −ρ.
    residual : ndarray of shape (k, n)
        Positive for rows beyond their margin, whose dual variables are at the upper bound.
    steps : int
    """

    part: Array
    unknowns: Array
    residual: Array
    steps: int


@njit(cache=True, nogil=True)
def interior_point(columns: Array, sign: Array, target: Array, high: Array, total: float, least: float) -> NuPlane:
    """Minimise ½‖Σ sign·part·x‖² − Σ target·part for 0 ≤ part ≤ high, Σ sign·part = 0 and Σ part = total.

    It ends when rounding stops all progress, or with ‖Σ sign·part·x‖ < `least`.

    Parameters
    ----------
    columns : ndarray of shape (n, r + 1)
        Features, and a column of ones.
    sign, target, high : ndarray of shape (k, n)
        Rows have k = 1 part in classification, and k = 2 in regression: above and below the tube.
    """
    size = columns.shape[1] + 1
    part, unknowns, penalty = 0.5 * high, np.zeros(size), np.ones(size)
    penalty[-2:] = 0.0
    unknowns[:-2] = _sums(columns, sign, part)[:-2]
    residual = target - _scores(columns, sign, unknowns)
    spread = np.abs(residual).mean() + 1e-300
    at_low, at_high = np.maximum(-residual, 0.0) + spread, np.maximum(residual, 0.0) + spread
    best, gaps = NuPlane(part, unknowns, residual, 0), np.full(_PATIENCE, np.inf)
    smallest, steps = np.inf, 0
    while True:
        sums = _sums(columns, sign, part)
        mismatch = penalty * unknowns - sums
        mismatch[-1] += total
        losses = (high * np.maximum(residual, 0.0)).sum()
        gap = losses - (residual * part).sum() + 0.5 * (mismatch[:-2] ** 2).sum()
        gap += np.abs(mismatch[-2:] * unknowns[-2:]).sum()
        if gap < smallest:
            smallest, best = gap, NuPlane(part, unknowns, residual, steps)
        stuck, gaps[steps % _PATIENCE] = not gap < 0.5 * gaps[steps % _PATIENCE], gap
        if (
            stuck
            or np.sqrt((sums[:-2] ** 2).sum()) < least
            or gap <= _TOL * (0.5 * (unknowns[:-2] ** 2).sum() + losses)
        ):
            break
        below, above = np.maximum(part, _CLOSEST * high), np.maximum(high - part, _CLOSEST * high)
        free = 1.0 / (at_low / below + at_high / above)
        matrix, scale = _normal_equations(columns, sign, free, penalty)
        if not np.isfinite(matrix).all():  # rounding errors
            break
        # predictor: a step towards products 0 of distances to bounds and multipliers
        turn = scale * np.linalg.solve(matrix, scale * (_sums(columns, sign, free * residual) - mismatch))
        move = free * (residual - _scores(columns, sign, turn))
        low, up = -at_low * (1.0 + move / below), -at_high * (1.0 - move / above)
        share = min(1.0, _room(move, low, up, below, above, at_low, at_high))
        left = ((at_low + share * low) * (below + share * move) + (at_high + share * up) * (above - share * move)).sum()
        product = (at_low * below + at_high * above).sum()
        aim = (left / product) ** 3 * product / (2 * part.size)
        # corrector
        to_low, to_high = aim - low * move, aim + up * move
        pull = residual + to_low / below - to_high / above
        turn = scale * np.linalg.solve(matrix, scale * (_sums(columns, sign, free * pull) - mismatch))
        move = free * (pull - _scores(columns, sign, turn))
        low = (to_low - at_low * move) / below - at_low
        up = (to_high + at_high * move) / above - at_high
        share = min(1.0, _INSIDE * _room(move, low, up, below, above, at_low, at_high))
        part = np.minimum(np.maximum(part + share * move, 0.0), high)
        at_low, at_high, unknowns = at_low + share * low, at_high + share * up, unknowns + share * turn
        residual = target - _scores(columns, sign, unknowns)
        steps += 1
    return NuPlane(best.part, best.unknowns, best.residual, steps)


@njit(cache=True, nogil=True)
def _scores(columns: Array, sign: Array, unknowns: Array) -> Array:
    """sign·(x·coef + intercept) + ε of every part."""
    return sign * np.dot(columns, unknowns[:-1]) + unknowns[-1]


@njit(cache=True, nogil=True)
def _sums(columns: Array, sign: Array, part: Array) -> Array:
    """Σ sign·part·x, Σ sign·part and Σ part."""
    found = np.empty(columns.shape[1] + 1)
    found[:-1] = np.dot((sign * part).sum(axis=0), columns)
    found[-1] = part.sum()
    return found


@njit(cache=True, nogil=True)
def _normal_equations(columns: Array, sign: Array, free: Array, penalty: Array) -> tuple[Array, Array]:
    """The matrix of a step with its rows and columns divided by the root of its diagonal, and these divisors."""
    matrix = np.empty((len(penalty), len(penalty)))
    weighted = columns * free.sum(axis=0).reshape(-1, 1)
    matrix[:-1, :-1] = np.dot(columns.T, weighted)
    matrix[-1, :-1] = np.dot((sign * free).sum(axis=0), columns)
    matrix[:-1, -1] = matrix[-1, :-1]
    matrix[-1, -1] = free.sum()
    scale = np.empty(len(penalty))
    for k in range(len(penalty)):
        scale[k] = 1.0 / np.sqrt(matrix[k, k] + penalty[k])
    matrix *= scale * scale.reshape(-1, 1)
    for k in range(len(penalty)):
        matrix[k, k] = 1.0 + _JITTER
    return matrix, scale


@njit(cache=True, nogil=True)
def _room(move: Array, low: Array, up: Array, below: Array, above: Array, at_low: Array, at_high: Array) -> float:
    """Largest multiple of a step that violates no bound."""
    rate = 1e-300
    rate = max(rate, (-move / below).max(), (move / above).max(), (-low / at_low).max(), (-up / at_high).max())
    return 1.0 / rate
