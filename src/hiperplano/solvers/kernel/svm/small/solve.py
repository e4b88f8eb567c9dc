"""Solution of a small machine in one compiled call."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.decomposition import STEPS_PER_ROW
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.small.loops import End, solve_small
from hiperplano.solvers.kernel.svm.smo.loops import Slices


def solve_few(
    problem: DualProblem, gram: Array, diagonal: Array, tol: float, max_steps: int, there: Array | None = None
) -> tuple[End, Array, Array]:
    """Solve a problem with its Gram matrix held in float64; return the result, β and the gradient.

    Hard problems are left to other solvers: their violation is then above `tol`. The same holds if rows of the Gram
    matrix are needed that are not computed.
    """
    n, beta = len(gram), problem.start.copy()
    source = gram if there is None else np.empty((0, 0))
    there = np.ones(n, dtype=np.uint8) if there is None else there
    end, gradient = solve_small(
        gram, Slices(source, 0, n, 0, there), diagonal,
        problem.target, problem.low, problem.high, problem.width, problem.total, beta, tol, max_steps, STEPS_PER_ROW,
    )  # fmt: skip
    return end, beta, gradient
