"""Compiled SMO for small machines with one Gram matrix in memory, and their certificates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import loop, part, subroutine
from hiperplano.solvers.kernel.svm.small.free_loops import settle_free
from hiperplano.solvers.kernel.svm.smo.loops import Slices, copy_row, open_directions, smo_of_slices

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

    @classmethod
    def of(cls, figures: Array) -> End:
        """Result from a row of numbers, as compiled loops store it."""
        steps, violation, intercept, lower, gap, n_bound, rounding = figures.tolist()
        return cls(int(steps), violation, intercept, lower, gap, int(n_bound), rounding)


@loop
def solve_machines(
    gram: Array,
    slices: Array,
    places: Array,
    copied: Array,
    diagonal: Array,
    target: Array,
    low: Array,
    high: Array,
    width: float,
    total: float,
    beta: Array,
    gradient: Array,
    ends: Array,
    chosen: Array,
    tol: float,
    max_steps: int,
    per_row: int,
) -> None:
    """Solve selected machines by SMO. Those of few rows are polished beyond `tol`, with at most as much work again.

    Arrays of variables hold those of one machine after another.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
    slices : ndarray of int of shape (machines, 3)
        The two slices of the Gram matrix that form each machine, as `first`, `middle` and `second` in `Slices`.
    places : ndarray of int of shape (machines + 1,)
        Where the variables of each machine begin, and where the last ones end.
    copied : ndarray of uint8 of shape (variables,)
        As in `Slices`. Rows of nonzero variables must be computed.
    diagonal, target, low, high : ndarray of shape (variables,)
        `DualProblem`s, with the diagonal of their Gram matrices.
    beta : ndarray of shape (variables,)
        Feasible points; updated.
    gradient : ndarray of shape (variables,)
        Filled for the selected machines, as are `ends`.
    ends : ndarray of shape (machines, 7)
        The figures of an `End` for each machine.
    per_row : int
        Limit of steps per row. A machine that reaches it is given up: its violation then exceeds `tol`.
    """
    most = 0
    for k in chosen:
        most = max(most, places[k + 1] - places[k])
    # Allocated once: fresh memory costs as much time as a machine.
    room = np.empty(most * most if most < len(gram) else 0, gram.dtype)
    for k in chosen:
        own = slice(places[k], places[k + 1])
        t, lo, hi, b, g, diag = target[own], low[own], high[own], beta[own], gradient[own], diagonal[own]
        size = len(b)
        own_gram = gram if size == len(gram) else room[: size * size].reshape(size, size)
        rows = Slices(gram, slices[k, 0], slices[k, 1], slices[k, 2], copied[own])
        unit, widest, largest_value = 0.0, 0.0, 0.0
        for i in range(size):
            unit, widest = max(unit, abs(t[i])), max(widest, hi[i] - lo[i])
            largest_value = max(largest_value, diag[i])
            if b[i] != 0.0:
                copy_row(own_gram, rows, i)
        set_gradient(own_gram, b, t, g)
        allowed = min(max_steps, max(2000, per_row * size))
        steps, largest, least = smo_of_slices(own_gram, rows, diag, g, b, lo, hi, width, tol, allowed)
        if size <= POLISHED and largest - least <= tol:
            goal, work = max(POLISH * tol, _POLISHED_TOL * (unit if unit > 0.0 else 1.0)), 0
            budget = (PER_STEP * steps + PER_VALUE * size) * size
            for _ in range(MOST_TURNS):
                work += settle_free(own_gram, lo, hi, width, b, g)
                further, largest, least = smo_of_slices(
                    own_gram, rows, diag, g, b, lo, hi, width, goal, min(max_steps - steps, RELEASED)
                )
                steps, work = steps + further, work + PER_STEP * further * size
                if largest - least <= goal or steps == max_steps or work > budget:
                    break
        if widest * largest_value > _FAR:  # variables may have been large in between
            set_gradient(own_gram, b, t, g)
        violation, intercept, rounding = _judge(diag, lo, hi, width, b, g)
        lower, gap, n_bound = certify(t, lo, hi, width, total, b, g, intercept)
        put_end(ends, k, steps, violation, intercept, lower, gap, n_bound, rounding)


@part
def put_end(
    ends: Array,
    k: int,
    steps: int,
    violation: float,
    intercept: float,
    lower: float,
    gap: float,
    n_bound: int,
    rounding: float,
) -> None:
    """Store the figures of an `End`."""
    ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3] = steps, violation, intercept, lower
    ends[k, 4], ends[k, 5], ends[k, 6] = gap, n_bound, rounding


@subroutine
def set_gradient(gram: Array, beta: Array, target: Array, gradient: Array) -> None:
    """gradient = Kβ − t."""
    for i in range(len(target)):
        gradient[i] = -target[i]
    for i in range(len(beta)):
        if beta[i] != 0.0:
            row, factor = gram[i], beta[i]
            for k in range(np.uintp(len(gradient))):
                gradient[k] += factor * row[k]


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
            gap += max(max(high[i] * (miss - width), low[i] * (miss + width)), 0.0) - accounted
        else:  # infinite bounds allow no loss: the remaining loss is the violation
            gap += abs(accounted)
        count += beta[i] != 0.0 and (beta[i] <= low[i] or beta[i] >= high[i])
    return -value, max(gap + abs(left * intercept), 0.0), count
