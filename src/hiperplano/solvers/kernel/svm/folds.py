"""Scores of machines for all folds and a path of C, from one Gram matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.kernels import Kernel, Precomputed
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, gram_sources, held_gram, solve_with
from hiperplano.solvers.kernel.svm.gram_rows import GramRows

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
    n = x.shape[0]
    coarse: GramRows | None = None
    if isinstance(kernel, Precomputed) or 8 * n**2 <= control.n_bytes:
        rows: GramRows = held_gram(kernel, x)
    else:
        rows, coarse = gram_sources(kernel, x, control.n_bytes)
    bounds = np.broadcast_to(bound, (len(machines), n))
    tasks = [(fold, machine) for fold in range(len(trained)) for machine in range(len(machines))]

    def path(task: tuple[int, int]) -> Array:
        fold, machine = task
        own, sign = machines[machine]
        return _path(np.where(trained[fold] & own, bounds[machine], 0.0), sign, rows, coarse, Cs, control)

    # A cache of Gram rows is for one thread at a time.
    found = ordered_map(path, tasks, 1 if coarse is not None else worker_count())
    return np.stack(found).reshape(len(trained), len(machines), len(Cs), n).transpose(0, 2, 1, 3)


def _path(bound: Array, sign: Array, rows: GramRows, coarse: GramRows | None, Cs: Array, control: Control) -> Array:
    scores = np.empty((len(Cs), len(sign)))
    problem: DualProblem | None = None
    beta = np.zeros(len(sign))
    for place, C in enumerate(Cs):
        last, problem = problem, DualProblem.classification(sign, C * bound)
        if last is not None:  # what was at its bound goes on to the new one
            at_bound = (beta != 0) & ((beta == last.low) | (beta == last.high))
            beta = np.where(at_bound, problem.low + problem.high, beta)
        found = solve_with(problem.started(beta), rows, coarse, control)
        beta = found.beta
        scores[place] = found.gradient + sign + found.intercept
    return scores
