"""Kernel ridge regression with a kernel that has few features.

With F = S·Φ, the weighted features, S·K·S = F·Fᵀ, and the Woodbury identity avoids the Gram matrix:

    (F·Fᵀ + α)⁻¹ = (I − F·(Fᵀ·F + α)⁻¹·Fᵀ) / α.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_SOLVED = 1e-10  # largest relative residual; above it, solvers that use the Gram matrix may be more accurate


def solve_in_features(problem: RidgeProblem, features: Array) -> KernelSolution | None:
    """Solve, with one step of iterative refinement. Return None where rounding leaves too large a residual."""
    with np.errstate(over="ignore", invalid="ignore"):  # results that overflow are rejected below
        return _solve(problem, features)


def _solve(problem: RidgeProblem, features: Array) -> KernelSolution | None:
    rows = features if problem.gram.weight is None else problem.gram.root[:, None] * features
    products = rows.T @ rows
    if not np.isfinite(products).all():
        return None
    u, residual = np.empty(problem.right.shape), 0.0
    for shift in np.unique(problem.shift).tolist():
        mine = problem.shift == shift
        right = problem.right[:, mine]
        try:
            factor = cho_factor(products + shift * np.eye(len(products)), lower=True, check_finite=False)
        except LinAlgError:
            return None
        found = left = np.zeros_like(right)
        for _ in range(2):
            left = right - rows @ (rows.T @ found) - shift * found
            found = found + (left - rows @ cho_solve(factor, rows.T @ left, check_finite=False)) / shift
        left = right - rows @ (rows.T @ found) - shift * found
        size = np.linalg.norm(right, axis=0)
        relative = float((np.linalg.norm(left, axis=0) / np.where(size > 0, size, 1.0)).max())
        if not relative <= _SOLVED:
            return None
        u[:, mine], residual = found, max(residual, relative)
    coef, intercept, objective = problem.assemble(u)
    return KernelSolution(
        coef=coef,
        intercept=intercept,
        method=Message("Cholesky factorisation in the features of the kernel"),
        n_iter=1,
        objective=objective,
        gap=residual,
        converged=True,
        status=Message(
            "Solved by a Cholesky factorisation in the {r} features of the kernel; relative residual {residual:.1e}.",
            r=features.shape[1],
            residual=residual,
        ),
        kernel=str(problem.gram.kernel),
    )
