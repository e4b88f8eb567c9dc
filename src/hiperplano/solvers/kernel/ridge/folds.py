"""Kernel ridge regression on folds, for many penalties, with one Gram matrix.

Systems whose penalty is large are solved side by side by conjugate gradients. The others of a fold are all near each
other: one factorisation, in float32, serves as a preconditioner of several penalties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.linalg.tiles import SymmetricTiles
from hiperplano.solvers.kernel.memory import memory_limit
from hiperplano.solvers.kernel.ridge.conjugate import tiles_fit
from hiperplano.solvers.kernel.ridge.fold_factors import factored
from hiperplano.solvers.kernel.ridge.fold_steps import FoldSteps, System
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
        """S·K·S in float64, where it fits in memory beside a copy in float32."""
        return self.problem.tiles(np.float64) if tiles_fit(2 * self.problem.n_rows, np.float64) else None

    def product(self, right: Array) -> Array:
        """S·K·S·right, in float64."""
        if self.tiles is not None:
            return self.tiles.dot(right)
        return self.problem.product(right, np.zeros(1))

    def part(self, fold: int) -> tuple[Array, Array]:
        """The rows that a fold trains on, and S·K·S of them."""
        problem, rows = self.problem, np.flatnonzero(self.masks[:, fold])
        if self.tiles is not None:
            return rows, self.tiles.part(rows)
        values = problem.matrix.part(rows, rows).dense()
        values *= problem.root[rows, None]
        values *= problem.root[rows]
        return rows, values

    def predictions(self, solved: Array) -> Array:
        """Of all rows, of shape (n, systems, targets), from the solutions of all right sides."""
        problem, (n, targets) = self.problem, self.problem.y.shape
        u = solved[:, :, :targets]
        intercept = np.zeros(u.shape[1:])
        if problem.fit_intercept:
            ones = solved[:, :, targets]
            intercept = np.einsum("n,nst->st", problem.root, u) / (problem.root @ ones)[:, None]
            u = u - ones[:, :, None] * intercept
        sums = self.product(np.ascontiguousarray(u).reshape(n, -1)).reshape(u.shape)
        return np.asarray(sums / problem.root[:, None, None] + intercept)


def fold_predictions(problem: RidgeProblem, alphas: Array, train: list[Array], seed: int) -> Array:
    """Predictions of all rows, of shape (folds, n, targets, alphas), by the machines of every fold and penalty.

    Parameters
    ----------
    alphas : ndarray of shape (alphas,)
        More than 0.
    train : list of ndarray of int
        Rows of the folds to train on.
    seed : int
        For the pivots of the preconditioner.
    """
    n, targets = problem.y.shape
    masks = np.zeros((n, len(train)))
    for fold, rows in enumerate(train):
        masks[rows, fold] = 1.0
    folds = FoldProblem(problem, masks)
    systems = [System(fold, float(alpha)) for fold in range(len(train)) for alpha in alphas]
    sides = folds.right.shape[1]
    found = np.empty((len(systems), n, targets))
    step = max(1, _CELLS // (n * sides))
    steps = None if n <= _SMALL or not problem.kernel.positive_definite else FoldSteps.of(folds, seed)
    for first in range(0, len(systems), step):
        batch = systems[first : first + step]
        solved = np.full((n, len(batch), sides), np.nan) if steps is None else steps.solve(batch)
        _solve_the_rest(folds, batch, solved, mixed=steps is not None)
        found[first : first + step] = np.moveaxis(folds.predictions(solved), 0, 1)
    return np.moveaxis(found.reshape(len(train), len(alphas), n, targets), 1, 3)


def _solve_the_rest(folds: FoldProblem, systems: list[System], solved: Array, mixed: bool) -> None:
    """Fill in what is NaN, by factorisations, several folds at a time."""
    unsolved = np.isnan(solved).any(axis=(0, 2))
    left: dict[int, list[int]] = {}
    for number in np.flatnonzero(unsolved).tolist():
        left.setdefault(systems[number].fold, []).append(number)

    def solve(fold: int) -> None:
        rows, matrix = folds.part(fold)
        numbers = np.array(left[fold])
        solved[:, numbers] = 0.0
        alphas = np.array([systems[number].alpha for number in left[fold]])
        solved[np.ix_(rows, numbers)] = factored(matrix, folds.right[rows], alphas, mixed)

    workers = worker_count()
    fits = 16.0 * folds.problem.n_rows**2 * workers <= memory_limit()
    ordered_map(solve, left, workers if fits else 1)
