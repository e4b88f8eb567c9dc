"""Support vector machines: which solver a problem gets, and the verdict on what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hiperplano.data.design import Design
from hiperplano.solvers.svm.augmented import MATRIX_COLUMNS, augmented_newton
from hiperplano.solvers.svm.dual import dual_ascent
from hiperplano.solvers.svm.proof import Answer, Budget
from hiperplano.solvers.svm.solution import METHODS, SvmSolution, sentence
from hiperplano.solvers.svm.tube import Tube

SOLVERS = ("auto", "newton", "dual")


def choose_solver(design: Design, squared: bool) -> str:
    """Newton's method, but for plain losses of sparse rows with about as many columns, or more.

    There rows are nearly independent, and multipliers settle in few passes one by one. With more rows than that
    thousands of passes would not settle them.
    """
    wide = design.n_columns > MATRIX_COLUMNS and design.is_sparse
    return "dual" if wide and not squared and design.n_rows < 2 * design.n_columns else "newton"


def solve_svm(
    design: Design, tubes: Sequence[Tube], *, fit_intercept: bool, solver: str, tol: float, max_iter: int
) -> SvmSolution:
    """Minimise ½‖coef‖² + Σ weight·loss, for each of some losses on the same rows by itself.

    Parameters
    ----------
    tol : float
        Gap to reach, relative to the objective.
    max_iter : int
        Passes over the rows, for each problem.
    """
    chosen = choose_solver(design, bool(tubes[0].give)) if solver == "auto" else solver
    solve: Callable[..., Answer] = augmented_newton if chosen == "newton" else dual_ascent
    budgets = [Budget(max_iter) for _ in tubes]
    answers = [
        solve(design, tube, fit_intercept=fit_intercept, tol=tol, budget=budget)
        for tube, budget in zip(tubes, budgets, strict=True)
    ]
    gap = max(answer.relative_gap for answer in answers)
    good = all(answer.proved for answer in answers)
    passes = max(budget.used for budget in budgets)
    objective = float(sum(answer.view.objective for answer in answers))
    return SvmSolution(
        coef=np.stack([answer.view.plane.coef for answer in answers]),
        intercept=np.array([answer.view.plane.intercept for answer in answers]) * fit_intercept,
        method=METHODS[chosen],
        n_iter=passes,
        objective=objective,
        gap=gap,
        converged=good,
        status=sentence(chosen, gap, tol, passes, max_iter, good),
        dual_objective=objective - float(sum(answer.gap for answer in answers)),
        multipliers=np.stack([tube.weighted(one.view.gamma) for tube, one in zip(tubes, answers, strict=True)]),
    )
