"""The systems of all folds and penalties side by side, by conjugate gradients.

The equations of a fold are those of all rows with some left out, so the product of the Gram matrix with a direction of
each system is one product of two matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import eigh

from hiperplano.data.design import Array
from hiperplano.kernels import KernelMatrix
from hiperplano.linalg.products import columns_dot, rows_dot
from hiperplano.solvers.kernel.pivoted_cholesky import pivoted_cholesky
from hiperplano.solvers.kernel.refinement import refined_gradients
from hiperplano.solvers.kernel.ridge.conjugate import largest_rank, tiles_fit

if TYPE_CHECKING:
    from hiperplano.solvers.kernel.ridge.folds import FoldProblem

TOL = 1e-8  # relative residual: scores then have as many digits
REACH = 1e-5
_STEPS = 1000
_STEPS_OF_CHOLESKY = 80  # factorisations cost as much as n over this steps, which serve many systems at once


class System(NamedTuple):
    """A fold, given by the rows it trains on, and a penalty."""

    fold: int
    alpha: float


@dataclass(frozen=True)
class FoldSteps:
    """Conjugate gradients for all systems, with the low-rank approximation of all rows as a preconditioner.

    Attributes
    ----------
    factor : ndarray of shape (n, r)
        F with F·Fᵀ near S·K·S.
    values, vectors : list of ndarray
        Eigenvalues and eigenvectors of FᵀF with the rows of each fold only.
    product : callable
        S·K·S times directions, in float32.
    """

    folds: FoldProblem
    factor: Array
    values: list[Array]
    vectors: list[Array]
    product: Callable[[Array], Array]

    @classmethod
    def of(cls, folds: FoldProblem, seed: int) -> FoldSteps:
        problem = folds.problem
        diagonal, rank = problem.diagonal(), largest_rank(problem.n_rows)
        factor = pivoted_cholesky(problem.columns, diagonal, rank, 1e-12 * float(diagonal.sum()), seed).factor
        pairs = [eigh(columns_dot(factor, factor * mask[:, None])) for mask in folds.masks.T]
        if folds.tiles is not None:
            product = folds.tiles.astype(np.float32).dot
        elif tiles_fit(problem.n_rows, np.float32):
            product = problem.tiles(np.float32).dot
        else:
            rough = KernelMatrix(problem.kernel, problem.X, dtype=np.float32)
            product = partial(_computed, rough, problem.root.astype(np.float32)[:, None])
        return cls(folds, factor, [np.maximum(values, 0.0) for values, _ in pairs], [v for _, v in pairs], product)

    def solve(self, systems: list[System]) -> Array:
        """Solutions of shape (n, systems, sides); NaN for systems that a factorisation solves faster."""
        right = self.folds.right
        sides, n = right.shape[1], len(right)
        fold = np.repeat([system.fold for system in systems], sides)
        shift = np.repeat([system.alpha for system in systems], sides)
        right = np.tile(right, len(systems)) * self.folds.masks[:, fold]

        def times(product: Callable[[Array], Array], directions: Array, which: Array) -> Array:
            image = product(directions)
            return np.asarray(image * self.folds.masks[:, fold[which]] + shift[which] * directions)

        found = refined_gradients(
            partial(times, self.product),
            lambda answer, which: right[:, which] - times(self.folds.product, answer, which),
            start=(np.zeros(right.shape), right),
            size=np.linalg.norm(right, axis=0),
            precondition=partial(self._precondition, fold, shift),
            tol=TOL,
            reach=REACH,
            max_iter=_STEPS,
            budget=max(40, n // _STEPS_OF_CHOLESKY),
        )
        solved = found.x.reshape(n, len(systems), sides)
        solved[:, (found.residuals > 10 * TOL).reshape(len(systems), sides).any(axis=1)] = np.nan
        return solved

    def _precondition(self, fold: Array, shift: Array, residuals: Array, which: Array) -> Array:
        """(F·Fᵀ + α)⁻¹ on the rows of each fold."""
        inside = columns_dot(self.factor, residuals)
        for number in np.unique(fold[which]).tolist():
            mine = fold[which] == number
            values, vectors = self.values[number], self.vectors[number]
            inside[:, mine] = vectors @ ((vectors.T @ inside[:, mine]) / (values[:, None] + shift[which][mine]))
        image = rows_dot(self.factor, inside) * self.folds.masks[:, fold[which]]
        return np.asarray((residuals - image) / shift[which])


def _computed(matrix: KernelMatrix, root: Array, right: Array) -> Array:
    """S·K·S·right, in float32, with K computed anew."""
    return np.asarray(root * matrix.dot(root * right.astype(np.float32)))
