"""The systems of one fold for several penalties, by factorisations."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.cholesky import factor_in_place, solve_factored
from hiperplano.linalg.conjugate_gradient import conjugate_gradients
from hiperplano.solvers.kernel.ridge.folds.steps import NEAR, TOL
from hiperplano.solvers.kernel.ridge.single import inverse_in_single

_APART = 15.0  # largest over smallest penalty of those that share a factorisation: it takes them about 15 steps
_STEPS = 40


def factored(matrix: Array, right: Array, alphas: Array, mixed: bool) -> Array:
    """(matrix + α)⁻¹·right for every α, of shape (n, alphas, sides).

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric; if `mixed`, positive semidefinite.
    right : ndarray of shape (n, sides)
    mixed : bool
        Whether to factor in float32, once for penalties that are not far apart, and to correct the solutions by
        conjugate gradients.
    """
    found = np.full((len(right), len(alphas), right.shape[1]), np.nan)
    if mixed:
        single = matrix.astype(np.float32)
        order = np.argsort(alphas)
        while len(order):
            near = alphas[order] <= _APART * alphas[order[0]]
            chosen, order = order[near], order[~near]
            found[:, chosen] = _corrected(matrix, single, right, alphas[chosen])
    for number in np.flatnonzero(np.isnan(found).any(axis=(0, 2))).tolist():
        found[:, number] = _exact(matrix, right, float(alphas[number]))
    return found


def _corrected(matrix: Array, single: Array, right: Array, alphas: Array) -> Array:
    """Conjugate gradients with the factor of the middle penalty as a preconditioner; NaN where they fail."""
    n, sides = right.shape
    shift = np.repeat(alphas, sides)
    inverse = inverse_in_single(single.copy(), float(np.sqrt(alphas.min() * alphas.max())))
    if inverse is None:
        return np.full((n, len(alphas), sides), np.nan)
    found = conjugate_gradients(
        lambda directions, which: matrix @ directions + shift[which] * directions,
        np.tile(right, len(alphas)),
        precondition=lambda residuals, which: inverse(residuals),
        rtol=NEAR,
        max_iter=_STEPS,
    )
    solved = found.x.reshape(n, len(alphas), sides)
    solved[:, (found.residuals > TOL).reshape(len(alphas), sides).any(axis=1)] = np.nan
    return solved


def _exact(matrix: Array, right: Array, alpha: float) -> Array:
    factor = matrix.copy()
    factor.flat[:: len(factor) + 1] += alpha
    if factor_in_place(factor):
        return solve_factored(factor, right)
    shifted = matrix + alpha * np.eye(len(matrix))  # a kernel that is not positive definite
    return np.asarray(np.linalg.lstsq(shifted, right, rcond=None)[0])
