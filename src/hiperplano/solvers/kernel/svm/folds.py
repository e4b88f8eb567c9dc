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
from hiperplano.solvers.kernel.svm.fit import Control, dense_if_small, gram_sources, held_gram, solve_held, solve_with
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
    few = all((trained & own).sum(axis=1).max() <= SMALL for own, _ in machines)
    rows, coarse = _sources(kernel, x, control.n_bytes, few)
    bounds = np.broadcast_to(bound, (len(machines), rows.n))
    tasks = [(fold, machine) for fold in range(len(trained)) for machine in range(len(machines))]
    control = replace(control, allowed_rounding=_ALLOWED)

    def path(task: tuple[int, int]) -> Array:
        fold, machine = task
        own, sign = machines[machine]
        mine = trained[fold] & own
        if isinstance(rows, HeldGram) and 0 < mine.sum() <= SMALL:
            return _small_path(np.flatnonzero(mine), bounds[machine], sign, rows, Cs, control)
        return _path(np.where(mine, bounds[machine], 0.0), sign, rows, coarse, Cs, control)

    # A cache of Gram rows is for one thread at a time.
    found = ordered_map(path, tasks, 1 if isinstance(coarse, CachedGram) else worker_count())
    return np.stack(found).reshape(len(trained), len(machines), len(Cs), rows.n).transpose(0, 2, 1, 3)


def _sources(kernel: Kernel, x: Any, n_bytes: int, few: bool) -> tuple[GramRows, GramRows | None]:
    """Kernel values as `gram_sources` gives them, but held where memory allows it: all folds need all of them.

    They are computed in float64, and rounded to float32: half the memory is read in half the time. Machines of few rows
    take them as they are.
    """
    n = x.shape[0]
    if isinstance(kernel, Precomputed | Function) or n <= SMALL or 4 * n**2 > n_bytes:
        return gram_sources(kernel, x, n_bytes)
    if few and 8 * n**2 <= n_bytes:
        return held_gram(kernel, x), None
    exact = KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)
    held = HeldGram(exact.dense(np.empty((n, n), dtype=np.float32)))
    return ComputedGram(exact, exact.diagonal), held


def _next_start(problem: DualProblem, beta: Array, last: Array) -> tuple[DualProblem, Array]:
    """The problem with larger bounds from the solution with the last ones, and what goes on to the new bound."""
    at_bound = (beta != 0.0) & (np.abs(beta) == last)
    return problem.started(np.where(at_bound, problem.low + problem.high, beta)), at_bound


def _small_path(own: Array, bound: Array, sign: Array, rows: HeldGram, Cs: Array, control: Control) -> Array:
    """Scores of all rows by a machine of a few of them, of shape (Cs, n)."""
    held, signs, unit = HeldGram(rows.block(own)), sign[own], bound[own]
    betas, intercepts, last = np.zeros((len(Cs), len(own))), np.zeros(len(Cs)), Cs[0]
    for place, C in enumerate(Cs):
        problem, _ = _next_start(DualProblem.classification(signs, C * unit), betas[place - 1], last * unit)
        found = solve_held(problem, held, control)
        betas[place], intercepts[place], last = found.beta, found.intercept, C
    return np.asarray(betas @ rows.gram[own]) + intercepts[:, None]


def _path(bound: Array, sign: Array, rows: GramRows, coarse: GramRows | None, Cs: Array, control: Control) -> Array:
    scores = np.empty((len(Cs), len(sign)))
    beta, sums, last = np.zeros(len(sign)), np.zeros(len(sign)), Cs[0]
    for place, C in enumerate(Cs):
        problem = DualProblem.classification(sign, C * bound)
        problem, at_bound = _next_start(problem, beta, last * bound)
        # What was at its bound and goes on to the new one has moved by the factor that all sums are multiplied with.
        growth = C / last
        change = np.where(at_bound & (np.abs(problem.start) == C * bound), 0.0, problem.start - growth * beta)
        moved = np.flatnonzero(change)
        sums = growth * sums + (rows if coarse is None else coarse).times(moved, change[moved])
        found = solve_with(problem, rows, coarse, control, sums - sign)
        beta, sums, last = found.beta, found.gradient + sign, C
        scores[place] = sums + found.intercept
    return scores
