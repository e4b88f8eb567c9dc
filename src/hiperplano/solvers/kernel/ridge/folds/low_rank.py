"""Systems of all folds and penalties, preconditioned by a low-rank approximation F·Fᵀ of the Gram matrix.

If there are few columns, the spectrum of a smooth kernel decays so fast that a subset of the rows spans the others with
an error below the smallest penalty. One F then serves all folds, since each fold leaves out some rows of F. Conjugate
gradients with the exact matrix then need a few steps.
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
from hiperplano.solvers.kernel.ridge.folds.problem import MOST_STEPS, NEAR, FoldProblem
from hiperplano.solvers.kernel.ridge.preconditioner import LowRankInverse

# Largest trace of the error of F·Fᵀ, as a multiple of the smallest penalty; it is spread over many directions. On 85
# tables, 25 takes up to 6% less time on average than 100, and with 1 some tables take four times as long.
_LEFT = 25.0


def low_rank(folds: FoldProblem, alphas: Array, share: float) -> Array | None:
    """F, of shape (n, rank), for some penalties; None if its rank would exceed a share of the rows, or the memory."""
    # Memory for F, FᵀF and copies.
    problem, enough, limit = folds.problem, _LEFT * float(alphas.min()), memory_limit() / 16
    most = int(min(share * problem.n_rows, limit / problem.n_rows, np.sqrt(limit / folds.n_folds)))
    found = pivoted_cholesky(problem.gram.columns, problem.gram.diagonal(), most, enough, trial=True)
    if found.left.sum() > enough:
        return None
    return found.factor


def solve_by_low_rank(folds: FoldProblem, alphas: Array, factor: Array) -> Array:
    """Solve all systems, preconditioned by F·Fᵀ of the fold's rows; result as in `solve_folds`."""
    n, sides = folds.right.shape
    fold_of = np.repeat(np.arange(folds.n_folds), sides)  # fold of each column
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
            max_iter=MOST_STEPS,
        )
        x[:, :, number] = found.x.reshape(n, -1, sides)
    return x


def _product(folds: FoldProblem, masks: Array, alpha: float, directions: Array, which: Array) -> Array:
    return folds.masked_product(masks.T[which])(directions.T, False).T + alpha * directions


def _precondition(inverse: LowRankInverse, fold_of: Array, masks: Array, residuals: Array, which: Array) -> Array:
    return inverse(residuals, fold_of[which]) * masks[:, which]


def _grams(factor: Array, masks: Array) -> list[Array]:
    """FᵀF of the rows of each fold, computed as FᵀF of all rows minus that of the rows left out if these are fewer."""
    whole = columns_dot(factor, factor)
    found = []
    for mask in masks.T.astype(bool):
        few = 2 * mask.sum() <= len(mask)
        rows = factor[mask if few else ~mask]
        found.append(columns_dot(rows, rows) if few else whole - columns_dot(rows, rows))
    return found
