"""Scores of machines for all folds and a path of C, from one Gram matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.kernels import Function, Kernel, KernelMatrix, Precomputed
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, dense_if_small, gram_sources, solve_with
from hiperplano.solvers.kernel.svm.gram_rows import SMALL, CachedGram, ComputedGram, GramRows, HeldGram

_ALLOWED = 0.01  # of the margin: what float32 may change of scores that are only to be compared

Machine = tuple[Array, Array]
"""Rows of a pair of classes, as a mask, and their signs."""


def fold_scores(
    kernel: Kernel, x: Any, machines: Sequence[Machine], bound: Array, trained: Array, Cs: Array, control: Control
) -> Array:
    """Scores of every row by the machines of every fold and C, of shape (folds, Cs, machines, n).

    A row on which a fold does not train has bounds of 0 there: its dual variable stays 0, and its score is kept up to
    date with all others. Each C starts from the solution of the one before.

    Parameters
    ----------
    bound : ndarray of shape (n,) or (machines, n)
        Bounds of the dual variables for C = 1.
    trained : ndarray of bool of shape (folds, n)
    Cs : ndarray
        In increasing order.
    """
    rows, coarse = _sources(kernel, x, control.n_bytes)
    bounds = np.broadcast_to(bound, (len(machines), rows.n))
    tasks = [(fold, machine) for fold in range(len(trained)) for machine in range(len(machines))]
    control = replace(control, allowed_rounding=_ALLOWED)

    def path(task: tuple[int, int]) -> Array:
        fold, machine = task
        own, sign = machines[machine]
        return _path(np.where(trained[fold] & own, bounds[machine], 0.0), sign, rows, coarse, Cs, control)

    # A cache of Gram rows is for one thread at a time.
    found = ordered_map(path, tasks, 1 if isinstance(coarse, CachedGram) else worker_count())
    return np.stack(found).reshape(len(trained), len(machines), len(Cs), rows.n).transpose(0, 2, 1, 3)


def _sources(kernel: Kernel, x: Any, n_bytes: int) -> tuple[GramRows, GramRows | None]:
    """Kernel values as `gram_sources` gives them, but held where memory allows it: all folds need all of them.

    They are computed in float64, and rounded to float32: half the memory is read in half the time.
    """
    n = x.shape[0]
    if isinstance(kernel, Precomputed | Function) or n <= SMALL or 4 * n**2 > n_bytes:
        return gram_sources(kernel, x, n_bytes)
    exact = KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)
    held = HeldGram(exact.dense(np.empty((n, n), dtype=np.float32)))
    return ComputedGram(exact, exact.diagonal), held


def _path(bound: Array, sign: Array, rows: GramRows, coarse: GramRows | None, Cs: Array, control: Control) -> Array:
    scores = np.empty((len(Cs), len(sign)))
    beta, sums, last = np.zeros(len(sign)), np.zeros(len(sign)), Cs[0]
    for place, C in enumerate(Cs):
        problem = DualProblem.classification(sign, C * bound)
        at_bound = (beta != 0) & (np.abs(beta) == last * bound)
        problem = problem.started(np.where(at_bound, problem.low + problem.high, beta))
        # What was at its bound and goes on to the new one has moved by the factor that all sums are multiplied with.
        growth = C / last
        change = np.where(at_bound & (np.abs(problem.start) == C * bound), 0.0, problem.start - growth * beta)
        moved = np.flatnonzero(change)
        sums = growth * sums + (rows if coarse is None else coarse).times(moved, change[moved])
        found = solve_with(problem, rows, coarse, control, sums - sign)
        beta, sums, last = found.beta, found.gradient + sign, C
        scores[place] = sums + found.intercept
    return scores
