"""Support vector machines: choice of the solver, and the verdict on its solution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiperplano.data.design import Design
from hiperplano.data.in_memory import InMemory, require_memory
from hiperplano.solvers.svm.augmented_lagrangian import MATRIX_COLUMNS, augmented_newton
from hiperplano.solvers.svm.dual_ascent import dual_ascent
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.duality_gap import Budget, Certificate
from hiperplano.solvers.svm.solution import METHODS, SvmSolution, status

SOLVERS = ("auto", "newton", "dual")


def choose_solver(design: Design, squared: bool) -> str:
    """Newton's method, but for plain losses of sparse rows in memory with about as many columns, or more.

    There rows are nearly independent, and dual variables settle in few passes one by one. With more rows than that
    thousands of passes would not settle them.
    """
    wide = design.n_columns > MATRIX_COLUMNS and design.is_sparse and design.n_rows < 2 * design.n_columns
    return "dual" if wide and not squared and isinstance(design, InMemory) else "newton"


def solve_svm(
    designs: Sequence[Design], loss: DualLoss, *, fit_intercept: bool, solver: str, tol: float, max_iter: int
) -> SvmSolution:
    """Minimise ½‖coef‖² + Σ weight·loss, for each of some problems on the same rows by itself.

    Parameters
    ----------
    designs : sequence of Design
        The same rows, each with its own vector "sign" for classification.
    solver : {"auto", "newton", "dual"}
    tol : float
        Gap to reach, relative to the objective.
    max_iter : int
        Passes over the rows, for each problem.
    """
    chosen = choose_solver(designs[0], bool(loss.ridge)) if solver == "auto" else solver
    budgets = [Budget(max_iter) for _ in designs]
    found = [
        _solve(design, loss, chosen, fit_intercept, tol, budget)
        for design, budget in zip(designs, budgets, strict=True)
    ]
    gap = max(one.relative_gap for one in found)
    converged = all(one.proved for one in found)
    passes = max(budget.used for budget in budgets)
    objective = float(sum(one.evaluation.objective for one in found))
    return SvmSolution(
        coef=np.stack([one.evaluation.plane.coef for one in found]),
        intercept=np.array([one.evaluation.plane.intercept for one in found]) * fit_intercept,
        method=METHODS[chosen],
        n_iter=passes,
        objective=objective,
        gap=gap,
        converged=converged,
        status=status(chosen, gap, tol, passes, max_iter, converged),
        dual_objective=objective - float(sum(one.gap for one in found)),
        multipliers=np.stack(
            [
                design.collect(design.with_vectors(gamma=one.evaluation.gamma).map(loss.row_pulls))
                for design, one in zip(designs, found, strict=True)
            ]
        ),
    )


def _solve(design: Design, loss: DualLoss, solver: str, fit_intercept: bool, tol: float, budget: Budget) -> Certificate:
    if solver == "newton":
        return augmented_newton(design, loss, fit_intercept=fit_intercept, tol=tol, budget=budget)
    rows = require_memory(design, "solver='dual' takes rows one by one, from memory; solver='newton' sums over them.")
    return dual_ascent(rows, loss, fit_intercept=fit_intercept, tol=tol, budget=budget)
