"""Scores of machines for all folds and a path of C, from one Gram matrix for each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.kernels import Function, Kernel, KernelMatrix, Precomputed
from hiperplano.solvers.kernel.svm.decomposition import NEGLIGIBLE
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, dense_if_small, gram_sources, held_gram, solve_held, solve_with
from hiperplano.solvers.kernel.svm.gram_rows import SMALL, CachedGram, ComputedGram, GramRows, HeldGram
from hiperplano.solvers.kernel.svm.refined_gram import REFINED_BYTES, RefinedGram

Machine = tuple[Array, Array]
"""Rows of a pair of classes, as a mask, and their signs."""

Sources = tuple[GramRows, GramRows | None]
"""Kernel values in float64, and maybe in float32."""


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

    A row on which a fold does not train has bounds of 0 there: its dual variable stays 0, and its score is kept up to
    date with all others. Each C starts from the solution of the one before. Kernels whose Gram matrices fit in memory
    together are solved side by side, so that no thread waits for the last fold of each.

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

    def path(task: tuple[Sources, int, int]) -> Array:
        (rows, coarse), fold, machine = task
        own, sign = machines[machine]
        mine = trained[fold] & own
        if isinstance(rows, HeldGram) and 0 < mine.sum() <= SMALL:
            scores = _small_path(np.flatnonzero(mine), bounds[machine], sign, rows, Cs, control)
        else:
            scores = _path(np.where(mine, bounds[machine], 0.0), sign, rows, coarse, Cs, control)
        return scores[:, splits[fold][1]]

    together = max(1, control.n_bytes // ((8 if few or n <= SMALL else REFINED_BYTES) * n**2))
    found: list[list[Array]] = []
    for start in range(0, len(kernels), together):
        largest = float(Cs[-1]) * float(np.linalg.norm(bounds, axis=1).max())
        sources = [_sources(kernel, x, control, few, largest) for kernel in kernels[start : start + together]]
        tasks = list(product(sources, range(len(splits)), range(len(machines))))
        # A cache of Gram rows is for one thread at a time.
        workers = 1 if isinstance(sources[0][1], CachedGram) else worker_count()
        paths = iter(ordered_map(path, tasks, workers))
        found += [[np.stack([next(paths) for _ in machines], axis=1) for _ in splits] for _ in sources]
    return found


def _sources(kernel: Kernel, x: Any, control: Control, few: bool, largest: float) -> Sources:
    """Kernel values as `gram_sources` gives them, but held where memory allows it: all folds need all of them.

    They are computed in float64, and rounded to float32: half the memory is read in half the time. Where the dual
    variables may be so large that rounding matters, what it leaves out is held, too. Machines of few rows take values
    as they are.

    Parameters
    ----------
    few : bool
        Whether all machines have few rows.
    largest : float
        Norm that dual variables may have.
    """
    n, n_bytes = x.shape[0], control.n_bytes
    if isinstance(kernel, Precomputed | Function) or n <= SMALL or 4 * n**2 > n_bytes:
        return gram_sources(kernel, x, n_bytes)
    if few and 8 * n**2 <= n_bytes:
        return held_gram(kernel, x), None
    exact = KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)
    size = largest * float(exact.diagonal.max())
    refined = kernel.positive_definite and REFINED_BYTES * n**2 <= n_bytes
    if refined and RefinedGram.resolution * size <= NEGLIGIBLE * control.tol < np.finfo(np.float32).eps * size:
        values = RefinedGram(exact)
        return values, values.held
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
