"""Kernel ridge regression by a Cholesky factorisation of the Gram matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from hiperplano.data.design import Array
from hiperplano.linalg.tiles import LinAlgError, TriangularTiles
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_REFINE = 1e-12  # relative residual beyond which a step of refinement is made
_SOLVED = 1e-6  # relative residual from which on the equations are not solved
_ABSENT = 1e-13  # of the largest eigenvalue: below it a direction is rounding


def solve_exactly(problem: RidgeProblem, note: Message | str = "") -> KernelSolution:
    """Factor S·K·S + α for every distinct α, solve, and refine with residuals of the matrix computed anew.

    Parameters
    ----------
    note : Message
        What to say of the choice of this solver.
    """
    u = np.empty(problem.right.shape)
    smallest = np.inf
    for shift in np.unique(problem.shift):
        mine = problem.shift == shift
        tiles = problem.tiles(np.float64)
        tiles.add_to_diagonal(shift)
        try:
            u[:, mine] = _refined(problem, tiles.factor(), float(shift), problem.right[:, mine])
        except LinAlgError:
            u[:, mine], least = _by_eigenvectors(problem, float(shift), problem.right[:, mine])
            smallest = min(smallest, least)
    residual = relative_residual(problem, u)
    coef, intercept, objective = problem.assemble(u)
    return KernelSolution(
        coef=coef,
        intercept=intercept,
        method=Message("Cholesky factorisation") if np.isinf(smallest) else Message("eigenvectors"),
        n_iter=1,
        objective=objective,
        gap=residual,
        converged=bool(residual <= _SOLVED if np.isinf(smallest) else smallest >= 0),
        status=note + _status(problem, residual, smallest),
        kernel=str(problem.kernel),
    )


def relative_residual(problem: RidgeProblem, u: Array) -> float:
    """The largest over the right sides, with the matrix computed anew."""
    left = np.linalg.norm(problem.right - problem.product(u, problem.shift), axis=0)
    return float((left / np.maximum(np.linalg.norm(problem.right, axis=0), np.finfo(float).tiny)).max())


def _refined(problem: RidgeProblem, factor: TriangularTiles, shift: float, right: Array) -> Array:
    """One step of refinement where rounding left more than it must."""
    found = factor.solve(right)
    residual = right - problem.product(found, np.array(shift))
    if np.linalg.norm(residual) > _REFINE * np.linalg.norm(right):
        found += factor.solve(residual)
    return found


def _by_eigenvectors(problem: RidgeProblem, shift: float, right: Array) -> tuple[Array, float]:
    """The shortest solution where the matrix is not positive definite, and its smallest eigenvalue (0 for rounding)."""
    matrix = problem.matrix.dense() * problem.root[:, None] * problem.root
    matrix[np.diag_indices(len(matrix))] += shift
    values, vectors = eigh(matrix)
    limit = _ABSENT * len(values) * float(np.abs(values).max(initial=0.0))
    there = np.abs(values) > limit
    found = vectors[:, there] @ ((vectors[:, there].T @ right) / values[there, None])
    return np.asarray(found), float(values[0]) if values[0] < -limit else 0.0


def _status(problem: RidgeProblem, residual: float, smallest: float) -> Message:
    if np.isinf(smallest) and residual > _SOLVED:
        return Message(
            "A Cholesky factorisation of the Gram matrix of {n} rows left a relative residual of {residual:.1e}: its "
            "numbers are so much larger than the penalty that float64 does not hold both. Standardise the columns, or "
            "raise alpha.",
            n=problem.n_rows,
            residual=residual,
        )
    if np.isinf(smallest):
        return Message(
            "Solved by a Cholesky factorisation of the Gram matrix of {n} rows; relative residual {residual:.1e}.",
            n=problem.n_rows,
            residual=residual,
        )
    if smallest >= 0:
        return Message(
            "The Gram matrix of {n} rows is singular and the penalty does not change that; of all solutions the "
            "shortest was taken. Raise alpha.",
            n=problem.n_rows,
        )
    return Message(
        "The Gram matrix with the penalty has the eigenvalue {smallest:.3g}, so {kernel} is not positive definite on "
        "these rows: the equations were solved, but the solution minimises nothing. Raise alpha, or choose another "
        "kernel.",
        smallest=smallest,
        kernel=str(problem.kernel),
    )
