"""Kernel ridge regression on folds, for many penalties, with one Gram matrix.

Lanczos steps for all folds side by side solve the systems of all penalties that are not too small. The others of a fold
are near each other: one factorisation, in float32, serves as a preconditioner of several penalties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.linalg.tiles import SymmetricTiles
from hiperplano.messages import Message
from hiperplano.solvers.kernel.memory import memory_limit, require_bytes
from hiperplano.solvers.kernel.ridge.conjugate import tiles_fit
from hiperplano.solvers.kernel.ridge.fold_factors import factored
from hiperplano.solvers.kernel.ridge.fold_steps import TOL, solve_folds
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem

_SMALL = 600  # rows up to which every system is factored
_CELLS = 2**24  # of directions at a time


@dataclass(frozen=True)
class FoldProblem:
    """The systems of some folds and penalties, for the same rows.

    Attributes
    ----------
    problem : RidgeProblem
        Its own penalty does not matter.
    masks : ndarray of shape (n, folds)
        1 for rows to train on, 0 for others.
    """

    problem: RidgeProblem
    masks: Array

    @cached_property
    def right(self) -> Array:
        """Right sides of a system before rows are left out: targets and, with an intercept, ones."""
        problem = self.problem
        targets = problem.root[:, None] * problem.y
        return np.column_stack([targets, problem.root]) if problem.fit_intercept else np.asarray(targets)

    @cached_property
    def tiles(self) -> SymmetricTiles | None:
        """S·K·S in float64, where it fits in memory."""
        return self.problem.tiles(np.float64) if tiles_fit(self.problem.n_rows, np.float64) else None

    def product(self, right: Array) -> Array:
        """S·K·S·right, in float64."""
        if self.tiles is not None:
            return self.tiles.dot(right)
        return self.problem.product(right, np.zeros(1))

    def of(self, chosen: slice) -> FoldProblem:
        """Some of the folds."""
        some = FoldProblem(self.problem, self.masks[:, chosen])
        vars(some)["tiles"] = self.tiles  # computed once
        return some

    def part(self, fold: int) -> tuple[Array, Array]:
        """The rows that a fold trains on, and S·K·S of them."""
        problem, rows = self.problem, np.flatnonzero(self.masks[:, fold])
        if self.tiles is not None:
            return rows, self.tiles.part(rows)
        values = problem.matrix.part(rows, rows).dense()
        values *= problem.root[rows, None]
        values *= problem.root[rows]
        return rows, values

    def residuals(self, solved: Array, images: Array, alphas: Array) -> Array:
        """The largest relative residual of each fold and penalty, from solutions and their images."""
        right = self.masks[:, :, None, None] * self.right[:, None, None, :]
        left = right - self.masks[:, :, None, None] * images - alphas[:, None] * solved
        size = np.linalg.norm(right, axis=0)
        return np.asarray((np.linalg.norm(left, axis=0) / np.where(size > 0, size, 1.0)).max(axis=2))

    def predictions(self, solved: Array, images: Array) -> Array:
        """Of all rows, of shape (n, folds, alphas, targets), from the solutions of all right sides and their images."""
        problem, targets = self.problem, self.problem.y.shape[1]
        sums, intercept = images[..., :targets], np.zeros(())
        if problem.fit_intercept:
            totals = np.einsum("n,nfas->fas", problem.root, solved)
            intercept = totals[..., :targets] / totals[..., targets:]
            sums = sums - images[..., targets:] * intercept
        return np.asarray(sums / problem.root[:, None, None, None] + intercept)


def fold_predictions(problem: RidgeProblem, alphas: Array, train: list[Array]) -> Array:
    """Predictions of all rows, of shape (folds, n, targets, alphas), by the machines of every fold and penalty.

    Parameters
    ----------
    alphas : ndarray of shape (alphas,)
        More than 0.
    train : list of ndarray of int
        Rows of the folds to train on.
    """
    n, targets = problem.y.shape
    masks = np.zeros((n, len(train)))
    for fold, rows in enumerate(train):
        masks[rows, fold] = 1.0
    every = FoldProblem(problem, masks)
    found = np.empty((len(train), n, targets, len(alphas)))
    step = max(1, _CELLS // (n * len(alphas) * every.right.shape[1]))
    for first in range(0, len(train), step):
        batch = slice(first, first + step)
        found[batch] = np.moveaxis(_predictions(every.of(batch), alphas), 0, 1).swapaxes(2, 3)
    return found


def _predictions(folds: FoldProblem, alphas: Array) -> Array:
    """By Lanczos steps, and by factorisations where those did not lead to the end."""
    problem, n = folds.problem, folds.problem.n_rows
    steps = n > _SMALL and problem.kernel.positive_definite
    shape = (n, folds.masks.shape[1], len(alphas), folds.right.shape[1])
    if steps:
        solved = solve_folds(folds, alphas, limited=_bytes_of_factors(n) <= memory_limit())
        images = folds.product(np.nan_to_num(solved).reshape(n, -1)).reshape(shape)
        left = ~(folds.residuals(solved, images, alphas) <= TOL)
    else:
        solved, images, left = np.empty(shape), np.empty(shape), np.ones(shape[1:3], dtype=bool)
    if left.any():
        _factor_the_rest(folds, alphas, left, solved, mixed=steps)
        images[:, left] = folds.product(solved[:, left].reshape(n, -1)).reshape(n, -1, shape[3])
    return folds.predictions(solved, images)


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
