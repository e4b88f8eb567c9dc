"""Support vector machines with rows in memory: rows are prepared once, then compiled loops solve each problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.svm.augmented_lagrangian import augmented_newton
from hiperplano.solvers.svm.compiled.costs import (
    MOST_DENSE_CELLS,
    interior_fits,
    needs_no_factor,
    passes_of_interior,
    steps_before_factor,
)
from hiperplano.solvers.svm.compiled.problem import LoopRows, control, dual_box
from hiperplano.solvers.svm.compiled.search import POLISHING, Search
from hiperplano.solvers.svm.compiled.solve import is_wide, solve_dense, solve_in_span, solve_sparse
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.duality_gap import Budget, plane_fit
from hiperplano.solvers.svm.smoothed import Hyperplane
from hiperplano.solvers.svm.solution import PlaneFit

_COPIED_CELLS = 2**21  # dense tables of up to so many numbers are copied, and solved by compiled loops
_TALL = 20  # larger tables are copied if they are not tall: with at most so many rows for each column, or
_TALL_WITHOUT_FACTOR = 800  # so many if Newton's steps need no factor
# With a plain loss, sparse rows are made dense after the ascent if at least this share is stored, in regression and in
# classification. There the fit took 0.2 to 0.9 of the time; with fewer, or a squared loss, 0.4 to 1.8.
_FILLED, _FILLED_CLASSES = 0.25, 0.35
_POLISHED_CELLS = 2**14  # tables up to this size are solved to all digits, which takes a fraction of a millisecond
# Share of the remaining passes for Newton's method, if the interior point method may follow. With a squared loss it
# needs few passes, or makes no progress.
_SHARE, _SHARE_SQUARED = 0.6, 0.3
_SHARE_WIDE = 0.9  # the same if methods in the span of the rows may follow, which need few passes


def fits_loops(design: InMemory, solver: str, squared: bool) -> bool:
    """Whether compiled loops are faster than sums over blocks of rows, or were asked for."""
    if design.is_sparse:
        return solver != "newton"
    n, d = design.n_rows, design.n_columns
    # On taller tables, sums over blocks of rows are faster: the solution of a small sample saves most passes.
    tall = _TALL_WITHOUT_FACTOR if needs_no_factor(n, d, squared) else _TALL
    broad = n * d <= MOST_DENSE_CELLS and n <= tall * d
    return solver == "dual" or n * d <= _COPIED_CELLS or (solver == "auto" and (broad or is_wide(n, d)))


@dataclass
class CompiledSearch:
    """Fits `n_problems` planes to the same rows in memory, with different signs or targets."""

    design: InMemory
    loss: DualLoss
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int
    n_problems: int

    @cached_property
    def rows(self) -> LoopRows:
        """The rows, as compiled loops need them."""
        return LoopRows.of(self.design, self.fit_intercept)

    def fit(self, design: Design) -> PlaneFit:
        """The plane for these rows with their signs, or targets."""
        assert isinstance(design, InMemory)
        search = self._search(design)
        if self.solver == "auto":
            return self._by_cheapest(design, search)
        if self.solver == "newton":
            search.newton()
        else:
            search.ascend()
        return self._published(search)

    def fit_many(self, design: Design) -> PlaneFit:
        """The same for tables that are too large to copy: Newton's method, then the interior point method if needed."""
        assert isinstance(design, InMemory)
        interior = self.solver == "auto" and self._keeps_interior(design)
        budget = Budget(self._passes_of_newton(design, self.max_iter) if interior else self.max_iter)
        found = self._newton(design, budget, None, "newton", 0)
        if found.proved or not interior:
            return found
        search = self._search(design)
        search.found = search.found._replace(passes=budget.used)
        search.interior()
        return _together(found, self._published(search))

    def _search(self, design: InMemory) -> Search:
        box = dual_box(design, self.loss)
        return Search(self.rows, box, control(box, self.loss, self.fit_intercept, self.tol, self.max_iter))

    def _by_cheapest(self, design: InMemory, search: Search) -> PlaneFit:
        """Choose by cost. Small tables use Newton's method alone unless they are wide: full precision requires it."""
        cells = design.n_rows * design.n_columns
        small = cells <= _POLISHED_CELLS
        if small and not is_wide(design.n_rows, design.n_columns) and search.left > POLISHING:
            search.polish()
        if search.proved:
            return self._published(search)
        if not self.rows.is_dense:
            solve_sparse(search, self.n_problems)
        else:
            solve_dense(search, cells <= _COPIED_CELLS, self.n_problems)
        if not search.proved and search.left > 0:
            return self._by_sums(design, search) if self._dense is None else self._on_dense_rows(design, search)
        if search.proved and small:
            search.polish()
        return self._published(search)

    @cached_property
    def _dense(self) -> InMemory | None:
        """A dense copy of sparse rows with few zeros; None if it does not pay, or would be too large."""
        design, least = self.design, _FILLED_CLASSES if self.loss.classifies else _FILLED
        filled = design.is_sparse and design.density >= least
        if self.loss.ridge or not filled or design.n_rows * design.n_columns > MOST_DENSE_CELLS:
            return None
        return InMemory(design.dense(), np.zeros((design.n_rows, 0)))

    def _on_dense_rows(self, design: InMemory, search: Search) -> PlaneFit:
        """The fit from its beginning on a dense copy of the rows, after an ascent on sparse ones."""
        assert self._dense is not None
        rows, left = design.on_rows_of(self._dense), search.left
        again = CompiledSearch(rows, self.loss, self.fit_intercept, "auto", self.tol, left, self.n_problems)
        found = again.fit(rows) if fits_loops(rows, "auto", bool(self.loss.ridge)) else again.fit_many(rows)
        method = found.method if "dual" in found.method else f"dual, {found.method}"
        found = found._replace(passes=found.passes + search.found.passes)
        return _together(found._replace(method=method), self._published(search))

    def _by_sums(self, design: InMemory, search: Search) -> PlaneFit:
        """Newton's method by sums over all rows, from the best result so far, or from the solution of a sample."""
        found, dense = search.found, self.rows.is_dense
        interior = (not dense or self._keeps_interior(design)) and "interior" not in search.methods
        wide = not dense and is_wide(design.n_rows, design.n_columns)
        share = _SHARE_WIDE if wide else _SHARE_SQUARED if self.loss.ridge else _SHARE
        most = share * search.left if interior else float(search.left)
        budget = Budget(self._passes_of_newton(design, most) if interior and dense else most)
        plane = Hyperplane(found.coef[:-1], np.asarray(found.coef[-1]), self.rows.shift)
        gamma = found.beta / search.box.weight * (search.box.target if self.loss.classifies else 1.0)
        method = "dual, newton" if "dual" in search.methods else "newton"
        better = self._newton(design, budget, (plane, gamma) if search.methods else None, method, found.passes)
        if better.proved:
            return better
        search.found = found._replace(passes=better.passes)
        if search.left > 0 and interior and wide:
            solve_in_span(search)
        elif search.left > 0 and interior:
            search.interior(0.0 if dense else steps_before_factor(self.rows))
        if not search.proved and search.left > 0 and dense and design.n_rows * design.n_columns <= MOST_DENSE_CELLS:
            search.newton()  # copied and centred rows keep digits that sums over the original rows lose
        return _together(better, self._published(search))

    def _newton(
        self, design: InMemory, budget: Budget, start: tuple[Hyperplane, Array] | None, method: str, passes: int
    ) -> PlaneFit:
        """Newton's method by sums over the rows, after `passes` earlier passes."""
        found = augmented_newton(
            design, self.loss, fit_intercept=self.fit_intercept, tol=self.tol, budget=budget, start=start
        )
        return plane_fit(design, self.loss, found, method, passes + budget.used)

    def _keeps_interior(self, design: InMemory) -> bool:
        """Whether the interior point method may follow Newton's: for a squared loss on dense rows.

        If classes are nearly separated, few rows change sides in a step of Newton's method.
        """
        fits = interior_fits(design.n_rows, design.n_columns)
        return bool(self.loss.ridge) and not design.is_sparse and fits

    def _passes_of_newton(self, design: InMemory, most: float) -> float:
        """Limit of passes for Newton's method: about the time of the interior point method, which may follow."""
        return min(most, passes_of_interior(design.n_rows, design.n_columns))

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
            method=search.method,
        )


def _together(last: PlaneFit, other: PlaneFit) -> PlaneFit:
    """The better plane of two, with the multipliers that prove the larger lower bound, which may be the other's."""
    plane, proof = min(last, other, key=_objective), max(last, other, key=_bound)
    return last._replace(
        coef=plane.coef,
        intercept=plane.intercept,
        objective=plane.objective,
        multipliers=proof.multipliers,
        gap=plane.objective - _bound(proof),
        proved=plane.proved or proof.proved,
        passes=max(last.passes, other.passes),
        method=plane.method,
    )


def _objective(fit: PlaneFit) -> float:
    return fit.objective if np.isfinite(fit.gap) else np.inf


def _bound(fit: PlaneFit) -> float:
    """Lower bound of the objective of any plane."""
    return fit.objective - fit.gap if np.isfinite(fit.gap) else -np.inf
