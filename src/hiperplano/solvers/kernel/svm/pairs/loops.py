"""Compiled solution of the machines of many pairs of classes, from one Gram matrix in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import loop, part
from hiperplano.solvers.kernel.svm.small.loops import End, solve_small
from hiperplano.solvers.kernel.svm.smo.loops import Slices, copy_row


class Ends(NamedTuple):
    """Results of machines, one entry for each, as in `End`."""

    steps: Array
    violation: Array
    intercept: Array
    lower: Array
    gap: Array
    n_bound: Array
    rounding: Array

    @classmethod
    def none(cls, count: int) -> Ends:
        """Empty results, for machines that are not solved yet."""
        steps, violation, intercept, lower, gap, n_bound, rounding = np.zeros((7, count))
        return cls(steps.astype(np.int64), violation, intercept, lower, gap, n_bound.astype(np.int64), rounding)


@part
def put_end(ends: Ends, k: int, end: End) -> None:
    """Store the result of a machine."""
    ends.steps[k], ends.violation[k], ends.intercept[k] = end.steps, end.violation, end.intercept
    ends.lower[k], ends.gap[k] = end.lower, end.gap
    ends.n_bound[k], ends.rounding[k] = end.n_bound, end.rounding


@loop
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
    """Solve selected machines by SMO, and polish those of few rows beyond `tol`.

    Parameters
    ----------
    borders : ndarray of shape (classes + 1,)
        Where the rows of each class begin; rows are sorted by class.
    positive, negative : ndarray of shape (machines,)
        The classes of each machine.
    bound : ndarray of shape (n,)
    places : ndarray of shape (machines + 1,)
        Where the variables of each machine begin in `beta`, and where the last ones end.
    beta : ndarray
        Feasible points; updated.
    ends : Ends
        Filled for the selected machines.
    per_row : int
        Limit of steps per row. A machine that reaches it is given up: its violation then exceeds `tol`.
    """
    most = 0
    for k in chosen:
        most = max(most, places[k + 1] - places[k])
    # Allocated once: fresh memory costs as much time as a machine.
    room = np.empty(most * most if most < len(gram) else 0, gram.dtype)
    for k in chosen:
        one, other = min(positive[k], negative[k]), max(positive[k], negative[k])
        middle = borders[one + 1] - borders[one]
        size = middle + borders[other + 1] - borders[other]
        part = gram if size == len(gram) else room[: size * size].reshape(size, size)
        slices = Slices(gram, borders[one], middle, borders[other], np.zeros(size, np.uint8))
        own = beta[places[k] : places[k + 1]]
        sign, diagonal, low, high = np.empty(size), np.empty(size), np.zeros(size), np.zeros(size)
        for i in range(size):
            row = borders[one] + i if i < middle else borders[other] + i - middle
            diagonal[i], limit = gram[row, row], bound[row]
            sign[i] = 1.0 if (i < middle) == (one == positive[k]) else -1.0
            if size == len(gram):
                slices.copied[i] = 1
            if own[i] != 0.0:
                copy_row(part, slices, i)
            if sign[i] > 0:
                high[i] = limit
            else:
                low[i] = -limit
        end, _ = solve_small(part, slices, diagonal, sign, low, high, 0.0, 0.0, own, tol, max_steps, per_row)
        put_end(ends, k, end)


@loop
def spread(flat: Array, borders: Array, positive: Array, negative: Array, places: Array, chosen: Array) -> Array:
    """Variables of the selected machines as columns, of shape (n, machines), with 0 for rows outside a machine."""
    found = np.zeros((borders[-1], len(positive)))
    for k in chosen:
        one, other = min(positive[k], negative[k]), max(positive[k], negative[k])
        place = places[k]
        for each in (one, other):
            for i in range(borders[each], borders[each + 1]):
                found[i, k] = flat[place]
                place += 1
    return found
