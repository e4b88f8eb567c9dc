"""Kernel ridge regression on folds, for many penalties: all systems side by side, with one Gram matrix.

The equations of a fold are those of all rows with some left out, so the product of the Gram matrix with a direction of
each system is one product of two matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from hiperplano.data.design import Array
from hiperplano.kernels import KernelMatrix
from hiperplano.linalg.products import columns_dot, rows_dot
from hiperplano.linalg.tiles import LinAlgError
from hiperplano.solvers.kernel.pivoted_cholesky import pivoted_cholesky
from hiperplano.solvers.kernel.refinement import refined_gradients
from hiperplano.solvers.kernel.ridge.conjugate import largest_rank, tiles_fit
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem

_SMALL = 600  # rows up to which every system is factored
_TOL = 1e-7  # relative residual: scores then have as many digits
_REACH = 1e-5
_STEPS = 1000
_CELLS = 2**24  # of directions at a time
_STEPS_OF_CHOLESKY = 5  # a factorisation costs as much as n over this steps, which serve many systems at once


class System(NamedTuple):
    """A fold, given by the rows it trains on, and a penalty."""

    fold: int
    alpha: float


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

    @property
    def right(self) -> Array:
        """Right sides of a system before rows are left out: targets and, with an intercept, ones."""
        problem = self.problem
        targets = problem.root[:, None] * problem.y
        return np.column_stack([targets, problem.root]) if problem.fit_intercept else np.asarray(targets)

    def functions(self, systems: list[System], solved: Array) -> tuple[Array, Array]:
        """Dual coefficients of shape (n, systems, targets), and intercepts, from the solutions of all right sides."""
        problem, targets = self.problem, self.problem.y.shape[1]
        u = solved[:, :, :targets]
        intercept = np.zeros((len(systems), targets))
        if problem.fit_intercept:
            ones = solved[:, :, targets]
            intercept = np.einsum("n,nst->st", problem.root, u) / (problem.root @ ones)[:, None]
            u = u - ones[:, :, None] * intercept
        return problem.root[:, None, None] * u, intercept


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
    iterative = None if n <= _SMALL or not problem.kernel.positive_definite else _Iterative.of(folds, seed)
    for first in range(0, len(systems), step):
        batch = systems[first : first + step]
        solved = np.full((n, len(batch), sides), np.nan) if iterative is None else iterative.solve(batch)
        for number in np.flatnonzero(np.isnan(solved).any(axis=(0, 2))).tolist():
            solved[:, number] = _factored(folds, batch[number])
        coef, intercept = folds.functions(batch, solved)
        values = problem.matrix.dot(coef.reshape(n, -1)).reshape(n, len(batch), targets) + intercept
        found[first : first + step] = np.moveaxis(values, 0, 1)
    return np.moveaxis(found.reshape(len(train), len(alphas), n, targets), 1, 3)


@dataclass(frozen=True)
class _Iterative:
    """Conjugate gradients for all systems, with the low-rank approximation of all rows as a preconditioner.

    Attributes
    ----------
    factor : ndarray of shape (n, r)
        F with F·Fᵀ near S·K·S.
    values, vectors : list of ndarray
        Eigenvalues and eigenvectors of FᵀF with the rows of each fold only.
    """

    folds: FoldProblem
    factor: Array
    values: list[Array]
    vectors: list[Array]
    product: object

    @classmethod
    def of(cls, folds: FoldProblem, seed: int) -> _Iterative:
        problem = folds.problem
        diagonal = problem.diagonal()
        rank = min(problem.n_rows, 2 * largest_rank(problem.n_rows))  # it serves many systems
        factor = pivoted_cholesky(problem.columns, diagonal, rank, 1e-12 * float(diagonal.sum()), seed).factor
        pairs = [eigh(columns_dot(factor, factor * mask[:, None])) for mask in folds.masks.T]
        rough = KernelMatrix(problem.kernel, problem.X, dtype=np.float32)
        root = problem.root.astype(np.float32)[:, None]

        def anew(right: Array) -> Array:
            return np.asarray(root * rough.dot(root * right.astype(np.float32)))

        product = problem.tiles(np.float32).dot if tiles_fit(problem.n_rows, np.float32) else anew
        return cls(folds, factor, [np.maximum(values, 0.0) for values, _ in pairs], [v for _, v in pairs], product)

    def solve(self, systems: list[System]) -> Array:
        """Solutions of shape (n, systems, sides); NaN for systems that a factorisation solves faster."""
        right = self.folds.right
        sides, n = right.shape[1], len(right)
        fold = np.repeat([system.fold for system in systems], sides)
        shift = np.repeat([system.alpha for system in systems], sides)
        right = np.tile(right, len(systems)) * self.folds.masks[:, fold]
        exact = partial(self._product, self._exact, fold, shift)
        found = refined_gradients(
            partial(self._product, self.product, fold, shift),
            lambda solved: right - exact(solved, np.arange(len(fold))),
            start=(np.zeros(right.shape), right),
            size=np.linalg.norm(right, axis=0),
            precondition=partial(self._precondition, fold, shift),
            tol=_TOL,
            reach=_REACH,
            max_iter=_STEPS,
            budget=max(40, n // _STEPS_OF_CHOLESKY),
        )
        solved = found.x.reshape(n, len(systems), sides)
        solved[:, (found.residuals > 10 * _TOL).reshape(len(systems), sides).any(axis=1)] = np.nan
        return solved

    def _exact(self, right: Array) -> Array:
        root = self.folds.problem.root[:, None]
        return np.asarray(root * self.folds.problem.matrix.dot(root * right))

    def _product(self, product: object, fold: Array, shift: Array, directions: Array, which: Array) -> Array:
        image = product(directions)  # type: ignore[operator]
        return np.asarray(image * self.folds.masks[:, fold[which]] + shift[which] * directions)

    def _precondition(self, fold: Array, shift: Array, residuals: Array, which: Array) -> Array:
        """(F·Fᵀ + α)⁻¹ on the rows of each fold."""
        inside = columns_dot(self.factor, residuals)
        for number in np.unique(fold[which]).tolist():
            mine = fold[which] == number
            values, vectors = self.values[number], self.vectors[number]
            inside[:, mine] = vectors @ ((vectors.T @ inside[:, mine]) / (values[:, None] + shift[which][mine]))
        image = rows_dot(self.factor, inside) * self.folds.masks[:, fold[which]]
        return np.asarray((residuals - image) / shift[which])


def _factored(folds: FoldProblem, system: System) -> Array:
    """The solutions of one system, by a factorisation; 0 for rows that are left out."""
    problem, rows = folds.problem, np.flatnonzero(folds.masks[:, system.fold])
    matrix = problem.matrix.part(rows, rows).dense() * problem.root[rows, None] * problem.root[rows]
    matrix[np.diag_indices(len(rows))] += system.alpha
    found = np.zeros((problem.n_rows, folds.right.shape[1]))
    try:
        found[rows] = cho_solve(cho_factor(matrix, lower=True, check_finite=False), folds.right[rows])
    except LinAlgError:  # a kernel that is not positive definite
        found[rows] = np.linalg.lstsq(matrix, folds.right[rows], rcond=None)[0]
    return found
