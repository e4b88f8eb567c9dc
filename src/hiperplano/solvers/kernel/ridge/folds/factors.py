"""The systems of one fold for several penalties, by factorisations."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.refinement import refined_gradients
from hiperplano.solvers.kernel.ridge.single import inverse_in_single

_APART = 200.0  # largest over smallest penalty of those that share a factorisation
_STEPS = 60
_TOL = 1e-8  # relative residual: with a factorisation, a digit costs less than a step
REACH = 1e-5  # of a residual, with products in float32


def factored(matrix: Array, right: Array, alphas: Array, mixed: bool) -> Array:
    """(matrix + α)⁻¹·right for every α, of shape (n, alphas, sides).

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric; if `mixed`, positive semidefinite.
    right : ndarray of shape (n, sides)
    mixed : bool
        Whether to factor in float32, once for penalties that are not far apart, and to correct the solutions by
        conjugate gradients until they are exact.
    """
    found = np.full((len(right), len(alphas), right.shape[1]), np.nan)
    if mixed and len(alphas) > 1:
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
    """Conjugate gradients in float32 with the factor of the middle penalty as a preconditioner; NaN where they fail."""
    n, sides = right.shape
    shift = np.repeat(alphas, sides)
    inverse = inverse_in_single(single.copy(), float(np.sqrt(alphas.min() * alphas.max())))
    if inverse is None:
        return np.full((n, len(alphas), sides), np.nan)
    several = np.tile(right, len(alphas))
    found = refined_gradients(
        lambda directions, which: single @ directions.astype(np.float32) + shift[which] * directions,
        lambda answer, which: several[:, which] - matrix @ answer - shift[which] * answer,
        start=(np.zeros(several.shape), several),
        size=np.linalg.norm(several, axis=0),
        precondition=lambda residuals, which: inverse(residuals),
        tol=_TOL,
        reach=REACH,
        max_iter=_STEPS,
    )
    solved = found.x.reshape(n, len(alphas), sides)
    solved[:, (found.residuals > 10 * _TOL).reshape(len(alphas), sides).any(axis=1)] = np.nan
    return solved


def _exact(matrix: Array, right: Array, alpha: float) -> Array:
    shifted = matrix.copy()
    shifted[np.diag_indices(len(shifted))] += alpha
    try:
        return np.asarray(cho_solve(cho_factor(shifted, lower=True, check_finite=False), right, check_finite=False))
    except LinAlgError:  # a kernel that is not positive definite
        return np.asarray(np.linalg.lstsq(shifted, right, rcond=None)[0])
