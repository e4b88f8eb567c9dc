"""Systems of all folds and penalties, preconditioned by a low-rank approximation F·Fᵀ of the Gram matrix.

With few columns, the spectrum of a smooth kernel decays so fast that a part of the rows spans the others up to less
than the smallest penalty. One F then serves all folds: each leaves out some rows of F. Conjugate gradients with the
exact matrix then need a few steps.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import LinAlgError

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradients
from hiperplano.linalg.memory import memory_limit
from hiperplano.linalg.products import columns_dot
from hiperplano.solvers.kernel.pivoted_cholesky import pivoted_cholesky
from hiperplano.solvers.kernel.ridge.folds.problem import NEAR, FoldProblem
from hiperplano.solvers.kernel.ridge.preconditioner import LowRankInverse

_LEFT = 100.0  # largest trace of the error of F·Fᵀ, as a multiple of the smallest penalty; many directions share it
_STEPS = 40  # most steps of conjugate gradients


def low_rank(folds: FoldProblem, alphas: Array, share: float) -> Array | None:
    """F, of shape (n, rank), for some penalties; None where its rank would be more than a share of the rows, or than
    memory holds."""
    problem, enough, limit = folds.problem, _LEFT * float(alphas.min()), memory_limit() / 16  # F, FᵀF and copies
    most = int(min(share * problem.n_rows, limit / problem.n_rows, np.sqrt(limit / folds.n_folds)))
    found = pivoted_cholesky(problem.gram.columns, problem.gram.diagonal(), most, enough, trial=True)
    if found.left.sum() > enough:
        return None
    return found.factor


def solve_by_low_rank(folds: FoldProblem, alphas: Array, factor: Array) -> Array:
    """Solve all systems, with F·Fᵀ of a fold's rows as its preconditioner: as `solve_folds`."""
    n, sides = folds.right.shape
    fold_of = np.repeat(np.arange(folds.n_folds), sides)  # of each column
    masks = folds.masks[:, fold_of]
    right, grams = np.tile(folds.right, folds.n_folds) * masks, _grams(factor, folds.masks)
    x = np.zeros((n, folds.n_folds, len(alphas), sides))
    for number, alpha in enumerate(alphas.tolist()):
        try:
            inverse = LowRankInverse.of(factor, grams, np.full(len(grams), alpha))
        except LinAlgError:
            continue
        found = conjugate_gradients(
            partial(_product, folds, masks, alpha),
            right,
            precondition=partial(_precondition, inverse, fold_of, masks),
            rtol=NEAR,
            max_iter=_STEPS,
        )
        x[:, :, number] = found.x.reshape(n, -1, sides)
    return x


def _product(folds: FoldProblem, masks: Array, alpha: float, directions: Array, which: Array) -> Array:
    return folds.masked_product(masks.T[which])(directions.T, False).T + alpha * directions


def _precondition(inverse: LowRankInverse, fold_of: Array, masks: Array, residuals: Array, which: Array) -> Array:
    return inverse(residuals, fold_of[which]) * masks[:, which]


def _grams(factor: Array, masks: Array) -> list[Array]:
    """FᵀF of the rows of each fold: what the others leave of that of all rows, if those are fewer."""
    whole = columns_dot(factor, factor)
    found = []
    for mask in masks.T.astype(bool):
        few = 2 * mask.sum() <= len(mask)
        rows = factor[mask if few else ~mask]
        found.append(columns_dot(rows, rows) if few else whole - columns_dot(rows, rows))
    return found
