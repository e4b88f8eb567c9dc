"""The machine of Crammer and Singer: scores of all classes at once, with a proof of how good they are.

Minimise ½Σ‖coef of class k‖² + C·Σᵢ weightᵢ·max(0, maxₖ (1 + score of k) − score of the right class). The
multipliers of a row sum to 0, are at most C·weight for its own class and at most 0 for the others; intercepts
without penalty ask that those of each class balance, which is treated as in `dual`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.svm.augmented import MATRIX_COLUMNS, START, Search, typical
from hiperplano.solvers.svm.choice import solve_svm
from hiperplano.solvers.svm.class_planes import ClassLosses, Planes, SmoothedClasses, balanced_classes
from hiperplano.solvers.svm.dual import compiled_rows
from hiperplano.solvers.svm.proof import FLOOR, Budget, Goal
from hiperplano.solvers.svm.solution import METHODS, SvmSolution, sentence
from hiperplano.solvers.svm.tube import Tube

_FIRST_LOOK = 0.3  # all rows are looked at when the largest violation has fallen to this
_NEXT_LOOK = 0.3  # and each time when it has fallen to this share
_LONGEST = 30  # passes between looks
_STILL = 1e-14  # violations that are rounding
_PATIENCE = 3  # looks at multipliers that rest


class _Look(NamedTuple):
    coef: Array
    level: Array
    alpha: Array
    objective: float
    gap: float


def crammer_singer(
    design: Design,
    codes: Array,
    n_classes: int,
    *,
    strength: float,
    weight: Array | None,
    fit_intercept: bool,
    solver: str,
    tol: float,
    max_iter: int,
) -> SvmSolution:
    """Fit the scores of all classes, up to a gap of tol·objective; `codes` holds the class of each row.

    Two classes have opposite scores of half the size of those of the hinge with twice the strength, so that is
    solved, by `solver`, and the difference of the scores returned.
    """
    if n_classes == 2:
        tube = Tube.hinge(np.where(codes == 1, 1.0, -1.0), 2.0 * strength, False, weight)
        one = solve_svm(design, [tube], fit_intercept=fit_intercept, solver=solver, tol=tol, max_iter=max_iter)
        return replace(
            one,
            objective=0.5 * one.objective,
            dual_objective=0.5 * one.dual_objective,
            multipliers=0.5 * one.multipliers,
        )
    if solver == "auto":
        solver = "newton" if n_classes * (design.n_columns + 1) <= MATRIX_COLUMNS else "dual"
    if solver == "newton":
        return _newton(design, codes, n_classes, strength, weight, fit_intercept, tol, max_iter)
    with one_blas_thread():
        search = _Ascent(design, codes, n_classes, strength, weight, fit_intercept)
        budget = Budget(max_iter)
        best, good = search.run(tol, budget)
    gap = best.gap / best.objective
    return SvmSolution(
        coef=best.coef.T,
        intercept=best.level,
        method="dual ascent over all classes",
        n_iter=budget.used,
        objective=best.objective,
        gap=gap,
        converged=good,
        status=sentence("crammer_singer", gap, tol, budget.used, max_iter, good),
        dual_objective=best.objective - best.gap,
        multipliers=best.alpha.T,
    )


def _newton(
    design: Design,
    codes: Array,
    n_classes: int,
    strength: float,
    weight: Array | None,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
) -> SvmSolution:
    """By Newton's method on the augmented Lagrangian, as for two classes."""
    losses = ClassLosses(codes, n_classes, strength, np.ones(design.n_rows) if weight is None else weight)
    with one_blas_thread():
        budget = Budget(max_iter)
        shift = typical(design, losses.weight)[0] if fit_intercept else np.zeros(design.n_columns)
        zero = Planes(np.zeros((n_classes, design.n_columns)), np.zeros(n_classes), shift)
        goal = Goal(tol, FLOOR * strength * float(losses.weight.sum()))
        answer = Search(SmoothedClasses(design, losses, fit_intercept), goal, budget).run(zero, START, None)
    view = answer.view
    level = view.plane.intercept - view.plane.intercept.mean() if fit_intercept else np.zeros(n_classes)
    return SvmSolution(
        coef=view.plane.coef,
        intercept=level,
        method=METHODS["newton"],
        n_iter=budget.used,
        objective=view.objective,
        gap=answer.relative_gap,
        converged=answer.proved,
        status=sentence("newton", answer.relative_gap, tol, budget.used, max_iter, answer.proved),
        dual_objective=view.objective - answer.gap,
        multipliers=(view.gamma * losses.weight[:, None]).T,
    )


class _Ascent:
    def __init__(
        self, design: Design, codes: Array, n_classes: int, strength: float, weight: Array | None, fit_intercept: bool
    ) -> None:
        from hiperplano.solvers.svm import crammer_singer_loops, dual_loops

        n = design.n_rows
        self.loops, self.design, self.codes, self.fit_intercept = crammer_singer_loops, design, codes, fit_intercept
        self.rows = compiled_rows(design.x)
        self.cap = np.full(n, strength) if weight is None else strength * weight
        self.square = np.empty(n)
        dual_loops.row_squares(*self.rows, self.square)
        self.alpha, self.coef = np.zeros((n, n_classes)), np.zeros((design.n_columns, n_classes))
        self.level, self.total = np.zeros(n_classes), np.zeros(n_classes)
        self.pull = float(self.square.mean()) + 1.0 / float(self.cap.sum()) if fit_intercept else 0.0
        self.order, self.size, self.largest = np.empty(0, dtype=np.int64), 0, np.inf
        self._call_back(np.zeros((n, n_classes)))

    def run(self, tol: float, budget: Budget) -> tuple[_Look, bool]:
        look_at, still, best = _FIRST_LOOK, 0, None
        while True:
            self._passes(look_at, budget)
            look, scores = self._look()
            budget.take()
            best = look if best is None or look.gap <= best.gap else best
            level_rests = float(np.abs(self.total).sum()) <= _STILL * float(np.abs(self.alpha).sum())
            still = still + 1 if self.largest <= _STILL and (level_rests or not self.fit_intercept) else 0
            if best.gap <= tol * best.objective or still > _PATIENCE or budget.left <= 0:
                return best, best.gap <= tol * best.objective
            look_at = _NEXT_LOOK * min(look_at, self.largest)
            self._call_back(scores)

    def _passes(self, look_at: float, budget: Budget) -> None:
        for _ in range(_LONGEST):
            self.size, self.largest = self.loops.ascend_classes(
                *self.rows, self.codes, self.cap, self.square, self.alpha, self.coef, self.level, self.total,
                self.pull, self.largest, self.order, self.size, budget.used + 1,
            )  # fmt: skip
            self.level += self.pull * self.total
            budget.take()
            if self.largest <= look_at or budget.left <= 0:
                break

    def _look(self) -> tuple[_Look, Array]:
        """Balance the multipliers; the gap of the coefficients they make; and the scores of all rows."""
        alpha = balanced_classes(self.alpha) if self.fit_intercept else self.alpha.copy()

        def pull(block: Block) -> Sums:
            return (np.asarray(block.x.T @ alpha[block.rows], dtype=np.float64),)

        (coef,) = self.design.fold(pull)
        level = self.level - self.level.mean() if self.fit_intercept else self.level
        scores = self.design.map_rows(lambda block: block.x @ coef + level, np.empty_like(alpha))
        here = np.arange(len(scores))
        rivals = scores + 1.0
        rivals[here, self.codes] -= 1.0
        loss = rivals.max(axis=1) - scores[here, self.codes]
        squares = 0.5 * float(np.sum(coef**2))
        objective = squares + float(self.cap @ loss)
        dual = float(alpha[here, self.codes].sum()) - squares
        return _Look(coef, level, alpha, objective, objective - dual), scores

    def _call_back(self, scores: Array) -> None:
        """Visit those rows again that have multipliers, or a margin that is not well beyond 1."""
        here = np.arange(len(scores))
        rivals = scores.copy()
        rivals[here, self.codes] = -np.inf
        margin = scores[here, self.codes] - rivals.max(axis=1)
        rests = ((self.alpha == 0).all(axis=1) & (margin - 1.0 > self.largest)) | (self.cap <= 0)
        self.order = np.argsort(rests, kind="stable")
        self.size = int(len(rests) - rests.sum())
