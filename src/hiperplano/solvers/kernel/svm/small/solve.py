"""Solution of a small machine in one compiled call."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.decomposition import STEPS_PER_ROW
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.small.loops import End, solve_machines


def solve_few(
    problem: DualProblem, gram: Array, diagonal: Array, tol: float, max_steps: int, there: Array | None = None
) -> tuple[End, Array, Array]:
    """Solve a problem with its Gram matrix held in float64; return the result, β and the gradient.

    Hard problems are left to other solvers: their violation is then above `tol`. The same holds if rows of the Gram
    matrix are needed that are not computed.
    """
    n, beta, gradient, ends = len(gram), problem.start.copy(), np.empty(len(gram)), np.empty((1, 7))
    there = np.ones(n, dtype=np.uint8) if there is None else there
    solve_machines(
        gram, np.array([[0, n, 0]]), np.array([0, n]), there, diagonal,
        problem.target, problem.low, problem.high, problem.width, problem.total, beta, gradient, ends, np.zeros(1, int),
        tol, max_steps, STEPS_PER_ROW,
    )  # fmt: skip
    return End.of(ends[0]), beta, gradient
