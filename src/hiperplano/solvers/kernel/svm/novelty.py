"""One-class support vector machines, with a start close to the solution."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.kernels import Kernel
from hiperplano.solvers.kernel.svm.decomposition import score_rounding
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem, filled
from hiperplano.solvers.kernel.svm.fit import Control, asked_gram, gram_sources, solve_asked, solve_with
from hiperplano.solvers.kernel.svm.gram_rows import SMALL
from hiperplano.solvers.kernel.svm.rows_asked import FIRST
from hiperplano.solvers.kernel.svm.solution import Machines

_SAMPLED = 24  # sampled rows, 24 to 47, from which the density of the others is estimated


def solve_novelty(problem: DualProblem, kernel: Kernel, x: Any, control: Control) -> Machines:
    """Solve a `DualProblem.novelty`. `x` is the Gram matrix if the kernel is precomputed."""
    n = x.shape[0]
    sample = np.arange(0, n, max(1, n // _SAMPLED))
    if n > SMALL:
        rows, coarse = gram_sources(kernel, x, control.n_bytes)
        density = _densities(rows.times(sample, np.ones(len(sample))), sample, rows.diagonal)
        problem = _started(problem, density, rows.diagonal)
        found = solve_with(problem, rows, coarse, _reachable(problem, rows.diagonal, control))
        return Machines.of([problem], [found], [np.arange(n)], n)
    gram = asked_gram(kernel, x, sample)
    density = _densities(gram.values[sample].sum(axis=0), sample, gram.diagonal)
    problem = _started(problem, density, gram.diagonal)
    gram.require(np.argsort(density)[: np.count_nonzero(problem.start) + FIRST])
    return solve_asked(problem, gram, _reachable(problem, gram.diagonal, control))


def _reachable(problem: DualProblem, diagonal: Array, control: Control) -> Control:
    """Fewer steps, if scores are already rounded by more than `tol` at the start."""
    rounding = float(score_rounding(problem.start, diagonal).max())
    return control.in_vain(len(diagonal)) if rounding > control.tol else control


def _densities(sums: Array, sample: Array, diagonal: Array) -> Array:
    """Mean kernel value of each row with other rows, from sums over a sample."""
    density, count = sums.copy(), np.full(len(sums), float(len(sample)))
    density[sample] -= diagonal[sample]
    count[sample] -= 1.0
    return np.asarray(density / np.maximum(count, 1.0))


def _started(problem: DualProblem, density: Array, diagonal: Array) -> DualProblem:
    """Start with the rows of lowest density at their bounds; or with equal variables, if that seems better.

    With a smooth kernel, most support vectors are rows of low density. With a very narrow kernel, all rows are support
    vectors.
    """
    least = filled(problem.high, problem.total, np.argsort(density))
    alike = np.minimum(problem.high, problem.total / len(density))
    room = problem.high - alike  # bounds of some rows are below the equal share
    alike += room * ((problem.total - alike.sum()) / max(float(room.sum()), np.finfo(float).tiny))

    def value(beta: Array) -> float:
        """βᵀKβ, assuming that the rows of β have the same density among themselves as among all rows."""
        return float(problem.total * (beta @ density) + (beta * beta) @ (diagonal - density))

    return replace(problem, start=alike if value(alike) < value(least) else least)
