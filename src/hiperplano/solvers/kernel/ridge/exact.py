"""Kernel ridge regression by a Cholesky factorisation of the Gram matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, eigh
from scipy.linalg.lapack import dpotrf, dpotrs

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_REFINE = 1e-12  # relative residual above which one step of iterative refinement is made
_SOLVED = 1e-6  # largest relative residual of a converged solution
_ABSENT = 1e-13  # eigenvalues below this share of the largest, times n, count as 0


def solve_exactly(problem: RidgeProblem, note: Message | str = "") -> KernelSolution:
    """Factor S·K·S + α for every distinct α, solve, and refine with residuals of the matrix itself.

    Parameters
    ----------
    note : Message
        Message that explains the choice of this solver.
    """
    u, intercept = np.empty(problem.y.shape), np.empty(problem.y.shape[1])
    smallest, residual = np.inf, 0.0
    for mine, part in problem.by_penalty():
        try:
            u[:, mine], intercept[mine], left = _by_cholesky(part)
        except LinAlgError:
            u[:, mine], intercept[mine], left, least = _by_eigenvectors(part)
            smallest = min(smallest, least)
        residual = max(residual, left)
    return problem.solution(
        u,
        intercept,
        method=Message("Cholesky factorisation") if np.isinf(smallest) else Message("eigenvectors"),
        gap=residual,
        converged=bool(residual <= _SOLVED if np.isinf(smallest) else smallest >= 0),
        status=note + _status(problem, residual, smallest),
    )


def _by_cholesky(problem: RidgeProblem) -> tuple[Array, Array, float]:
    """u, intercepts and the residual for one penalty, after one step of iterative refinement if it is needed."""
    right, shift = problem.right, float(problem.alpha[0])
    solve = _whole_factor(problem, shift) if problem.gram.whole is not None else _factor_of_tiles(problem, shift)
    found = solve(right)
    left = right - problem.gram.product(found, np.array(shift))
    if relative_residual(left, right) > _REFINE:
        found = found + solve(left)
        left = right - problem.gram.product(found, np.array(shift))
    return *problem.with_intercepts(found), relative_residual(left, right)


def _whole_factor(problem: RidgeProblem, shift: float) -> Callable[[Array], Array]:
    """Solve with (S·K·S + shift)⁻¹, for few rows: one dense factor."""
    shifted = np.array(problem.gram.whole)
    shifted.flat[:: len(shifted) + 1] += shift
    # Fortran order, so that LAPACK makes no copy.
    factor, failed = dpotrf(shifted.T, lower=True, overwrite_a=True, clean=False)
    if failed:
        raise LinAlgError
    return lambda right: np.asarray(dpotrs(factor, right, lower=True)[0])


def _factor_of_tiles(problem: RidgeProblem, shift: float) -> Callable[[Array], Array]:
    """Solve with (S·K·S + shift)⁻¹, for many rows: a factor in tiles."""
    tiles = problem.gram.tiles(np.float64) if problem.gram.held is None else problem.gram.held.astype(np.float64)
    tiles.add_to_diagonal(shift)
    return tiles.factor().solve


def relative_residual(left: Array, right: Array) -> float:
    """The largest norm of a column, relative to that of the right-hand side."""
    size = np.linalg.norm(right, axis=0)
    return float(np.linalg.norm(left / np.where(size > 0, size, 1.0), axis=0).max(initial=0.0))


def _by_eigenvectors(problem: RidgeProblem) -> tuple[Array, Array, float, float]:
    """The minimum-norm solution for one penalty, with a matrix that is not positive definite.

    Returns u, intercepts, the residual and the smallest eigenvalue, 0 if that is a rounding error.
    """
    root, targets = problem.gram.root, problem.targets
    matrix = problem.gram.matrix.dense() * root[:, None] * root
    matrix[np.diag_indices(len(matrix))] += problem.alpha[0]
    if not problem.fit_intercept:
        u, residual, smallest = _shortest(matrix, targets)
        return u, np.zeros(u.shape[1]), residual, smallest
    # Rows and targets are centred: the inverse that gives the intercept otherwise does not exist.
    centre = root / np.linalg.norm(root)
    inner = matrix - np.multiply.outer(centre, centre @ matrix)
    inner -= np.multiply.outer(inner @ centre, centre)
    u, residual, smallest = _shortest(inner, targets - np.multiply.outer(centre, centre @ targets))
    return u, root @ (targets - matrix @ u) / (root @ root), residual, smallest


def _shortest(matrix: Array, right: Array) -> tuple[Array, float, float]:
    """Minimum-norm least-squares solution, its residual and the smallest eigenvalue, 0 if that is a rounding error."""
    values, vectors = eigh(matrix)
    limit = _ABSENT * len(values) * float(np.abs(values).max(initial=0.0))
    there = np.abs(values) > limit
    found = vectors[:, there] @ ((vectors[:, there].T @ right) / values[there, None])
    return found, relative_residual(right - matrix @ found, right), float(values[0]) if values[0] < -limit else 0.0


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
        kernel=str(problem.gram.kernel),
    )
