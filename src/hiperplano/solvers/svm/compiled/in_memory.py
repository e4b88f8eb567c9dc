"""Planes for rows in memory: rows are prepared once for all problems on them, and each is solved by compiled loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Design
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.svm.augmented_lagrangian import augmented_newton
from hiperplano.solvers.svm.compiled.problem import LoopRows, control, dual_box
from hiperplano.solvers.svm.compiled.solve import Search, is_wide, solve_dense, solve_sparse
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.duality_gap import Budget, plane_fit
from hiperplano.solvers.svm.smoothed import Hyperplane
from hiperplano.solvers.svm.solution import PlaneFit

_COPIED_CELLS = 2**21  # of dense rows: beyond, all cores sum over them, and a sample of them is a good start


def fits_loops(design: InMemory, solver: str) -> bool:
    """Whether compiled loops are the faster way, or the one that was asked for."""
    few = design.n_rows * design.n_columns <= _COPIED_CELLS
    if design.is_sparse:
        return solver != "newton"
    return few or solver == "dual" or (solver == "auto" and is_wide(design.n_rows, design.n_columns))


@dataclass
class CompiledSearch:
    """How to fit a plane to rows in memory, with any signs."""

    design: InMemory
    loss: DualLoss
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int

    def __post_init__(self) -> None:
        self.rows = LoopRows.of(self.design, self.fit_intercept)

    def fit(self, design: Design) -> PlaneFit:
        """The plane for these rows with their signs, or targets."""
        assert isinstance(design, InMemory)
        box = dual_box(design, self.loss)
        asked = control(box, self.loss, self.fit_intercept, self.tol, self.max_iter)
        if self.solver == "auto" and self.rows.is_dense:
            return self._published(solve_dense(self.rows, box, asked))
        search = Search(self.rows, box, asked)
        if self.solver == "newton":
            search.newton()
        elif self.solver == "dual":
            search.ascend()
        else:
            return self._sparse(design, search)
        return self._published(search)

    def _sparse(self, design: InMemory, search: Search) -> PlaneFit:
        solve_sparse(search)
        if search.proved or search.left <= 0:
            return self._published(search)
        budget, found = Budget(search.left), search.found
        coef, level = found.coef[:-1], np.asarray(found.coef[-1])
        gamma = found.beta / search.box.weight * (search.box.target if self.loss.classifies else 1.0)
        certificate = augmented_newton(
            design,
            self.loss,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            budget=budget,
            start=(Hyperplane(coef, level, np.zeros_like(coef)), gamma),
        )
        better = plane_fit(design, self.loss, certificate, "both", found.passes + budget.used)
        return better if better.gap < found.gap else self._published(search)._replace(passes=better.passes)

    def _published(self, search: Search) -> PlaneFit:
        found = search.found
        coef = found.coef[:-1]
        return PlaneFit(
            coef=coef,
            intercept=float(found.coef[-1] - coef @ self.rows.shift),
            objective=found.objective,
            gap=found.gap,
            proved=search.proved,
            multipliers=found.beta,
            passes=found.passes,
            method="both" if len(search.methods) > 1 else search.methods[0],
        )
