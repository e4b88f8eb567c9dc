"""Compiled SMO for a small machine with its Gram matrix in memory, and its certificate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import loop, subroutine
from hiperplano.solvers.kernel.svm.small.free_loops import settle_free
from hiperplano.solvers.kernel.svm.smo.loops import Slices, open_directions, smo_of_slices

POLISHED = 200  # machines of up to this number of rows are solved beyond `tol`, which costs almost nothing
POLISH = 1e-6  # tolerance of polishing, as a share of `tol`,
_POLISHED_TOL = 1e-10  # but at least this, in units of the targets
RELEASED = 16  # SMO steps, which may free further variables, between two solves for the free variables
MOST_TURNS = 40  # most alternations of the two, while their work does not exceed that of the fit before
# Units of that work, in thirds of a multiplication (`free_loops`):
PER_STEP = 24  # an SMO step, per variable
PER_VALUE = 72  # a value of the Gram matrix
_FAR = 1e8  # if bounds times kernel values exceed this, the gradient is recomputed, because rounding errors accumulate
EPS = np.finfo(np.float64).eps


class End(NamedTuple):
    """Result of a machine.

    Attributes
    ----------
    steps, violation, intercept : number
    lower, gap : float
        The dual objective and the duality gap.
    n_bound : int
        Support vectors at their bound.
    rounding : float
        Bound on the part of the violation that is due to rounding of kernel values and their sums.
    """

    steps: int
    violation: float
    intercept: float
    lower: float
    gap: float
    n_bound: int
    rounding: float


@loop
def solve_small(
    gram: Array,
    slices: Slices,
    diagonal: Array,
    target: Array,
    low: Array,
    high: Array,
    width: float,
    total: float,
    beta: Array,
    tol: float,
    max_steps: int,
    per_row: int,
) -> tuple[End, Array]:
    """Solve a `DualProblem` by SMO. A machine with few rows is polished beyond `tol`, with at most as much work again.

    Parameters
    ----------
    gram, slices
        As in `smo_of_slices`; rows of nonzero variables must be computed.
    beta : ndarray of shape (n,)
        A feasible point; updated.
    per_row : int
        Limit of steps per row. A machine that reaches it is given up: its violation then exceeds `tol`.

    Returns
    -------
    end : End
    gradient : ndarray of shape (n,)
    """
    size = len(beta)
    gradient = gradient_at(gram, beta, target)
    allowed = min(max_steps, max(2000, per_row * size))
    steps, largest, least = smo_of_slices(gram, slices, diagonal, gradient, beta, low, high, width, tol, allowed)
    if size <= POLISHED and largest - least <= tol:
        unit = 0.0
        for i in range(size):
            unit = max(unit, abs(target[i]))
        goal, work = max(POLISH * tol, _POLISHED_TOL * (unit if unit > 0.0 else 1.0)), 0
        budget = (PER_STEP * steps + PER_VALUE * size) * size
        for _ in range(MOST_TURNS):
            work += settle_free(gram, low, high, width, beta, gradient)
            further, largest, least = smo_of_slices(
                gram, slices, diagonal, gradient, beta, low, high, width, goal, min(max_steps - steps, RELEASED)
            )
            steps, work = steps + further, work + PER_STEP * further * size
            if largest - least <= goal or steps == max_steps or work > budget:
                break
    widest, most = 0.0, 0.0
    for i in range(size):
        widest, most = max(widest, high[i] - low[i]), max(most, diagonal[i])
    if widest * most > _FAR:  # variables may have been large in between
        gradient = gradient_at(gram, beta, target)
    violation, intercept, rounding = _judge(diagonal, low, high, width, beta, gradient)
    lower, gap, n_bound = certify(target, low, high, width, total, beta, gradient, intercept)
    return End(steps, violation, intercept, lower, gap, n_bound, rounding), gradient


@subroutine
def gradient_at(gram: Array, beta: Array, target: Array) -> Array:
    """Kβ − t."""
    gradient = np.empty(len(target))
    for i in range(len(target)):
        gradient[i] = -target[i]
    for i in range(len(beta)):
        if beta[i] != 0.0:
            row, factor = gram[i], beta[i]
            for k in range(np.uintp(len(gradient))):
                gradient[k] += factor * row[k]
    return gradient


@subroutine
def _judge(
    diagonal: Array, low: Array, high: Array, width: float, beta: Array, gradient: Array
) -> tuple[float, float, float]:
    """The largest violation of the optimality conditions, the intercept, and a bound on the effect of rounding."""
    first, largest, second, least, norm = 0, -np.inf, 0, np.inf, 0.0
    for i in range(len(beta)):
        up, down = open_directions(beta[i], low[i], high[i], width)
        if up - gradient[i] > largest:
            first, largest = i, up - gradient[i]
        if down - gradient[i] < least:
            second, least = i, down - gradient[i]
        norm += abs(diagonal[i]) * beta[i] ** 2
    rounding = EPS * np.sqrt(norm) * (np.sqrt(abs(diagonal[first])) + np.sqrt(abs(diagonal[second])))
    return max(0.0, largest - least), 0.5 * (largest + least), rounding


@subroutine
def certify(
    target: Array, low: Array, high: Array, width: float, total: float, beta: Array, gradient: Array, intercept: float
) -> tuple[float, float, int]:
    """`DualProblem.value` and `DualProblem.gap`, and the number of variables at a bound."""
    value, gap, count, left = 0.0, 0.0, 0, -total
    for i in range(len(beta)):
        left += beta[i]
        value += 0.5 * beta[i] * (gradient[i] - target[i]) + width * abs(beta[i])
        miss = -gradient[i] - intercept
        accounted = beta[i] * miss - width * abs(beta[i])
        if np.isfinite(high[i] - low[i]):
            gap += max(high[i] * (miss - width), low[i] * (miss + width), 0.0) - accounted
        else:  # infinite bounds allow no loss: the remaining loss is the violation
            gap += abs(accounted)
        count += beta[i] != 0.0 and (beta[i] <= low[i] or beta[i] >= high[i])
    return -value, max(gap + abs(left * intercept), 0.0), count
