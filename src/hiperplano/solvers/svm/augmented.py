"""Support vector machines by Newton's method, with a proof of how good the answer is.

Squared losses are smooth. Plain ones are made so by keeping multipliers near a guess (an augmented Lagrangian):
the guess is replaced by what was found, the nearness shrinks, and the answers converge to the exact one. Only
rows near the margin enter the curvature, and one pass over the rows is all that a step needs. The first guess
comes from a sample of the rows, so all of them are passed over a few times only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.svm.curvature import Curvature
from hiperplano.solvers.svm.newton import minimise
from hiperplano.solvers.svm.plane import Plane, Smoothed, View
from hiperplano.solvers.svm.proof import Answer, Budget, Goal, prove
from hiperplano.solvers.svm.tube import Tube

_SAMPLE_SHARE = 16  # one row of so many
_SAMPLE_ROWS = 20  # but so many for each column at least
_SAMPLE_TOL = 1e-3
MATRIX_COLUMNS = 1500  # beyond, curvature is held as rows
START = 4.0  # of the mean target: the first width, which makes nearly all rows free
_SHRINK = 4.0  # of the width in which multipliers follow scores, from round to round
_SHRINK_WIDE = 1.5  # the same where a step costs many products with rows: more rounds, of few and cheap steps each
_FAR = 30.0  # of a column's spread: a mean beyond it costs scores digits that matter
_FREE_ROWS = 5  # for each column, that the first width on all rows shall hold
_PATIENCE = 8  # rounds without progress


def augmented_newton(design: Design, tube: Tube, *, fit_intercept: bool, tol: float, budget: Budget) -> Answer:
    """Minimise ½‖coef‖² + Σ weight·loss up to a gap of tol·objective."""
    with one_blas_thread():
        d = design.n_columns
        if d > MATRIX_COLUMNS:
            start = Smoothed(design, tube, fit_intercept, squares=_squares(design, tube))
            return _from_sample(start, Plane(np.zeros(d), 0.0, np.zeros(d)), tol, budget)
        shift, far = typical(design, tube.weight) if fit_intercept else (np.zeros(d), False)
        return _from_sample(
            Smoothed(design, tube, fit_intercept, centred=far), Plane(np.zeros(d), 0.0, shift), tol, budget
        )


def _squares(design: Design, tube: Tube) -> Array:
    """Σ weight·x² of every column."""

    def statistic(block: Block) -> Sums:
        x = block.x.multiply(block.x) if hasattr(block.x, "multiply") else np.square(block.x)
        weight = np.ones(len(block)) if tube.weight is None else tube.weight[block.rows]
        return (np.asarray(x.T @ weight, dtype=np.float64),)

    return design.fold(statistic)[0]


def typical(design: Design, weight: Array | None) -> tuple[Array, bool]:
    """Means of the columns, over some rows if there are many, and whether one is far beyond the column's spread."""
    every = slice(None, None, max(1, design.n_rows // 4096))
    some, share = design.take(every), np.ones(design.n_rows)[every] if weight is None else weight[every]
    some = np.asarray(some if isinstance(some, np.ndarray) else some.toarray(), dtype=np.float64)
    share = share / share.sum()
    mean = share @ some
    return mean, bool((np.abs(mean) > _FAR * np.sqrt(share @ (some - mean) ** 2)).any())


def _from_sample(start: Smoothed, zero: Plane, tol: float, budget: Budget) -> Answer:
    """The answer, found from that of a sample if there are rows enough."""
    design, tube = start.design, start.tube
    n, d = design.n_rows, design.n_columns
    search = Search(start, Goal.of(tube, tol), budget)
    sampled = max(n // _SAMPLE_SHARE, _SAMPLE_ROWS * (d + 1))
    if 2 * sampled > n or start.squares is not None:
        return search.run(zero, START * tube.mean_size or 1.0, None)
    rows = np.sort(np.random.default_rng(0).choice(n, sampled, replace=False))
    few, share = tube[rows], n / sampled  # so the sample's losses weigh as much as those of all rows
    few = replace(few, weight=np.full(sampled, share) if few.weight is None else few.weight * share)
    part = replace(start, design=type(design)(design.take(rows), design.y[rows], None), tube=few)
    guess = _from_sample(part, zero, max(tol, _SAMPLE_TOL), Budget(budget.left))
    width = 0.0 if tube.give else _first_width(few, guess.view, 0.5 * tol, _FREE_ROWS * (d + 1) / share)
    return search.run(guess.view.plane, width, guess.view.curvature)


def _first_width(tube: Tube, view: View, tol: float, fewest: float) -> float:
    """The first of ever smaller widths that costs at most `tol`, by these rows, or that frees few of them."""
    residual, centre = view.residual, tube.middle(view.residual)
    width = START * tube.mean_size
    while True:
        gamma = tube.multiplier(residual, centre, width / tube.end)
        slack = tube.total(tube.loss(residual) - tube.gain(residual, gamma))
        if slack <= tol * view.objective or np.count_nonzero(tube.free(gamma)) < 2 * fewest:
            return width
        width *= 0.5


@dataclass
class Search:
    """Rounds of Newton's method on all rows of a design: of a `Smoothed` problem, or that of all classes at once."""

    smooth: Any
    goal: Goal
    budget: Budget

    def run(self, plane: Any, width: float, curvature: Curvature | None) -> Answer:
        return self._once(plane, curvature) if self.smooth.tube.give else self._rounds(plane, width)

    def _once(self, plane: Plane, curvature: Curvature | None) -> Answer:
        """A squared loss needs no rounds, but a narrower search if multipliers do not prove enough yet."""
        view = self.smooth.view(plane, curved=curvature is None)
        self.budget.take()
        share = 0.5
        while True:
            view, solved = minimise(self.smooth, view, self._share(share), self.budget, curvature)
            answer = prove(self.smooth, view, self.goal)
            if answer.proved or not solved:
                return answer
            share *= 0.1

    @property
    def _wide(self) -> bool:
        return self.smooth.squares is not None

    @property
    def _shrink(self) -> float:
        return _SHRINK_WIDE if self._wide else _SHRINK

    def _share(self, share: float) -> Callable[[View], float]:
        return lambda view: share * self.goal.wanted(view.objective)

    def _rounds(self, plane: Any, width: float) -> Answer:
        tube = self.smooth.tube
        view = self.smooth.view(plane, curved=False)
        self.budget.take()
        centre, known, best = tube.middle(view.residual), False, view
        left, since, shrink = np.inf, 0, self._shrink
        while True:
            problem = replace(self.smooth, centre=centre, nearness=width / tube.end)
            start = problem.view(plane)
            self.budget.take()
            view, solved = minimise(problem, start, self._allowed, self.budget, fewest=1)
            now = view.slack + view.left()
            if now <= self.goal.wanted(view.objective):
                answer = prove(self.smooth, view, self.goal, width)
                if answer.proved:
                    return answer
            since = 0 if now < 0.8 * left else since + 1
            best, left = (view, now) if now < left else (best, left)
            if self.budget.left <= 0 or since > _PATIENCE:
                return prove(self.smooth, best, self.goal, width)
            if solved:
                plane, centre, known = view.plane, view.gamma, True
                width, last = width / shrink, width
            elif known:  # too narrow for what is known: half way back, and smaller steps from there
                width, shrink = float(np.sqrt(width * last)), float(np.sqrt(shrink))
                width *= _SHRINK if width > 0.9 * last else 1.0
            else:
                plane, centre, width = view.plane, tube.middle(view.residual), width * _SHRINK**2

    def _allowed(self, view: Any) -> float:
        """What a round may leave: little beside what is the smoothing's, or beside what is wanted."""
        wanted = self.goal.wanted(view.objective)
        return (0.5 if self._wide else 0.1) * view.slack if view.slack > 0.7 * wanted else 0.3 * wanted
