"""Systems of one fold for several penalties, solved by Cholesky factorisations."""

from __future__ import annotations

from functools import partial

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.lapack.cholesky import factor_in_place, solve_factored
from hiperplano.solvers.kernel.refinement import REACH, refined_gradients
from hiperplano.solvers.kernel.ridge.folds.problem import MOST_STEPS, NEAR, TOL
from hiperplano.solvers.kernel.ridge.single import inverse_in_single

_APART = 15.0  # largest ratio of penalties that share a factorisation; conjugate gradients then take about 15 steps


def groups(alphas: Array) -> list[Array]:
    """Group the numbers of penalties that share a factorisation, the smallest penalty first."""
    order, found = np.argsort(alphas), list[Array]()
    while len(order):
        near = alphas[order] <= _APART * alphas[order[0]]
        found.append(order[near])
        order = order[~near]
    return found


def factored(matrix: Array, right: Array, alphas: Array, start: Array | None) -> Array:
    """(matrix + α)⁻¹·right for every α, of shape (n, alphas, sides).

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric; positive semidefinite, if there is a start.
    right : ndarray of shape (n, sides)
    start : ndarray of shape (n, alphas, sides) or None
        Initial solutions, which conjugate gradients improve: the matrix is then factored in float32, once for penalties
        that are close to each other. None to factor it in float64 for each penalty.
    """
    found = np.full((len(right), len(alphas), right.shape[1]), np.nan)
    largest = len(matrix) * (float(matrix.diagonal().max(initial=0.0)) + float(alphas.max()))
    if start is not None and largest < float(np.finfo(np.float32).max):
        single = matrix.astype(np.float32)
        for chosen in groups(alphas):
            found[:, chosen] = _improved(matrix, single, right, alphas[chosen], start[:, chosen])
    for number in np.flatnonzero(np.isnan(found).any(axis=(0, 2))).tolist():
        found[:, number] = _exact(matrix, right, float(alphas[number]))
    return found


def _improved(matrix: Array, single: Array, right: Array, alphas: Array, start: Array) -> Array:
    """Conjugate gradients preconditioned by the factor of the group's middle penalty; NaN where they fail."""
    inverse = inverse_in_single(single.copy(), float(np.sqrt(alphas.min() * alphas.max())))
    if inverse is None:
        return np.full_like(start, np.nan)
    sides, shift, right = right.shape[1], np.repeat(alphas, right.shape[1]), np.tile(right, len(alphas))
    x, size = start.reshape(len(right), -1), np.linalg.norm(right, axis=0)

    def remainder(answers: Array, which: Array) -> Array:
        return np.asarray(right[:, which] - matrix @ answers - shift[which] * answers)

    def shifted(rounded: Array, directions: Array, which: Array) -> Array:
        image = (directions.T.astype(rounded.dtype) @ rounded).T  # BLAS takes two thirds of the time in this order
        return np.asarray(image + shift[which] * directions)

    # Whether the penalty is below the rounding of the matrix.
    drowns = alphas.min() <= np.finfo(np.float32).eps * np.linalg.norm(single)
    for rounded in (matrix,) if drowns else (single, matrix):
        found = refined_gradients(
            partial(shifted, rounded),
            remainder,
            start=(x, remainder(x, np.arange(len(shift)))),
            size=size,
            precondition=lambda residuals, which: inverse(residuals),
            tol=NEAR,
            reach=REACH[rounded.dtype],
            max_iter=MOST_STEPS,
        )
        x = found.x
        if found.residual <= NEAR:
            break
    solved = x.reshape(len(right), len(alphas), sides)
    solved[:, (found.residuals > TOL).reshape(len(alphas), sides).any(axis=1)] = np.nan
    return solved


def _exact(matrix: Array, right: Array, alpha: float) -> Array:
    factor = matrix.copy()
    factor.flat[:: len(factor) + 1] += alpha
    if factor_in_place(factor):
        return solve_factored(factor, right)
    shifted = matrix + alpha * np.eye(len(matrix))  # the kernel is not positive definite
    return np.asarray(np.linalg.lstsq(shifted, right, rcond=None)[0])
