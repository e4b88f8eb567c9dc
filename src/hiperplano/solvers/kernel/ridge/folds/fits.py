"""Kernel ridge regression on folds, for many penalties, with one Gram matrix.

Lanczos steps for all folds side by side solve the systems of all penalties that are not too small. The others of a fold
are near each other: one factorisation, in float32, serves as a preconditioner of several penalties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.linalg.memory import memory_limit, require_bytes
from hiperplano.messages import Message
from hiperplano.solvers.kernel.refinement import Refined, refined_gradients
from hiperplano.solvers.kernel.ridge.folds.factors import factored
from hiperplano.solvers.kernel.ridge.folds.judge import ScoreJudge
from hiperplano.solvers.kernel.ridge.folds.problem import FoldProblem
from hiperplano.solvers.kernel.ridge.folds.steps import ENOUGH, TOL, FoldSteps
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_SMALL = 600  # rows up to which every system is factored
_REACH = 1e-4  # of a residual, with products in float32
_CORRECTION_STEPS = 60
_CELLS = 2**24  # of directions at a time


class FoldFits(NamedTuple):
    """What the machines of every fold and penalty predict, and the fits of all rows that came with them.

    Attributes
    ----------
    predicted : ndarray of shape (folds, n, targets, alphas)
        Of all rows.
    whole : WholeFits or None
        If asked for.
    """

    predicted: Array
    whole: WholeFits | None


@dataclass(frozen=True)
class WholeFits:
    """The systems of all rows, which are the last of some folds, as far as they came with the others."""

    folds: FoldProblem
    alphas: Array
    steps: FoldSteps

    def solution(self, problem: RidgeProblem, number: int) -> KernelSolution | None:
        """Of `problem`, which has the penalty of this number, after the steps that it still needs; None if they do not
        solve it."""
        needed = np.zeros((self.folds.n_folds, len(self.alphas)), dtype=bool)
        needed[-1, number] = True
        solved = self.steps.solve(needed)[:, -1, number]
        if np.isnan(solved).any():
            return None
        found = self._corrected(solved, number)
        if found.residual > TOL:
            return None
        coef, intercept, objective = problem.assemble(self.folds.in_place(found.x))
        return KernelSolution(
            coef=coef,
            intercept=intercept,
            method=Message("Lanczos"),
            n_iter=self.steps.systems.n_iter,
            objective=objective,
            gap=found.residual,
            converged=True,
            status=Message(
                "Solved with the folds for {n} rows, by {steps} Lanczos steps; relative residual {residual:.1e}.",
                n=problem.n_rows,
                steps=self.steps.systems.n_iter,
                residual=found.residual,
            ),
            kernel=str(problem.kernel),
        )

    def _corrected(self, solved: Array, number: int) -> Refined:
        """A solution without what rounded products have left in it, of shape (n, sides)."""
        folds, alpha, sides = self.folds, self.alphas[number], self.folds.right.shape[1]
        first = sides * (folds.n_folds - 1)

        def product(directions: Array, which: Array) -> Array:
            return folds.masked_product(directions.T, np.ones(directions.T.shape), single=True).T + alpha * directions

        def precondition(residuals: Array, which: Array) -> Array:
            found = np.empty_like(residuals)
            for place, side in enumerate(which.tolist()):
                found[:, place] = self.steps.systems.inverse(first + side, number, residuals[:, place])
            return found

        def remainder(answers: Array, which: Array) -> Array:
            return folds.right[:, which] - folds.product(answers) - alpha * answers

        return refined_gradients(
            product,
            remainder,
            start=(solved, remainder(solved, np.arange(sides))),
            size=np.linalg.norm(folds.right, axis=0),
            precondition=precondition,
            tol=TOL,
            reach=_REACH,
            max_iter=_CORRECTION_STEPS,
        )


def fit_folds(
    problem: RidgeProblem,
    alphas: Array,
    splits: list[tuple[Array, Array]],
    *,
    whole: bool = False,
    by_scores: bool = False,
) -> FoldFits:
    """Fit every fold and penalty.

    Parameters
    ----------
    alphas : ndarray of shape (alphas,)
        More than 0.
    splits : list of (train, test)
        Numbers of rows.
    whole : bool
        Whether to fit all rows too, as far as Lanczos steps do.
    by_scores : bool
        Whether it is enough that R² of the test rows is known to `SCORE_TOL`; otherwise equations are solved to a
        relative residual of `TOL`.
    """
    n, targets = problem.y.shape
    whole = whole and _by_steps(problem)
    every = FoldProblem.of(problem, [*splits, (np.arange(n), np.arange(0))] if whole else splits)
    found = np.empty((every.n_folds, n, targets, len(alphas)))
    step, last = max(1, _CELLS // (n * len(alphas) * every.right.shape[1])), None
    for first in range(0, every.n_folds, step):
        batch = slice(first, first + step)
        some, last = _fit(every.some(batch), alphas, whole and first + step >= every.n_folds, by_scores)
        found[batch] = np.moveaxis(some, 0, 1).swapaxes(2, 3)
    return FoldFits(found[: len(splits)], last)


def _by_steps(problem: RidgeProblem) -> bool:
    """Whether Lanczos steps are tried before factorisations."""
    return problem.n_rows > _SMALL and problem.kernel.positive_definite


def _fit(folds: FoldProblem, alphas: Array, whole: bool, by_scores: bool) -> tuple[Array, WholeFits | None]:
    """Predictions by Lanczos steps, and by factorisations where those did not lead to the end; and the last of the
    folds, if that is of all rows."""
    problem, n, fits = folds.problem, folds.problem.n_rows, None
    by_steps = _by_steps(problem)
    shape = (n, folds.n_folds, len(alphas), folds.right.shape[1])
    left = np.ones(shape[1:3], dtype=bool)
    if by_steps:
        steps = FoldSteps.of(folds, alphas, limited=_bytes_of_factors(n) <= memory_limit(), by_scores=by_scores)
        if whole:
            fits, left[-1] = WholeFits(folds, alphas, steps), False
        solved = steps.solve(left, ScoreJudge(folds) if by_scores else None)
        images = folds.product(np.nan_to_num(solved).reshape(n, -1)).reshape(shape)
        left &= ~(folds.residuals(solved, images, alphas) <= np.where(steps.settled, ENOUGH, TOL))
    else:
        solved, images = np.empty(shape), np.empty(shape)
    if left.any():
        _factor_the_rest(folds, alphas, left, solved, mixed=by_steps)
        images[:, left] = folds.product(solved[:, left].reshape(n, -1)).reshape(n, -1, shape[3])
    return folds.in_place(folds.predictions(solved, images)), fits


def _factor_the_rest(folds: FoldProblem, alphas: Array, left: Array, solved: Array, mixed: bool) -> None:
    """Solve the systems of some folds and penalties by factorisations, several folds at a time."""
    n = folds.problem.n_rows
    require_bytes(
        _bytes_of_factors(n),
        "KernelRidgeCV",
        Message("factorisations of the Gram matrix of {n} rows, which the smallest penalties need,", n=n),
        Message("Try larger penalties, or fewer rows."),
    )

    def solve(fold: int) -> None:
        rows, matrix = folds.part(fold)
        solved[:, fold, left[fold]] = 0.0
        part = factored(matrix, folds.right[rows], alphas[left[fold]], mixed)
        solved[rows[:, None], fold, np.flatnonzero(left[fold])] = part

    workers = worker_count()
    fits = workers * _bytes_of_factors(n) <= memory_limit()
    ordered_map(solve, np.flatnonzero(left.any(axis=1)).tolist(), workers if fits else 1)


def _bytes_of_factors(n: int) -> float:
    """The rows of a fold in both precisions, and a factor."""
    return 16.0 * n * n
