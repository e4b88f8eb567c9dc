"""Compiled solution of small machines with a parameter nu, and conversion to the equivalent machine with a C or ε."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import loop, part, subroutine
from hiperplano.solvers.kernel.svm.dual_problem import CLOSED
from hiperplano.solvers.kernel.svm.nu.loops import smo_of_sides
from hiperplano.solvers.kernel.svm.small.free_loops import MOST_MET, PER_UPDATE, free_step
from hiperplano.solvers.kernel.svm.small.loops import (
    EPS,
    MOST_TURNS,
    PER_STEP,
    PER_VALUE,
    POLISH,
    POLISHED,
    RELEASED,
    certify,
    put_end,
    set_gradient,
)
from hiperplano.solvers.kernel.svm.smo.loops import Slices, copy_row, larger

# A margin counts if it exceeds the sum of:
CLEAR = 10.0  # this multiple of the violation,
ROUNDING = 1e-9  # this multiple of the largest score, and
BLURRED = 1e3  # this multiple of the rounding error of scores
_AT_LEAST = 500_000  # least budget for polishing, in thirds of a multiplication: less than the overhead of a fit
_NO_MARGIN = 0.01  # polishing ends if βᵀKβ falls to this share of its value at `tol`, because it then tends to 0
CLOSER = 0.1  # share of tol to solve to if it is unclear whether there is a margin


@loop
def solve_nu_machines(
    gram: Array,
    slices: Array,
    places: Array,
    there: Array,
    diagonal: Array,
    target: Array,
    bounds: Array,
    sides: Array,
    classify: bool,
    share: float,
    beta: Array,
    gradient: Array,
    ends: Array,
    chosen: Array,
    tol: float,
    max_steps: int,
) -> None:
    """Solve selected `NuProblem`s. In classification, `target` holds the signs, and the target of the problem is 0.

    f is not divided by a margin that is only a rounding error. Arrays of variables hold those of one machine after
    another.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
    slices, places : ndarray of int
        As in `solve_machines`.
    there : ndarray of uint8 of shape (variables,)
        1 for rows of a machine's Gram matrix that are computed, 0 for others: they are copied from `gram`, unless that
        is the matrix of the machine itself. The machine then ends if it needs another row.
    bounds : ndarray of shape (2·variables,)
        Both sides of each machine.
    sides : ndarray of shape (2·variables,)
        In regression, feasible points. Updated.
    share : float
        ν of a classification.
    beta : ndarray of shape (variables,)
        Filled with the dual variables of the equivalent machines with a C or ε.
    gradient : ndarray of shape (variables,)
        Filled with the gradients of the problems with two equality constraints.
    ends : ndarray of shape (machines, 9)
        Filled with the figures of an `End` of the equivalent machine; the margin ρ of a classification, or the ε of a
        regression; and 1 if the margin is large compared with the violation.
    """
    most = 0
    for k in chosen:
        most = max(most, places[k + 1] - places[k])
    room = np.empty(most * most if most < len(gram) else 0, gram.dtype)
    for k in chosen:
        own, both = slice(places[k], places[k + 1]), slice(2 * places[k], 2 * places[k + 1])
        t, b, g, diag, here = target[own], beta[own], gradient[own], diagonal[own], there[own]
        n = len(b)
        pair, limits = sides[both].reshape(2, n), bounds[both].reshape(2, n)
        matrix = gram
        if n < len(gram):
            matrix, rows = room[: n * n].reshape(n, n), Slices(gram, slices[k, 0], slices[k, 1], slices[k, 2], here)
            for i in range(n):
                copy_row(matrix, rows, i)
        if classify:
            _start(matrix, slices[k, 1], limits, 0.5 * share * n, pair)
        linear = np.empty(n)
        for i in range(n):
            linear[i] = 0.0 if classify else t[i]
        _set_beta(pair, b)
        set_gradient(matrix, b, linear, g)
        steps, violation = smo_of_sides(matrix, here, diag, g, pair, limits, tol, max_steps)
        if violation <= tol and n <= POLISHED:
            steps += _polish(matrix, here, diag, g, pair, limits, POLISH * tol, steps, max_steps, classify)
        elif classify and violation <= tol and not _is_clear(diag, pair, limits, g):
            further, _ = smo_of_sides(matrix, here, diag, g, pair, limits, CLOSER * tol, max_steps - steps)
            steps += further
        _set_beta(pair, b)
        set_gradient(matrix, b, linear, g)
        _put_figures(diag, t, pair, limits, classify, steps, b, g, ends, k)


@subroutine
def _put_figures(
    diagonal: Array,
    target: Array,
    sides: Array,
    bounds: Array,
    classify: bool,
    steps: int,
    beta: Array,
    gradient: Array,
    ends: Array,
    k: int,
) -> None:
    """Convert a solution to the equivalent machine with a C or ε, and store its figures."""
    above, below, violation = _levels(sides, bounds, gradient)
    found, rho, width, clear = -0.5 * (above + below), 1.0, 0.0, 1.0
    if classify:
        clear = 1.0 if _is_clear(diagonal, sides, bounds, gradient) else 0.0
        rho = found if found > _blur(diagonal, sides, gradient) else 1.0
    else:
        found = width = max(0.0, -found)
    n = len(beta)
    low, high, slopes = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        beta[i] /= rho
        low[i], high[i] = -bounds[1, i] / rho, bounds[0, i] / rho
        slopes[i] = gradient[i] / rho - target[i] if classify else gradient[i]
    intercept, squares, largest = 0.5 * (above - below) / rho, 0.0, 0.0
    for i in range(n):
        squares, largest = squares + abs(diagonal[i]) * beta[i] ** 2, max(largest, abs(diagonal[i]))
    lower, gap, n_bound = certify(target, low, high, width, 0.0, beta, slopes, intercept)
    put_end(ends, k, steps, violation, intercept, lower, gap, n_bound, _rounding(squares, largest))
    ends[k, 7], ends[k, 8] = found, clear


@part
def _set_beta(sides: Array, beta: Array) -> None:
    """β = sides[0] − sides[1]."""
    for i in range(len(beta)):
        beta[i] = sides[0, i] - sides[1, i]


@subroutine
def _start(gram: Array, middle: int, bounds: Array, total: float, sides: Array) -> None:
    """Set `sides` to a feasible point for two classes, of which the second begins at row `middle`.

    The rows nearest to a row of the other class are at their bounds. If that is better, all rows of a class
    have equal variables instead, as in the solution for a very narrow kernel. Equal variables are all free, so full
    precision then costs more.
    """
    n = len(gram)
    near, order = np.empty(n), np.empty(n, dtype=np.intp)
    for k in range(n):
        near[k] = -CLOSED
    for i in range(middle):
        row = gram[i]
        for k in range(np.uintp(middle), np.uintp(n)):
            near[k] = larger(near[k], row[k])
    for i in range(middle, n):
        row = gram[i]
        for k in range(np.uintp(middle)):
            near[k] = larger(near[k], row[k])
    for k in range(n):  # sorted by insertion: Numba would need two seconds to compile `np.argsort`
        place = k
        while place > 0 and near[order[place - 1]] < near[k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k
    alike = np.empty((2, n))
    for side in range(2):
        left, whole = total, 0.0
        for nearest in order:
            sides[side, nearest] = min(bounds[side, nearest], left)
            left, whole = left - sides[side, nearest], whole + bounds[side, nearest]
        for k in range(n):
            alike[side, k] = bounds[side, k] * (total / whole)
    if n > POLISHED and _norm(gram, alike) < _norm(gram, sides):
        for k in range(n):
            sides[0, k], sides[1, k] = alike[0, k], alike[1, k]


@subroutine
def _norm(gram: Array, sides: Array) -> float:
    """βᵀKβ."""
    n = len(gram)
    beta, linear, gradient = np.empty(n), np.empty(n), np.empty(n)
    _set_beta(sides, beta)
    for i in range(n):
        linear[i] = 0.0
    set_gradient(gram, beta, linear, gradient)
    return _product(sides, gradient)


@part
def _product(sides: Array, values: Array) -> float:
    """β·values."""
    found = 0.0
    for i in range(len(values)):
        found += (sides[0, i] - sides[1, i]) * values[i]
    return found


@subroutine
def _is_clear(diagonal: Array, sides: Array, bounds: Array, gradient: Array) -> bool:
    """Whether the margin of two classes is large compared with the violation and with rounding errors."""
    above, below, violation = _levels(sides, bounds, gradient)
    return -0.5 * (above + below) > CLEAR * violation + _blur(diagonal, sides, gradient)


@subroutine
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
        least = _NO_MARGIN * _product(sides, gradient)
    budget = _AT_LEAST + (PER_STEP * steps + PER_VALUE * n) * n
    for _ in range(MOST_TURNS):
        work += _settle(gram, gradient, sides, bounds)
        further, violation = smo_of_sides(
            gram, there, diagonal, gradient, sides, bounds, tol, min(max_steps - steps - made, RELEASED)
        )
        made, work = made + further, work + PER_STEP * further * n
        if violation <= tol or steps + made == max_steps or work > budget:
            break
        if classify and _product(sides, gradient) < least:
            break
    return made


@subroutine
def _settle(gram: Array, gradient: Array, sides: Array, bounds: Array) -> int:
    """Move the free variables to where the slopes of each side are equal; result as in `settle_free`."""
    n, work = len(gradient), 0
    for _ in range(MOST_MET):
        m = 0
        for side in range(2):
            for i in range(n):
                m += 0.0 < sides[side, i] < bounds[side, i]
        rows, second, slope, room = (
            np.empty(m, dtype=np.intp),
            np.empty(m, dtype=np.bool_),
            np.empty(m),
            np.empty((2, m)),
        )
        m = 0
        for side in range(2):
            for i in range(n):
                if 0.0 < sides[side, i] < bounds[side, i]:
                    rows[m], second[m], slope[m] = i, side == 1, gradient[i]
                    room[side, m], room[1 - side, m] = sides[side, i], bounds[side, i] - sides[side, i]
                    m += 1
        step, first = free_step(gram, rows, second, slope, room)
        work += m * m * m + PER_UPDATE * m * n
        for a in range(m):
            i, side = rows[a], 1 if second[a] else 0
            change = -step[a] if second[a] else step[a]
            for k in range(n):
                gradient[k] += step[a] * gram[i, k]
            if a == first:
                sides[side, i] = bounds[side, i] if change > 0.0 else 0.0
            else:
                sides[side, i] += change
        if first < 0:
            break
    return work


@subroutine
def _levels(sides: Array, bounds: Array, gradient: Array) -> tuple[float, float, float]:
    """The multipliers of the sums of p and m, and the worst violation of the optimality conditions."""
    middle, violation = np.empty(2), 0.0
    for which in range(2):
        largest, least, sign = -np.inf, np.inf, 1.0 if which == 1 else -1.0
        middle[which] = 0.0
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


@part
def _rounding(squares: float, largest: float) -> float:
    """Rounding error of the difference of two scores, from Σ |Kᵢᵢ|·β² and the largest |Kᵢᵢ|."""
    return 2.0 * EPS * np.sqrt(squares * largest)


@subroutine
def _blur(diagonal: Array, sides: Array, scores: Array) -> float:
    """Largest margin that could be only a rounding error."""
    squares, largest, highest = 0.0, 0.0, 0.0
    for i in range(len(scores)):
        squares += abs(diagonal[i]) * (sides[0, i] - sides[1, i]) ** 2
        largest, highest = max(largest, abs(diagonal[i])), max(highest, abs(scores[i]))
    return ROUNDING * highest + BLURRED * _rounding(squares, largest)
