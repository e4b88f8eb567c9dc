"""Crammer and Singer's support vector machine of all classes at once, with a duality gap.

Minimise ½Σ‖coef of class k‖² + C·Σᵢ weightᵢ·max(0, maxₖ (1 + score of k) − score of the own class), where k runs over
the other classes. The dual variables of a row sum to 0, are at most C·weight for its own class and at most 0 for the
others. Intercepts without a penalty require that those of each class sum to 0 over the rows, which is treated as in
`dual_ascent`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory, require_memory
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.solvers.svm.augmented_lagrangian import (
    MATRIX_COLUMNS,
    WIDE,
    AugmentedLagrangian,
    typical_row,
)
from hiperplano.solvers.svm.choice import solve_svm
from hiperplano.solvers.svm.class_losses import ClassLoss
from hiperplano.solvers.svm.compiled.costs import usual_passes
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.duality_gap import NEXT_CHECK, STILL, Budget, GapTolerance
from hiperplano.solvers.svm.smoothed import Hyperplane, SmoothedProblem
from hiperplano.solvers.svm.solution import METHODS, SvmSolution, status

_LONGEST = 30  # most passes between computations of the duality gap
_PATIENCE = 3  # the ascent ends after so many computed gaps between which no dual variable has moved


class _Found(NamedTuple):
    """Coefficients of shape (d, classes), intercepts, β of shape (n, classes), the objective and the gap."""

    coef: Array
    level: Array
    alpha: Array
    objective: float
    gap: float


def crammer_singer(
    design: Design,
    n_classes: int,
    *,
    strength: float,
    fit_intercept: bool,
    solver: str,
    tol: float,
    max_iter: int | None,
) -> SvmSolution:
    """Fit the scores of all classes, up to a gap of tol·objective.

    With two classes, scores are opposite, and half as large as those of the hinge loss with twice the strength. So the
    latter is solved, and the difference of the two scores is returned.

    Parameters
    ----------
    design : Design
        Design with a vector "code", the class number of each row.
    n_classes : int
    strength : float
        C.
    fit_intercept : bool
    solver : {"auto", "newton", "dual"}
    tol : float
        Largest relative gap.
    max_iter : int or None
        Most passes over the rows; None for `usual_passes`.
    """
    max_iter = usual_passes(design) if max_iter is None else max_iter
    if n_classes == 2:
        signed = [design.with_vectors(sign=design.map(SignOfClass(1)))]
        hinge = DualLoss.hinge(2.0 * strength, False)
        one = solve_svm(signed, hinge, fit_intercept=fit_intercept, solver=solver, tol=tol, max_iter=max_iter)
        objective, dual_objective = 0.5 * one.objective, 0.5 * one.dual_objective
        return replace(one, objective=objective, dual_objective=dual_objective, multipliers=0.5 * one.multipliers)
    if solver == "auto":
        solver = "newton" if n_classes * (design.n_columns + 1) <= MATRIX_COLUMNS else "dual"
    budget = Budget(max_iter)
    with one_blas_thread():
        if solver == "newton":
            found, converged = _newton(design, n_classes, strength, fit_intercept, tol, budget)
        else:
            rows = require_memory(
                design,
                "multi_class='crammer_singer' with many columns takes rows one by one, from memory; "
                "multi_class='ovr' sums over them.",
            )
            found, converged = _Ascent(rows, n_classes, strength, fit_intercept).run(tol, budget)
    method = "newton" if solver == "newton" else "crammer_singer"
    gap = found.gap / found.objective if found.objective > 0 else 0.0
    return SvmSolution(
        coef=found.coef.T,
        intercept=found.level,
        method=METHODS[method],
        n_iter=budget.used,
        objective=found.objective,
        gap=gap,
        converged=converged,
        status=status(method, gap, tol, budget.used, max_iter, converged),
        dual_objective=found.objective - found.gap,
        multipliers=found.alpha.T,
    )


@dataclass(frozen=True)
class SignOfClass:
    """+1 for rows whose vector "code" is the class, −1 for all others."""

    reads_rows = False
    code: int

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(xp.where(block.vectors["code"] == self.code, 1.0, -1.0))


def _newton(
    design: Design, n_classes: int, strength: float, fit_intercept: bool, tol: float, budget: Budget
) -> tuple[_Found, bool]:
    """Newton's method on the augmented Lagrangian, as for two classes."""
    shift, _ = typical_row(design, fit_intercept)
    problem = SmoothedProblem(design, ClassLoss(n_classes, strength), fit_intercept)
    search = AugmentedLagrangian(problem, GapTolerance.of(problem, tol), budget)
    answer = search.run(Hyperplane.zero(shift, n_classes), WIDE, None)
    found = answer.evaluation
    level = found.plane.intercept - found.plane.intercept.mean() if fit_intercept else np.zeros(n_classes)
    alpha = design.collect(design.with_vectors(gamma=found.gamma).map(problem.loss.row_pulls))
    return _Found(found.plane.coef.T, level, alpha, found.objective, answer.gap), answer.proved


class _Ascent:
    """State of dual ascent: β of all rows and classes, coefficients, levels, and the rows that are still visited."""

    def __init__(self, design: InMemory, n_classes: int, strength: float, fit_intercept: bool) -> None:
        from hiperplano.solvers.svm import dual_loops

        n = design.n_rows
        self.loops, self.loss, self.fit_intercept = dual_loops, ClassLoss(n_classes, strength), fit_intercept
        self.codes, self.arrays = design.collect(design.vector("code")), design.loop_arrays()
        self.cap = strength * (design.collect(design.vector("weight")) if design.has_weight else np.ones(n))
        self.design = design.with_vectors(weight=None)  # β includes the weights
        self.square = np.empty(n)
        dual_loops.row_squares(*self.arrays, self.square)
        self.alpha, self.coef = np.zeros((n, n_classes)), np.zeros((design.n_columns, n_classes))
        self.level, self.total = np.zeros(n_classes), np.zeros(n_classes)
        self.pull = float(self.square.mean()) + 1.0 / float(self.cap.sum()) if fit_intercept else 0.0
        self.order, self.size, self.largest = np.empty(0, dtype=np.int64), 0, np.inf
        self._restore_rows(np.zeros((n, n_classes)))

    def run(self, tol: float, budget: Budget) -> tuple[_Found, bool]:
        threshold, still, best = NEXT_CHECK, 0, None
        while True:
            self._passes(threshold, budget)
            found, scores = self._check_all_rows()
            budget.take()
            best = found if best is None or found.gap <= best.gap else best
            level_rests = float(np.abs(self.total).sum()) <= STILL * float(np.abs(self.alpha).sum())
            still = still + 1 if self.largest <= STILL and (level_rests or not self.fit_intercept) else 0
            if best.gap <= tol * best.objective or still > _PATIENCE or budget.left <= 0:
                return best, best.gap <= tol * best.objective
            threshold = NEXT_CHECK * min(threshold, self.largest)
            self._restore_rows(scores)

    def _passes(self, threshold: float, budget: Budget) -> None:
        for _ in range(_LONGEST):
            self.size, self.largest = self.loops.ascend_classes(
                *self.arrays, self.codes, self.cap, self.square, self.alpha, self.coef, self.level, self.total,
                self.pull, self.largest, self.order, self.size, budget.used + 1,
            )  # fmt: skip
            self.level += self.pull * self.total
            budget.take()
            if self.largest <= threshold or budget.left <= 0:
                break

    def _check_all_rows(self) -> tuple[_Found, Array]:
        """Solution with balanced β and its gap, and the scores of all rows."""
        design = self.design.with_vectors(gamma=self.alpha)
        alpha = design.collect(self.loss.balanced(design)).copy() if self.fit_intercept else self.alpha.copy()
        (coef,) = design.with_vectors(gamma=alpha).fold(_pull)
        level = self.level - self.level.mean() if self.fit_intercept else self.level
        scores = design.collect(design.map(_Scores(coef, level)))
        here = np.arange(len(scores))
        rivals = scores + 1.0
        rivals[here, self.codes] -= 1.0
        loss = rivals.max(axis=1) - scores[here, self.codes]
        squares = 0.5 * float(np.sum(coef**2))
        objective = squares + float(self.cap @ loss)
        dual = float(alpha[here, self.codes].sum()) - squares
        return _Found(coef, level, alpha, objective, objective - dual), scores

    def _restore_rows(self, scores: Array) -> None:
        """Visit all rows again that have nonzero dual variables, or a margin not well above 1."""
        here = np.arange(len(scores))
        rivals = scores.copy()
        rivals[here, self.codes] = -np.inf
        margin = scores[here, self.codes] - rivals.max(axis=1)
        rests = (self.alpha == 0).all(axis=1) & (margin - 1.0 > self.largest)
        self.order = np.argsort(rests, kind="stable")
        self.size = int(len(rests) - rests.sum())


def _pull(block: Block) -> Sums:
    """Coefficients Σ x·β of each class."""
    return (block.transpose_dot(block.vectors["gamma"]),)


@dataclass(frozen=True)
class _Scores:
    coef: Array
    level: Array

    def __call__(self, block: Block) -> Array:
        return block.dot(self.coef) + self.level
