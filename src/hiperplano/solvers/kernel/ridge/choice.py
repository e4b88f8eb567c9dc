"""Choice of the solver of kernel ridge regression, by the number of rows and the available memory."""

from __future__ import annotations

import numpy as np

from hiperplano.kernels.dimension import few_features
from hiperplano.linalg.memory import require_bytes
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.conjugate import solve_conjugate, steps_of_cholesky, tiles_fit
from hiperplano.solvers.kernel.ridge.exact import solve_exactly
from hiperplano.solvers.kernel.ridge.features import solve_in_features
from hiperplano.solvers.kernel.ridge.nystroem import default_centres, solve_nystroem
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

SOLVERS = ("auto", "cholesky", "conjugate", "nystroem")
_FEW_STEPS = 25  # "auto" factors at once if Cholesky costs no more than this number of conjugate gradient steps


def solve_ridge(
    problem: RidgeProblem,
    *,
    solver: str = "auto",
    n_centres: int | None = None,
    tol: float = 1e-8,
    max_iter: int | None = None,
    seed: int = 0,
    owner: str = "KernelRidge",
) -> KernelSolution:
    """Minimise the criterion of `problem` by the requested solver; "auto" chooses a suitable one.

    Parameters
    ----------
    solver : {"auto", "cholesky", "conjugate", "nystroem"}
        "auto" is exact where the Gram matrix fits in memory.
    n_centres : int, optional
        Number of centres of "nystroem".
    tol, max_iter : float, int or None
        Relative residual to reach, and most steps of conjugate gradients.
    seed : int
        Seed of pivots and samples.
    owner : str
        Name of the model, for messages.
    """
    n, note = problem.n_rows, ""
    if solver == "auto":
        features = few_features(problem.gram.kernel, problem.gram.X, n)
        if features is not None:
            return solve_in_features(problem, features, tol)
        solver = fitting_solver(problem)
        if solver == "nystroem":
            note = Message(
                "The Gram matrix of {n} rows takes {size:.0f} GB, more than half of the memory; so an approximate "
                "solver was chosen. ",
                n=n,
                size=2e-9 * n * n,
            )
        elif solver == "conjugate":
            return solve_conjugate(problem, tol, max_iter, seed, otherwise_exact=True)
    if solver == "cholesky":
        require_bytes(
            4.0 * n * n,
            owner,
            Message("a factorisation of the Gram matrix of {n} rows", n=n),
            Message("solver='conjugate' needs less or none of it, solver='nystroem' works with a few of its columns."),
        )
        return solve_exactly(problem)
    if solver == "conjugate":
        return solve_conjugate(problem, tol, max_iter, seed)
    return solve_nystroem(problem, n_centres or default_centres(n), tol, max_iter, seed, note)


def fitting_solver(problem: RidgeProblem) -> str:
    """The solver that "auto" stands for."""
    if not tiles_fit(problem.n_rows, np.float32):
        return "nystroem"
    # Conjugate gradients need a positive definite matrix.
    definite = problem.gram.kernel.positive_definite and problem.alpha.all()
    return "conjugate" if definite and steps_of_cholesky(problem) > _FEW_STEPS else "cholesky"
