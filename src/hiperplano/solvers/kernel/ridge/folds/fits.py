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
from hiperplano.solvers.kernel.refinement import refined_gradients
from hiperplano.solvers.kernel.ridge.folds.factors import REACH, factored
from hiperplano.solvers.kernel.ridge.folds.problem import FoldProblem
from hiperplano.solvers.kernel.ridge.folds.steps import TOL, FoldSolutions, solve_folds
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_SMALL = 600  # rows up to which every system is factored
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
    """The systems of all rows, solved beside those of the folds and as roughly.

    Attributes
    ----------
    folds : FoldProblem
    found : FoldSolutions
        The last fold is that of all rows.
    """

    folds: FoldProblem
    found: FoldSolutions

    def solution(self, problem: RidgeProblem, number: int, tol: float) -> KernelSolution | None:
        """Of `problem`, which has the penalty of this number, to a relative residual of `tol`; None if it was given up,
        or is not reached soon."""
        start, alpha, right = self.found.x[:, -1, number], float(problem.alpha[0]), self.folds.right
        if self.folds.tiles is None or np.isnan(start).any():
            return None
        single = self.folds.tiles.single
        found = refined_gradients(
            lambda directions, which: single.dot(directions) + alpha * directions,
            lambda answers, which: self._remainder(answers, right[:, which], alpha),
            start=(start, self._remainder(start, right, alpha)),
            size=np.linalg.norm(right, axis=0),
            precondition=lambda residuals, which: self._precondition(residuals, which, alpha),
            tol=tol,
            reach=REACH,
            max_iter=self.found.n_iter,
        )
        if found.residual > tol:
            return None
        coef, intercept, objective = problem.assemble(self.folds.in_place(found.x))
        return KernelSolution(
            coef=coef,
            intercept=intercept,
            method=Message("Lanczos"),
            n_iter=self.found.n_iter + found.n_iter,
            objective=objective,
            gap=found.residual,
            converged=True,
            status=Message(
                "Solved with the folds for {n} rows, by {steps} Lanczos steps and {corrections} of conjugate "
                "gradients; relative residual {residual:.1e}.",
                n=problem.n_rows,
                steps=self.found.n_iter,
                corrections=found.n_iter,
                residual=found.residual,
            ),
            kernel=str(problem.kernel),
        )

    def _remainder(self, answers: Array, right: Array, alpha: float) -> Array:
        return right - self.folds.product(answers) - alpha * answers

    def _precondition(self, residuals: Array, which: Array, alpha: float) -> Array:
        found = np.empty_like(residuals)
        for place, number in enumerate(which.tolist()):
            found[:, place] = self.found.inverses[number](residuals[:, place], alpha)
        return found


def fit_folds(problem: RidgeProblem, alphas: Array, train: list[Array], whole: bool = False) -> FoldFits:
    """Fit every fold and penalty.

    Parameters
    ----------
    alphas : ndarray of shape (alphas,)
        More than 0.
    train : list of ndarray of int
        Rows of the folds to train on.
    whole : bool
        Whether to fit all rows too, as far as Lanczos steps do.
    """
    n, targets = problem.y.shape
    whole = whole and _by_steps(problem)
    every = FoldProblem.of(problem, [*train, np.arange(n)] if whole else train)
    found = np.empty((every.n_folds, n, targets, len(alphas)))
    step, last = max(1, _CELLS // (n * len(alphas) * every.right.shape[1])), None
    for first in range(0, every.n_folds, step):
        batch = slice(first, first + step)
        some, last = _fit(every.some(batch), alphas, whole and first + step >= every.n_folds)
        found[batch] = np.moveaxis(some, 0, 1).swapaxes(2, 3)
    return FoldFits(found[: len(train)], last)


def _by_steps(problem: RidgeProblem) -> bool:
    """Whether Lanczos steps are tried before factorisations."""
    return problem.n_rows > _SMALL and problem.kernel.positive_definite


def _fit(folds: FoldProblem, alphas: Array, whole: bool) -> tuple[Array, WholeFits | None]:
    """Predictions by Lanczos steps, and by factorisations where those did not lead to the end; and the last of the
    folds, if that is of all rows."""
    problem, n, fits = folds.problem, folds.problem.n_rows, None
    steps = _by_steps(problem)
    shape = (n, folds.n_folds, len(alphas), folds.right.shape[1])
    if steps:
        found = solve_folds(folds, alphas, limited=_bytes_of_factors(n) <= memory_limit())
        solved = found.x
        images = folds.product(np.nan_to_num(solved).reshape(n, -1)).reshape(shape)
        residuals = folds.residuals(solved, images, alphas)
        left = ~(residuals <= TOL)
        if whole:
            fits, left[-1] = WholeFits(folds, found), False
    else:
        solved, images, left = np.empty(shape), np.empty(shape), np.ones(shape[1:3], dtype=bool)
    if left.any():
        _factor_the_rest(folds, alphas, left, solved, mixed=steps)
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
