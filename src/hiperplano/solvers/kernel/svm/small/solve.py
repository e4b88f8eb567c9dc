"""A machine of few rows by one compiled call."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.decomposition import STEPS_PER_ROW
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.small.loops import End, solve_small
from hiperplano.solvers.kernel.svm.smo_loops import Slices


def solve_few(
    problem: DualProblem, gram: Array, diagonal: Array, tol: float, max_steps: int
) -> tuple[End, Array, Array]:
    """Solve a problem with its Gram matrix in float64 held: how it ended, β and the gradient.

    Hard problems are left to others: their violation is then above `tol`.
    """
    n, beta = len(gram), problem.start.copy()
    end, gradient = solve_small(
        gram, Slices(gram, 0, n, 0, np.ones(n, dtype=np.bool_)), diagonal,
        problem.target, problem.low, problem.high, problem.width, problem.total, beta, tol, max_steps, STEPS_PER_ROW,
    )  # fmt: skip
    return end, beta, gradient
