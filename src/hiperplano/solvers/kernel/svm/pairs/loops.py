"""Compiled machines of many pairs of classes, one after the other, from one Gram matrix that is held."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.pairs.free_loops import settle_free
from hiperplano.solvers.kernel.svm.smo_loops import Slices, copy_row, open_directions, smo_of_slices

POLISHED = 200  # rows up to which the last digits cost next to nothing
_POLISHED_TOL = 1e-10  # at least, in units of the margin
_POLISH = 1e-6  # of tol: what they are
_FAR = 1e8  # bounds, in units of kernel values, within which rounding adds up to nothing
_EPS = np.finfo(np.float64).eps


class Ends(NamedTuple):
    """How machines ended, an entry for each.

    Attributes
    ----------
    steps, violation, intercept : ndarray
    lower, gap : ndarray
        The dual objective, and what the losses cost beyond it.
    n_bound : ndarray
        Support vectors at their bound.
    rounding : ndarray
        What the rounding of kernel values and their sums may make of the violation.
    """

    steps: Array
    violation: Array
    intercept: Array
    lower: Array
    gap: Array
    n_bound: Array
    rounding: Array

    @classmethod
    def none(cls, count: int) -> Ends:
        """Of machines that are not solved yet."""
        steps, violation, intercept, lower, gap, n_bound, rounding = np.zeros((7, count))
        return cls(steps.astype(np.int64), violation, intercept, lower, gap, n_bound.astype(np.int64), rounding)


@njit(cache=True, nogil=True)
def solve_machines(
    gram: Array,
    borders: Array,
    positive: Array,
    negative: Array,
    bound: Array,
    places: Array,
    beta: Array,
    ends: Ends,
    chosen: Array,
    tol: float,
    max_steps: int,
    per_row: int,
) -> None:
    """Solve chosen machines by SMO; those of few rows beyond `tol`, as far as a few times as many steps lead.

    Parameters
    ----------
    borders : ndarray of shape (classes + 1,)
        Of the classes among the rows, which are sorted by class.
    positive, negative : ndarray of shape (machines,)
        The classes of each machine.
    bound : ndarray of shape (n,)
    places : ndarray of shape (machines + 1,)
        Where the variables of each machine begin in `beta`.
    beta : ndarray
        Feasible points; updated.
    ends : Ends
        Filled for the chosen machines.
    per_row : int
        Steps for each row, after which a machine is given up: its violation then exceeds `tol`.
    """
    most = 0
    for k in chosen:
        most = max(most, places[k + 1] - places[k])
    room = np.empty(most * most if most < len(gram) else 0, gram.dtype)  # once: fresh memory costs as much as a machine
    for k in chosen:
        one, other = min(positive[k], negative[k]), max(positive[k], negative[k])
        middle = borders[one + 1] - borders[one]
        size = middle + borders[other + 1] - borders[other]
        sign = np.full(size, 1.0)
        if one == negative[k]:
            sign[:middle] = -1.0
        else:
            sign[middle:] = -1.0
        part = gram if size == len(gram) else room[: size * size].reshape(size, size)
        slices = Slices(gram, borders[one], middle, borders[other], np.full(size, size == len(gram)))
        own = beta[places[k] : places[k + 1]]
        diagonal, low, high = np.empty(size), np.zeros(size), np.zeros(size)
        for i in range(size):
            row = borders[one] + i if i < middle else borders[other] + i - middle
            diagonal[i], limit = gram[row, row], bound[row]
            if own[i] != 0.0:
                copy_row(part, slices, i)
            if sign[i] > 0:
                high[i] = limit
            else:
                low[i] = -limit
        gradient = _gradient(part, own, sign)
        allowed = min(max_steps, max(2000, per_row * size))
        steps, largest, least = smo_of_slices(part, slices, diagonal, gradient, own, low, high, 0.0, tol, allowed)
        if size <= POLISHED and steps > 0 and largest - least <= tol:
            goal = max(_POLISH * tol, _POLISHED_TOL)
            more = min(max(4 * steps, 10 * size), max_steps - steps)
            settle_free(part, low, high, own, gradient)
            further, _, _ = smo_of_slices(part, slices, diagonal, gradient, own, low, high, 0.0, goal, more)
            steps += further
        if (high - low).max() * diagonal.max() > _FAR:  # variables may have been there and come back
            gradient = _gradient(part, own, sign)
        ends.steps[k] = steps
        _judge(k, ends, diagonal, low, high, own, gradient)
        _certify(k, ends, sign, low, high, own, gradient)


@njit(cache=True, nogil=True)
def spread(flat: Array, borders: Array, positive: Array, negative: Array, places: Array, chosen: Array) -> Array:
    """The variables of chosen machines as columns, of shape (n, machines), with 0 for rows that a machine lacks."""
    found = np.zeros((borders[-1], len(positive)))
    for k in chosen:
        one, other = min(positive[k], negative[k]), max(positive[k], negative[k])
        place = places[k]
        for each in (one, other):
            for i in range(borders[each], borders[each + 1]):
                found[i, k] = flat[place]
                place += 1
    return found


@njit(cache=True, nogil=True)
def _gradient(gram: Array, beta: Array, target: Array) -> Array:
    """Kβ − t."""
    gradient = -target
    for i in range(len(beta)):
        if beta[i] != 0.0:
            gradient += beta[i] * gram[i]
    return gradient


@njit(cache=True, nogil=True)
def _judge(k: int, ends: Ends, diagonal: Array, low: Array, high: Array, beta: Array, gradient: Array) -> None:
    """The worst violation of the optimality conditions, what rounding may make of it, and the intercept between."""
    first, largest, second, least, norm = 0, -np.inf, 0, np.inf, 0.0
    for i in range(len(beta)):
        up, down = open_directions(beta[i], low[i], high[i], 0.0)
        if up - gradient[i] > largest:
            first, largest = i, up - gradient[i]
        if down - gradient[i] < least:
            second, least = i, down - gradient[i]
        norm += abs(diagonal[i]) * beta[i] ** 2
    ends.violation[k], ends.intercept[k] = max(0.0, largest - least), 0.5 * (largest + least)
    ends.rounding[k] = _EPS * np.sqrt(norm) * (np.sqrt(abs(diagonal[first])) + np.sqrt(abs(diagonal[second])))


@njit(cache=True, nogil=True)
def _certify(k: int, ends: Ends, sign: Array, low: Array, high: Array, beta: Array, gradient: Array) -> None:
    """What `DualProblem.value` and `DualProblem.gap` say, and how many variables are at a bound."""
    value, gap, count = 0.0, abs(beta.sum() * ends.intercept[k]), 0
    for i in range(len(beta)):
        value += 0.5 * beta[i] * (gradient[i] - sign[i])
        miss = -gradient[i] - ends.intercept[k]
        if np.isfinite(high[i] - low[i]):
            gap += max(high[i] * miss, low[i] * miss, 0.0) - beta[i] * miss
        else:  # without a bound no loss is allowed: what is left of one is the violation
            gap += abs(beta[i] * miss)
        count += beta[i] != 0.0 and (beta[i] <= low[i] or beta[i] >= high[i])
    ends.lower[k], ends.gap[k], ends.n_bound[k] = -value, max(gap, 0.0), count
