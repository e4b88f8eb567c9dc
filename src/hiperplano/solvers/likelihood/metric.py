"""Approximate inverses of a Hessian."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lapack

from hiperplano.data.design import Array
from hiperplano.solvers.likelihood.quasi_newton import Metric

SINGULAR = 1e-13  # reciprocal condition below which directions are left out


def inverse(hessian: Array) -> Metric:
    """The inverse, applied through a Cholesky factor; directions that hardly curve are left alone."""
    unit, root, upper = _factor(hessian)
    if upper is None:
        values, vectors = eigh(unit)
        gain = np.where(values > SINGULAR * values[-1], 1.0 / np.maximum(values, 1e-300), 0.0)

        def solve(right: Array) -> Array:
            return np.asarray(vectors @ (gain * (vectors.T @ right)))
    else:

        def solve(right: Array) -> Array:
            return np.asarray(lapack.dpotrs(upper, right, lower=0)[0])

    def apply(vector: Array) -> Array:
        return np.asarray(root * solve(root * vector.ravel())).reshape(vector.shape)

    return apply


def is_singular(hessian: Array) -> bool:
    """Whether some direction hardly curves."""
    return _factor(hessian)[2] is None


def at_unit_diagonal(hessian: Array) -> tuple[Array, Array]:
    """The matrix with a diagonal of ones, and one over the roots of its diagonal (0 where that is 0)."""
    diagonal = hessian.diagonal()
    root = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    unit = hessian * root[:, None] * root
    np.fill_diagonal(unit, 1.0)
    return unit, root


def _factor(hessian: Array) -> tuple[Array, Array, Array | None]:
    """The matrix with a diagonal of ones, one over the roots of its diagonal, and its Cholesky factor if it has one."""
    unit, root = at_unit_diagonal(hessian)
    upper, failed = lapack.dpotrf(unit, lower=0, clean=0)
    if failed:
        return unit, root, None
    reciprocal, _ = lapack.dpocon(upper, np.abs(unit).sum(axis=0).max(initial=0.0), uplo="U")
    return unit, root, None if reciprocal < SINGULAR else upper


def diagonal(curvature: Array) -> Metric:
    """One over a diagonal."""

    def apply(vector: Array) -> Array:
        return np.asarray(vector / curvature)

    return apply
