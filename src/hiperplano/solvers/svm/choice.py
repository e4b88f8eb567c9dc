"""Support vector machines: choice of the solver, and the verdict on its solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hiperplano.data.design import Design
from hiperplano.data.in_memory import InMemory, require_memory
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.parallel.threads import in_threads
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.svm.augmented_lagrangian import augmented_newton
from hiperplano.solvers.svm.compiled.costs import usual_passes
from hiperplano.solvers.svm.compiled.in_memory import CompiledSearch, fits_loops
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.duality_gap import Budget, plane_fit
from hiperplano.solvers.svm.solution import METHODS, PlaneFit, SvmSolution, status

SOLVERS = ("auto", "newton", "dual")
_FEW_CELLS = 2**22  # most numbers of a table in memory that is copied to float64: 32 MB


def solve_svm(
    designs: Sequence[Design], loss: DualLoss, *, fit_intercept: bool, solver: str, tol: float, max_iter: int | None
) -> SvmSolution:
    """Minimise ½‖coef‖² + Σ weight·loss, separately for each of several problems on the same rows.

    Parameters
    ----------
    designs : sequence of Design
        The same rows, each with its own vector "sign" for classification.
    solver : {"auto", "newton", "dual"}
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int or None
        Most passes over the rows, for each problem; None for `usual_passes`.
    """
    max_iter = usual_passes(designs[0]) if max_iter is None else max_iter
    if solver == "dual":
        require_memory(designs[0], "solver='dual' takes rows one by one, from memory; solver='newton' sums over them.")
    held = HeldColumns.of(designs[0])
    if held is not None:  # coefficients of empty columns are 0, since no loss depends on them
        narrow = held.narrow()
        few = [design.on_rows_of(narrow) for design in designs if isinstance(design, InMemory)]
        solution = solve_svm(few, loss, fit_intercept=fit_intercept, solver=solver, tol=tol, max_iter=max_iter)
        return replace(solution, coef=held.widen(solution.coef))
    if not isinstance(designs[0], InMemory):
        found = [_newton(design, loss, fit_intercept, tol, max_iter) for design in designs]
    elif fits_loops(designs[0], solver, bool(loss.ridge)):
        search = CompiledSearch(designs[0], loss, fit_intercept, solver, tol, max_iter, len(designs))
        with one_blas_thread():
            found = in_threads(search.fit, designs, len(designs) * designs[0].n_rows * designs[0].n_columns)
    else:
        rows = designs[0].in_doubles(_FEW_CELLS)
        search = CompiledSearch(rows, loss, fit_intercept, solver, tol, max_iter, len(designs))
        found = [search.fit_many(design.on_rows_of(rows)) for design in designs if isinstance(design, InMemory)]
    gap = max(one.relative_gap for one in found)
    converged = all(one.proved for one in found)
    longest = max(found, key=lambda one: one.passes)
    objective = float(sum(one.objective for one in found))
    return SvmSolution(
        coef=np.stack([one.coef for one in found]),
        intercept=np.array([one.intercept for one in found]) * fit_intercept,
        method=METHODS[longest.method],
        n_iter=longest.passes,
        objective=objective,
        gap=gap,
        converged=converged,
        status=status(longest.method, gap, tol, longest.passes, max_iter, converged),
        dual_objective=objective - float(sum(one.gap for one in found)),
        multipliers=np.stack([one.multipliers for one in found]),
    )


def _newton(design: Design, loss: DualLoss, fit_intercept: bool, tol: float, max_iter: int) -> PlaneFit:
    budget = Budget(max_iter)
    found = augmented_newton(design, loss, fit_intercept=fit_intercept, tol=tol, budget=budget)
    return plane_fit(design, loss, found, "newton", budget.used)
