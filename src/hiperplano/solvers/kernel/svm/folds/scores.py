"""Test scores of all folds and values of C, from one Gram matrix for each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import one_worker, ordered_map, worker_count
from hiperplano.kernels import Kernel
from hiperplano.solvers.kernel.svm.decomposition import STEPS_PER_ROW, Minimum
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, solve_held, solve_with
from hiperplano.solvers.kernel.svm.folds.refined_gram import REFINED_BYTES
from hiperplano.solvers.kernel.svm.folds.sources import Shelf, are_held, shared_sources
from hiperplano.solvers.kernel.svm.gram_rows import SMALL, GramRows, HeldGram
from hiperplano.solvers.kernel.svm.planes.solve import Planes

Machine = tuple[Array, Array]
"""Mask of the rows of a pair of classes, and their signs."""


def fold_scores(
    kernels: Sequence[Kernel],
    x: Any,
    machines: Sequence[Machine],
    bound: Array,
    splits: Sequence[tuple[Array, Array]],
    Cs: Array,
    control: Control,
) -> list[list[Array]]:
    """Scores of the test rows by the machines of every kernel, fold and C.

    A row outside the training set of a fold has bounds of 0: its dual variable stays 0, and its score is updated with
    all others. Each C starts from the solution for the previous C. Kernels whose Gram matrices fit in memory together
    are solved concurrently, so that no thread waits for the last fold of a kernel. Machines of kernels with few
    features are solved as planes in these, except small ones that take SMO few steps.

    Parameters
    ----------
    bound : ndarray of shape (n,) or (machines, n)
        Bounds of the dual variables for C = 1.
    splits : sequence of (train, test)
        Row numbers, or masks.
    Cs : ndarray
        In increasing order.

    Returns
    -------
    list of list of ndarray of shape (Cs, machines, test rows)
        For every kernel and fold.
    """
    n = x.shape[0]
    trained = np.zeros((len(splits), n), dtype=bool)
    for fold, (train, _) in enumerate(splits):
        trained[fold, train] = True
    few = all((trained & own).sum(axis=1).max() <= SMALL for own, _ in machines)
    bounds = np.broadcast_to(bound, (len(machines), n))

    def path(task: tuple[int, int, int]) -> Array:
        kernel, fold, machine = task
        own, sign = machines[machine]
        mine = trained[fold] & own
        planes = Planes.of(kernels[kernel], x, int(mine.sum()), control.max_steps)
        if planes is not None and mine.sum() > SMALL:
            scores = _plane_path(planes, np.flatnonzero(mine), bounds[machine], sign, Cs, control)
            if scores is not None:
                return scores[:, splits[fold][1]]
        with shelf.lent(kernel) as (rows, coarse), one_worker():
            if isinstance(rows, HeldGram) and 0 < mine.sum() <= SMALL:
                scores = _small_path(np.flatnonzero(mine), bounds[machine], sign, rows, planes, Cs, control)
            else:
                scores = _path(np.where(mine, bounds[machine], 0.0), sign, rows, coarse, Cs, control)
        return scores[:, splits[fold][1]]

    largest = float(Cs[-1]) * float(np.linalg.norm(bounds, axis=1).max())
    room = control.n_bytes // ((8 if few or n <= SMALL else REFINED_BYTES) * n**2)
    shelf = Shelf(lambda each: shared_sources(kernels[each], x, control, few, largest), max(1, room))
    tasks = list(product(range(len(kernels)), range(len(splits)), range(len(machines))))
    workers = worker_count() if all(are_held(kernel, n, control.n_bytes) for kernel in kernels) else 1
    paths = iter(ordered_map(path, tasks, workers))
    return [[np.stack([next(paths) for _ in machines], axis=1) for _ in splits] for _ in kernels]


def _plane_path(planes: Planes, own: Array, bound: Array, sign: Array, Cs: Array, control: Control) -> Array | None:
    """Scores of all rows by planes in the features, of shape (Cs, n); None if a plane was not found."""
    scores = []
    for C in Cs:
        found = planes.solve(DualProblem.classification(sign[own], C * bound[own]), own, control.tol)
        if found is None or found.violation > control.tol:
            return None
        scores.append(planes.features @ (found.beta @ planes.features[own]) + found.intercept)
    return np.stack(scores)


def _next_start(problem: DualProblem, beta: Array, last: Array) -> DualProblem:
    """Start a problem with larger bounds from the previous solution; variables at a bound move to the new bound."""
    at_bound = (beta != 0.0) & (np.abs(beta) == last)
    return problem.started(np.where(at_bound, problem.low + problem.high, beta))


def _sums_at(start: Array, beta: Array, sums: Array, growth: float, rows: GramRows) -> Array:
    """K·start, from `sums` = K·β.

    Variables at their bounds have grown with them, and free ones have not. So the result starts from K·β, either as it
    is or multiplied by the growth of the bounds, whichever leaves fewer rows of K to add.
    """
    scales = (1.0, growth)
    changes = [
        np.where(np.isclose(start, scale * beta, rtol=1e-15, atol=0.0), 0.0, start - scale * beta) for scale in scales
    ]
    scale, change = min(zip(scales, changes, strict=True), key=lambda pair: np.count_nonzero(pair[1]))
    moved = np.flatnonzero(change)
    return np.asarray(scale * sums + rows.times(moved, change[moved]))


def _small_path(
    own: Array, bound: Array, sign: Array, rows: HeldGram, planes: Planes | None, Cs: Array, control: Control
) -> Array:
    """Scores of all rows by a machine trained on a few of them, of shape (Cs, n).

    If the kernel has few features, a machine that takes SMO many steps is solved as a plane.
    """
    held, signs, unit = HeldGram(rows.block(own)), sign[own], bound[own]
    betas, intercepts, last = np.zeros((len(Cs), len(own))), np.zeros(len(Cs)), Cs[0]
    for place, C in enumerate(Cs):
        problem = _next_start(DualProblem.classification(signs, C * unit), betas[place - 1], last * unit)
        found = _solve_small(problem, own, held, planes, control)
        betas[place], intercepts[place], last = found.beta, found.intercept, C
    return np.asarray(betas @ rows.gram[own]) + intercepts[:, None]


def _solve_small(problem: DualProblem, own: Array, held: HeldGram, planes: Planes | None, control: Control) -> Minimum:
    if planes is not None:
        found = solve_held(problem, held, replace(control, max_steps=STEPS_PER_ROW * len(own)))
        if found.violation <= control.tol:
            return found
        plane = planes.solve(problem, own, control.tol)
        if plane is not None and plane.violation <= control.tol:
            return plane
    return solve_held(problem, held, control)


def _path(bound: Array, sign: Array, rows: GramRows, coarse: GramRows | None, Cs: Array, control: Control) -> Array:
    scores = np.empty((len(Cs), len(sign)))
    beta, sums, last = np.zeros(len(sign)), np.zeros(len(sign)), Cs[0]
    for place, C in enumerate(Cs):
        problem = DualProblem.classification(sign, C * bound)
        problem = _next_start(problem, beta, last * bound)
        sums = _sums_at(problem.start, beta, sums, C / last, rows if coarse is None else coarse)
        found = solve_with(problem, rows, coarse, control, sums - sign)
        beta, sums, last = found.beta, found.gradient + sign, C
        scores[place] = sums + found.intercept
    return scores
