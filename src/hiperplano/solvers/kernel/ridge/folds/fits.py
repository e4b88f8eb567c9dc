"""Kernel ridge regression on folds, for many penalties, with one Gram matrix.

Where a few columns of the matrix span it but for rounding, they make a preconditioner for all folds and penalties.
Otherwise Lanczos steps for all folds side by side solve the systems of all penalties that are not too small. The others
of a fold are near each other: one factorisation, in float32, serves as a preconditioner of several penalties.
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
from hiperplano.solvers.kernel.ridge.folds.factors import factored
from hiperplano.solvers.kernel.ridge.folds.low_rank import low_rank, solve_by_low_rank
from hiperplano.solvers.kernel.ridge.folds.problem import FoldProblem
from hiperplano.solvers.kernel.ridge.folds.steps import TOL, FoldSolutions, solve_folds
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_SMALL = 400  # rows up to which every system is factored
_CELLS = 2**24  # of directions at a time
_BEFORE_STEPS, _BEFORE_FACTORS = 0.2, 0.5  # ranks, as shares of the rows, up to which a low-rank approximation pays
_REACH = 1e-5  # of a residual, with products in float32


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
            precondition=self.found.inverse(alpha),
            tol=tol,
            reach=_REACH,
            max_iter=self.found.n_iter,
        )
        if found.residual > tol:
            return None
        coef, intercept, objective = problem.assemble(self.folds.in_place(found.x))
        return KernelSolution(
            coef=coef,
            intercept=intercept,
            method=self.found.method,
            n_iter=self.found.n_iter + found.n_iter,
            objective=objective,
            gap=found.residual,
            converged=True,
            status=Message(
                "Solved with the folds for {n} rows, {how}, and {corrections} more of conjugate gradients; relative "
                "residual {residual:.1e}.",
                n=problem.n_rows,
                how=self.found.how,
                corrections=found.n_iter,
                residual=found.residual,
            ),
            kernel=str(problem.kernel),
        )

    def _remainder(self, answers: Array, right: Array, alpha: float) -> Array:
        return right - self.folds.product(answers) - alpha * answers


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
    low = low_rank(every, alphas, _BEFORE_STEPS) if _by_steps(problem) else None
    step, last = max(1, _CELLS // (n * len(alphas) * every.right.shape[1])), None
    for first in range(0, every.n_folds, step):
        batch = slice(first, first + step)
        some, last = _fit(every.some(batch), alphas, low, whole and first + step >= every.n_folds)
        found[batch] = np.moveaxis(some, 0, 1).swapaxes(2, 3)
    return FoldFits(found[: len(train)], last)


def _by_steps(problem: RidgeProblem) -> bool:
    """Whether Lanczos steps are tried before factorisations."""
    return problem.n_rows > _SMALL and problem.kernel.positive_definite


def _fit(folds: FoldProblem, alphas: Array, low: Array | None, whole: bool) -> tuple[Array, WholeFits | None]:
    """Predictions by a low-rank approximation or by Lanczos steps, and by factorisations where those did not lead to
    the end; and the last of the folds, if that is of all rows."""
    answers, fits, n = _Answers(folds, alphas), None, folds.problem.n_rows
    if by_steps := _by_steps(folds.problem):
        if low is not None:
            found = solve_by_low_rank(folds, alphas, low)
        else:
            found = solve_folds(folds, alphas, limited=_bytes_of_factors(n) <= memory_limit())
        answers.put(np.arange(len(alphas)), found.x)
        if whole:
            fits, answers.left[-1] = WholeFits(folds, found), False
        some = np.flatnonzero(answers.left.any(axis=0))
        if len(some) and low is None:
            rest = low_rank(folds, alphas[some], _BEFORE_FACTORS)
            if rest is not None:
                answers.put(some, solve_by_low_rank(folds, alphas[some], rest).x)
    if answers.left.any():
        _factor_the_rest(folds, alphas, answers, mixed=by_steps)
    return folds.in_place(folds.predictions(answers.solved, answers.images)), fits


class _Answers:
    """The solutions of the systems of all folds and penalties so far.

    Attributes
    ----------
    solved, images : ndarray of shape (n, folds, alphas, sides)
        They and S·K·S times them.
    left : ndarray of bool of shape (folds, alphas)
        What is not solved.
    """

    def __init__(self, folds: FoldProblem, alphas: Array) -> None:
        shape = (len(folds.right), folds.n_folds, len(alphas), folds.right.shape[1])
        self._folds, self._alphas = folds, alphas
        self.solved, self.images = np.empty(shape), np.empty(shape)
        self.left = np.ones(shape[1:3], dtype=bool)

    def put(self, numbers: Array, x: Array) -> None:
        """Take the solutions for some penalties; NaN stands for none."""
        images = self._folds.product(np.nan_to_num(x).reshape(len(x), -1)).reshape(x.shape)
        self.solved[:, :, numbers], self.images[:, :, numbers] = x, images
        self.left[:, numbers] = ~(self._folds.residuals(x, images, self._alphas[numbers]) <= TOL)


def _factor_the_rest(folds: FoldProblem, alphas: Array, answers: _Answers, mixed: bool) -> None:
    """Solve the systems that are left by factorisations, several folds at a time."""
    n, solved, left = folds.problem.n_rows, answers.solved, answers.left
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
    answers.images[:, left] = folds.product(solved[:, left].reshape(n, -1)).reshape(n, -1, solved.shape[3])


def _bytes_of_factors(n: int) -> float:
    """The rows of a fold in both precisions, and a factor."""
    return 16.0 * n * n
