"""Kernel ridge regression by conjugate gradients, preconditioned by a Cholesky factorisation in float32.

A factorisation in float32 takes half the time of one in float64, and conjugate gradients then need only a few steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.lapack.cholesky import factor_in_place, solve_factored
from hiperplano.linalg.memory import memory_limit
from hiperplano.linalg.tiles.symmetric import SymmetricTiles
from hiperplano.messages import Message
from hiperplano.solvers.kernel.refinement import REACH, refined_gradients
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_STEPS = 30  # most steps; a factor that needs more is too inaccurate


def solve_in_single(problem: RidgeProblem, tol: float, note: Message) -> KernelSolution | None:
    """Solve to a relative residual of `tol`.

    Return None where float32 is not accurate enough or the memory does not suffice.

    Parameters
    ----------
    note : Message
        Message that explains the choice of this solver.
    """
    if problem.gram.held is None or _bytes_needed(problem.n_rows) > memory_limit():
        return None
    u, intercept, residual, n_iter = np.empty(problem.y.shape), np.empty(problem.y.shape[1]), 0.0, 0
    for mine, part in problem.by_penalty():
        right, shift = part.right, float(part.alpha[0])
        inverse = inverse_in_single(problem.gram.held.single.lower(), shift)
        if inverse is None:
            return None
        found = refined_gradients(
            partial(_product, problem.gram.held.single, shift),
            partial(_remainder, problem, shift, right),
            start=(np.zeros(right.shape), right),
            size=np.linalg.norm(right, axis=0),
            precondition=partial(_of_all, inverse),
            tol=tol,
            reach=REACH[np.dtype(np.float32)],
            max_iter=_STEPS,
        )
        if not found.residual <= tol:
            return None
        u[:, mine], intercept[mine] = part.with_intercepts(found.x)
        residual, n_iter = max(residual, found.residual), max(n_iter, found.n_iter)
    return problem.solution(
        u,
        intercept,
        method=Message("Cholesky factorisation"),
        n_iter=n_iter,
        gap=residual,
        converged=True,
        status=note
        + Message(
            "Solved by a Cholesky factorisation of the Gram matrix of {n} rows in float32, and {steps} steps of "
            "conjugate gradients with it; relative residual {residual:.1e}.",
            n=problem.n_rows,
            steps=n_iter,
            residual=residual,
        ),
    )


def inverse_in_single(matrix: Array, shift: float) -> Callable[[Array], Array] | None:
    """Return a function that multiplies by (matrix + shift)⁻¹ in float32; None if the matrix is not positive definite.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        In float32; its lower half is read and overwritten.
    """
    matrix.flat[:: len(matrix) + 1] += np.float32(shift)
    return partial(_solved, matrix) if factor_in_place(matrix) else None


def _solved(factor: Array, right: Array) -> Array:
    """Solve with scaled right-hand sides, because small residuals leave the range of float32."""
    size = np.abs(right).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    return np.asarray(solve_factored(factor, right / size) * size)


def _bytes_needed(n: int) -> float:
    """Memory for the lower half of the Gram matrix in both precisions, and a factor."""
    return 10.0 * n * n


def _product(single: SymmetricTiles, shift: float, directions: Array, _: Array) -> Array:
    return np.asarray(single.dot(directions) + shift * directions)


def _remainder(problem: RidgeProblem, shift: float, right: Array, answers: Array, which: Array) -> Array:
    return np.asarray(right[:, which] - problem.gram.product(answers, np.array(shift)))


def _of_all(inverse: Callable[[Array], Array], residuals: Array, _: Array) -> Array:
    return inverse(residuals)
