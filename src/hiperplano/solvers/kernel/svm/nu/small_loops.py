"""Compiled solution of small machines with a parameter nu, and conversion to the equivalent machine with a C or ε."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import CLOSED
from hiperplano.solvers.kernel.svm.nu.loops import smo_of_sides
from hiperplano.solvers.kernel.svm.pairs.loops import Ends, put_end
from hiperplano.solvers.kernel.svm.small.free_loops import MOST_MET, PER_UPDATE, free_step
from hiperplano.solvers.kernel.svm.small.loops import (
    EPS,
    MOST_TURNS,
    PER_STEP,
    PER_VALUE,
    POLISH,
    POLISHED,
    RELEASED,
    End,
    certify,
    gradient_at,
)
from hiperplano.solvers.kernel.svm.smo.loops import larger

# A margin counts if it exceeds the sum of:
CLEAR = 10.0  # this multiple of the violation,
ROUNDING = 1e-9  # this multiple of the largest score, and
BLURRED = 1e3  # this multiple of the rounding error of scores
_AT_LEAST = 500_000  # least budget for polishing, in thirds of a multiplication: less than the overhead of a fit
_NO_MARGIN = 0.01  # polishing ends if βᵀKβ falls to this share of its value at `tol`, because it then tends to 0
CLOSER = 0.1  # share of tol to solve to if it is unclear whether there is a margin


class NuEnd(NamedTuple):
    """How a machine ended.

    Attributes
    ----------
    end : End
        Result of the equivalent machine with a C or ε.
    beta : ndarray of shape (n,)
        Its dual variables.
    found : float
        The margin ρ of a classification, or the ε of a regression.
    clear : bool
        Whether the margin is large compared with the violation.
    gradient : ndarray of shape (n,)
        Gradient of the problem with two equality constraints.
    """

    end: End
    beta: Array
    found: float
    clear: bool
    gradient: Array


@njit(cache=True, nogil=True)
def solve_nu_small(
    gram: Array,
    there: Array,
    diagonal: Array,
    target: Array,
    bounds: Array,
    sides: Array,
    classify: bool,
    tol: float,
    max_steps: int,
) -> NuEnd:
    """Solve a `NuProblem`. In classification, `target` holds the signs, and the target of the problem is 0.

    f is not divided by a margin that is only a rounding error.

    Parameters
    ----------
    there : ndarray of uint8 of shape (n,)
        1 for rows of the Gram matrix that are computed. The solver ends if it needs another row.
    sides : ndarray of shape (2, n)
        A feasible point; updated.
    """
    n = len(target)
    linear = np.zeros(n) if classify else target
    gradient = gradient_at(gram, sides[0] - sides[1], linear)
    steps, violation = smo_of_sides(gram, there, diagonal, gradient, sides, bounds, tol, max_steps)
    if violation <= tol and n <= POLISHED:
        steps += _polish(gram, there, diagonal, gradient, sides, bounds, POLISH * tol, steps, max_steps, classify)
    elif classify and violation <= tol and not _is_clear(diagonal, sides, bounds, gradient):
        further, _ = smo_of_sides(gram, there, diagonal, gradient, sides, bounds, CLOSER * tol, max_steps - steps)
        steps += further
    beta = sides[0] - sides[1]
    gradient = gradient_at(gram, beta, linear)
    above, below, violation = _levels(sides, bounds, gradient)
    slopes, found, intercept, width = gradient, -0.5 * (above + below), 0.5 * (above - below), 0.0
    clear, low, high = True, -bounds[1], bounds[0]
    if classify:
        clear = _is_clear(diagonal, sides, bounds, gradient)
        rho = found if found > _blur(diagonal, sides, gradient) else 1.0
        beta, intercept, low, high = beta / rho, intercept / rho, low / rho, high / rho
        gradient = gradient / rho - target
    else:
        found = width = max(0.0, -found)
    rounding = _rounding(diagonal, beta)
    lower, gap, n_bound = certify(target, low, high, width, 0.0, beta, gradient, intercept)
    return NuEnd(End(steps, violation, intercept, lower, gap, n_bound, rounding), beta, found, clear, slopes)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _start(gram: Array, middle: int, bounds: Array, total: float) -> Array:
    """A feasible point for two classes, of which the second begins at row `middle`.

    The rows nearest to a row of the other class are at their bounds. If that is better, all rows of a class
    have equal variables instead, as in the solution for a very narrow kernel. Equal variables are all free, so full
    precision then costs more.
    """
    n = len(gram)
    near = np.full(n, -CLOSED)  # fast-math code must not use infinities
    for i in range(middle):
        row = gram[i]
        for k in range(np.uintp(middle), np.uintp(n)):
            near[k] = larger(near[k], row[k])
    for i in range(middle, n):
        row = gram[i]
        for k in range(np.uintp(middle)):
            near[k] = larger(near[k], row[k])
    nearest, alike, left = np.zeros((2, n)), np.zeros((2, n)), np.full(2, total)
    for k in np.argsort(-near):
        which = 0 if bounds[0, k] > 0.0 else 1
        nearest[which, k] = min(bounds[which, k], left[which])
        left[which] -= nearest[which, k]
    for which in range(2):
        alike[which] = bounds[which] * (total / bounds[which].sum())
    return alike if n > POLISHED and _norm(gram, alike) < _norm(gram, nearest) else nearest


@njit(cache=True, nogil=True)
def _norm(gram: Array, sides: Array) -> float:
    """βᵀKβ."""
    beta = sides[0] - sides[1]
    return float(beta @ gradient_at(gram, beta, np.zeros(len(beta))))


@njit(cache=True, nogil=True)
def _is_clear(diagonal: Array, sides: Array, bounds: Array, gradient: Array) -> bool:
    """Whether the margin of two classes is large compared with the violation and with rounding errors."""
    above, below, violation = _levels(sides, bounds, gradient)
    return bool(-0.5 * (above + below) > CLEAR * violation + _blur(diagonal, sides, gradient))


@njit(cache=True, nogil=True)
def _polish(
    gram: Array,
    there: Array,
    diagonal: Array,
    gradient: Array,
    sides: Array,
    bounds: Array,
    tol: float,
    steps: int,
    max_steps: int,
    classify: bool,
) -> int:
    """Alternate solves for the free variables with a few SMO steps; return the number of steps.

    This ends when the work exceeds that of the matrix and the previous steps, or when two classes turn out to have no
    margin.
    """
    n, made, work, least = len(gradient), 0, 0, 0.0
    if classify:
        least = _NO_MARGIN * (sides[0] - sides[1]) @ gradient
    budget = _AT_LEAST + (PER_STEP * steps + PER_VALUE * n) * n
    for _ in range(MOST_TURNS):
        work += _settle(gram, gradient, sides, bounds)
        further, violation = smo_of_sides(
            gram, there, diagonal, gradient, sides, bounds, tol, min(max_steps - steps - made, RELEASED)
        )
        made, work = made + further, work + PER_STEP * further * n
        if violation <= tol or steps + made == max_steps or work > budget:
            break
        if classify and (sides[0] - sides[1]) @ gradient < least:
            break
    return made


@njit(cache=True, nogil=True)
def _settle(gram: Array, gradient: Array, sides: Array, bounds: Array) -> int:
    """Move the free variables to where the slopes of each side are equal; result as in `settle_free`."""
    work = 0
    for _ in range(MOST_MET):
        which, rows = np.nonzero((sides > 0.0) & (sides < bounds))
        m = len(rows)
        slope, room = np.empty(m), np.empty((2, m))
        for a in range(m):
            value, bound = sides[which[a], rows[a]], bounds[which[a], rows[a]]
            slope[a] = gradient[rows[a]]
            room[0, a], room[1, a] = (value, bound - value) if which[a] == 0 else (bound - value, value)
        step, first = free_step(gram, rows, which == 1, slope, room)
        work += m**3 + PER_UPDATE * m * len(gradient)
        for a in range(m):
            i, side = rows[a], sides[which[a]]
            change = step[a] if which[a] == 0 else -step[a]
            for k in range(len(gradient)):
                gradient[k] += step[a] * gram[i, k]
            if a == first:
                side[i] = bounds[which[a], i] if change > 0.0 else 0.0
            else:
                side[i] += change
        if first < 0:
            break
    return work


@njit(cache=True, nogil=True)
def _levels(sides: Array, bounds: Array, gradient: Array) -> tuple[float, float, float]:
    """The multipliers of the sums of p and m, and the worst violation of the optimality conditions."""
    middle, violation = np.zeros(2), 0.0
    for which in range(2):
        largest, least, sign = -np.inf, np.inf, 1.0 if which == 1 else -1.0
        for k in range(len(gradient)):
            if sides[which, k] < bounds[which, k]:
                largest = max(largest, sign * gradient[k])
            if sides[which, k] > 0.0:
                least = min(least, sign * gradient[k])
        if np.isfinite(largest) and np.isfinite(least):
            middle[which], violation = 0.5 * (largest + least), max(violation, largest - least)
        elif np.isfinite(largest) or np.isfinite(least):
            middle[which] = largest if np.isfinite(largest) else least
    return middle[0], middle[1], violation


@njit(cache=True, nogil=True)
def _rounding(diagonal: Array, beta: Array) -> float:
    """Rounding error of the difference of two scores."""
    return float(2.0 * EPS * np.sqrt((np.abs(diagonal) * beta**2).sum() * np.abs(diagonal).max()))


@njit(cache=True, nogil=True)
def _blur(diagonal: Array, sides: Array, scores: Array) -> float:
    """Largest margin that could be only a rounding error."""
    return float(ROUNDING * np.abs(scores).max() + BLURRED * _rounding(diagonal, sides[0] - sides[1]))


@njit(cache=True, nogil=True)
def solve_nu_pairs(
    gram: Array,
    borders: Array,
    positive: Array,
    negative: Array,
    bound: Array,
    share: float,
    beta: Array,
    ends: Ends,
    margin: Array,
    clear: Array,
    chosen: Array,
    tol: float,
    max_steps: int,
) -> None:
    """Solve selected machines of pairs of classes; rows are sorted by class.

    Parameters
    ----------
    bound : ndarray of shape (n,)
        Bounds of each machine, in units of their mean: the unit cancels in f/ρ, but changes the meaning of `tol`.
    share : float
        ν.
    beta : ndarray of shape (n, machines)
    ends : Ends
    margin, clear : ndarray of shape (machines,)
        ρ, and whether it is large compared with the violation. All arrays are filled for the selected machines.
    """
    for k in chosen:
        one, other = min(positive[k], negative[k]), max(positive[k], negative[k])
        own = np.concatenate(
            (np.arange(borders[one], borders[one + 1]), np.arange(borders[other], borders[other + 1]))
        )  # fmt: skip
        size, middle = len(own), borders[one + 1] - borders[one]
        sign = np.full(size, -1.0 if one == negative[k] else 1.0)
        sign[middle:] *= -1.0
        part, bounds, mean = np.empty((size, size)), np.zeros((2, size)), bound[own].mean()
        for i in range(size):
            row = gram[own[i]]
            part[i, :middle] = row[borders[one] : borders[one + 1]]
            part[i, middle:] = row[borders[other] : borders[other + 1]]
            bounds[0 if sign[i] > 0.0 else 1, i] = bound[own[i]] / mean
        there, sides = np.ones(size, dtype=np.uint8), _start(part, middle, bounds, 0.5 * share * size)
        found = solve_nu_small(part, there, np.diag(part).copy(), sign, bounds, sides, True, tol, max_steps)
        put_end(ends, k, found.end)
        margin[k], clear[k] = found.found, found.clear
        for i in range(size):
            beta[own[i], k] = found.beta[i]
