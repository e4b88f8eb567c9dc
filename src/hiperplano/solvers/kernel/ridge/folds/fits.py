"""Cross-validation of kernel ridge regression for many penalties, with one Gram matrix.

If the matrix has a low-rank approximation with an error of the order of the smallest penalty, that preconditions
conjugate gradients for all folds and penalties. Otherwise Lanczos steps for all folds together solve the systems of all
penalties that are not too small. The remaining penalties of a fold are close to each other, so that one Cholesky
factorisation in float32 preconditions several of them.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import one_worker, ordered_map, worker_count
from hiperplano.linalg.krylov.lanczos import KrylovSpace
from hiperplano.linalg.memory import memory_limit, require_bytes
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.choice import solve_ridge
from hiperplano.solvers.kernel.ridge.conjugate import finish_conjugate, steps_of_cholesky
from hiperplano.solvers.kernel.ridge.folds.factors import factored
from hiperplano.solvers.kernel.ridge.folds.low_rank import low_rank, solve_by_low_rank
from hiperplano.solvers.kernel.ridge.folds.problem import TOL, FoldProblem
from hiperplano.solvers.kernel.ridge.folds.steps import FoldSteps, solve_folds
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.ridge.single import solve_in_single
from hiperplano.solvers.kernel.solution import KernelSolution

_SMALL = 400  # up to this number of rows, every system is factored
_CELLS = 2**24  # most numbers in the solutions of the folds that are solved together
_MOST_RANK_SHARE = 0.2  # largest rank of a low-rank approximation, as a share of the rows


class FoldFits(NamedTuple):
    """Predictions for every fold and penalty.

    Attributes
    ----------
    predicted : ndarray of shape (folds, n, targets, alphas)
        Predictions of all rows.
    folds : FoldProblem
    steps : ndarray of int of shape (alphas,)
        Lanczos steps of the folds for each penalty.
    all_rows : list of KrylovSpace
        Krylov space of each right-hand side on all rows, if it was built together with those of the folds.
    """

    predicted: Array
    folds: FoldProblem
    steps: Array
    all_rows: list[KrylovSpace]

    def solve_all_rows(self, alphas: Array, number: int, solver: str, **control: Any) -> KernelSolution:
        """Fit all rows for one of the penalties, with the Gram matrix of the folds; otherwise as `solve_ridge`."""
        problem = self.folds.problem
        problem = replace(problem, alpha=np.full(problem.y.shape[1], alphas[number]))
        found = None
        if solver == "auto" and self.all_rows:
            found = finish_conjugate(problem, self.all_rows, control["tol"])
        if found is None and solver == "auto" and self.steps[number] > steps_of_cholesky(problem):
            found = solve_in_single(problem, control["tol"], Message("The folds took many steps. "))
        found = found or solve_ridge(problem, solver=solver, **control)
        if self.folds.order is None:
            return found
        if found.rows is not None:
            return replace(found, rows=self.folds.order[found.rows])
        return replace(found, coef=self.folds.in_place(found.coef.T).T)


def fit_folds(problem: RidgeProblem, alphas: Array, train: list[Array], solver: str = "auto") -> FoldFits:
    """Fit every fold and penalty.

    Parameters
    ----------
    alphas : ndarray of shape (alphas,)
        Positive penalties.
    train : list of ndarray of int
        Training rows of each fold.
    solver : str
        Solver of the later fit on all rows. If it is "auto", that fit reuses Lanczos steps made with the folds.
    """
    n, targets = problem.y.shape
    every = FoldProblem.of(problem, train, in_groups=_by_steps(problem))
    found = np.empty((every.n_folds, n, targets, len(alphas)))
    low = low_rank(every, alphas, _MOST_RANK_SHARE) if _by_steps(problem) else None
    step = max(1, _CELLS // (n * len(alphas) * every.right.shape[1]))
    steps, all_rows = np.zeros(len(alphas), dtype=int), []
    for first in range(0, every.n_folds, step):
        batch = slice(first, first + step)
        folds = every.some(batch)
        with_all_rows = first == 0 and solver == "auto" and _folds_dominate_cost(folds)
        predicted, n_steps, spaces = _fit(folds, alphas, low, with_all_rows)
        found[batch] = np.moveaxis(predicted, 0, 1).swapaxes(2, 3)
        np.maximum(steps, n_steps, out=steps)
        all_rows += spaces
    return FoldFits(found, every, steps, all_rows)


def _folds_dominate_cost(folds: FoldProblem) -> bool:
    """Whether products for the folds cost at least as much as those for all rows.

    The latter can then be computed with them.
    """
    return bool(np.square(folds.masks.mean(axis=0)).sum() >= 1.0)


def _by_steps(problem: RidgeProblem) -> bool:
    """Whether Lanczos steps are tried before factorisations."""
    return problem.n_rows > _SMALL and problem.gram.kernel.positive_definite


def _fit(
    folds: FoldProblem, alphas: Array, low: Array | None, with_all_rows: bool
) -> tuple[Array, Array, list[KrylovSpace]]:
    """Fit all folds and penalties.

    Predictions come from a low-rank approximation or from Lanczos steps, and from factorisations where these did not
    converge. Also returns the number of Lanczos steps for each penalty, and the Krylov spaces of all rows.
    """
    answers, steps, all_rows = _Answers(folds, alphas), np.zeros(len(alphas), dtype=int), list[KrylovSpace]()
    if low is not None:
        answers.put(solve_by_low_rank(folds, alphas, low))
    elif _by_steps(folds.problem):
        limited = _bytes_of_factors(folds.problem.n_rows) <= memory_limit()
        found = solve_folds(folds, alphas, limited, with_all_rows)
        answers.put_steps(found)
        steps, all_rows = found.steps, found.all_rows
    if answers.left.any():
        _factor_unsolved(folds, alphas, answers, mixed=_by_steps(folds.problem))
    return folds.in_place(folds.predictions(answers.solved, answers.images)), steps, all_rows


class _Answers:
    """Solutions found so far, for all folds and penalties.

    Attributes
    ----------
    solved, images : ndarray of shape (n, folds, alphas, sides)
        The solutions, and S·K·S times them.
    left : ndarray of bool of shape (folds, alphas)
        Systems that are not solved yet.
    """

    def __init__(self, folds: FoldProblem, alphas: Array) -> None:
        shape = (len(folds.right), folds.n_folds, len(alphas), folds.right.shape[1])
        self._folds, self._alphas = folds, alphas
        self.solved: Array = np.zeros(shape)
        self.images: Array = np.empty(shape)
        self.left = np.ones(shape[1:3], dtype=bool)

    def put(self, x: Array) -> None:
        """Store solutions, and mark those whose residual is too large as unsolved."""
        self.solved, self.images = x, self._folds.product(x.reshape(len(x), -1)).reshape(x.shape)
        self.left = ~(self._folds.residuals(x, self.images, self._alphas) <= TOL)

    def put_steps(self, found: FoldSteps) -> None:
        """Store the solutions for all penalties from one Krylov space for each fold.

        The residual of a space, and the rounding error, are largest for the smallest penalty. If that residual is small
        enough, so are the others, and the images of the training rows then follow from the equations without a product.
        """
        x, solved, folds = found.x, found.solved, self._folds
        least = solved & (self._alphas == np.where(solved, self._alphas, np.inf).min(axis=1)[:, None])
        images = folds.product_of_left_out(x * solved[:, :, None], least)
        if not (folds.residuals(x, images, self._alphas)[least] <= TOL).all():
            return self.put(x)
        implied = folds.right[:, None, None, :] - self._alphas[:, None] * x
        trained = (folds.masks > 0)[:, :, None, None] & ~least[:, :, None]
        self.solved, self.images = x, np.where(trained, implied, images)
        self.left = np.logical_not(solved)
        return None


def _factor_unsolved(folds: FoldProblem, alphas: Array, answers: _Answers, mixed: bool) -> None:
    """Solve the unsolved systems by factorisations, several folds at a time."""
    n, solved, left = folds.problem.n_rows, answers.solved, answers.left
    require_bytes(
        _bytes_of_factors(n),
        "KernelRidgeCV",
        Message("factorisations of the Gram matrix of {n} rows, which the smallest penalties need,", n=n),
        Message("Try larger penalties, or fewer rows."),
    )

    def solve(fold: int) -> None:
        rows, matrix = folds.part(fold)
        places = rows[:, None], fold, np.flatnonzero(left[fold])
        with one_worker() if workers > 1 else nullcontext():
            part = factored(matrix, folds.right[rows], alphas[left[fold]], solved[places] if mixed else None)
        solved[:, fold, left[fold]] = 0.0
        solved[places] = part

    chosen = np.flatnonzero(left.any(axis=1)).tolist()
    workers = min(worker_count(), len(chosen))
    workers = workers if workers * _bytes_of_factors(n) <= memory_limit() else 1
    ordered_map(solve, chosen, workers)
    answers.images[:, left] = folds.product(solved[:, left].reshape(n, -1)).reshape(n, -1, solved.shape[3])


def _bytes_of_factors(n: int) -> float:
    """Memory for the rows of a fold in both precisions, and for a factor."""
    return 16.0 * n * n
