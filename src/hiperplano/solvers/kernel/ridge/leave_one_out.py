"""Leave-one-out residuals of kernel ridge regression for many penalties, from one reduction of the Gram matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from hiperplano.data.design import Array
from hiperplano.linalg.memory import require_bytes
from hiperplano.linalg.shifted.tridiagonal import Inverses, Tridiagonal
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem

_LEAST = 1e-9  # least penalty, as a share of the largest eigenvalue, for which the tridiagonal form is accurate


def leave_one_out_residuals(problem: RidgeProblem, alphas: Array, owner: str) -> Array:
    """y − f(x) of every row, with f fitted to all other rows; of shape (n, targets, alphas).

    With G = (S·K·S + α)⁻¹, less G·s·sᵀ·G/(sᵀ·G·s) with an intercept, where s = √w, the residual of row i is
    (G·S·y)ᵢ/Gᵢᵢ/sᵢ.

    Parameters
    ----------
    problem : RidgeProblem
        The problem; its own penalty is ignored.
    alphas : ndarray of shape (alphas,)
        Positive penalties.
    """
    n, root = problem.n_rows, problem.gram.root
    require_bytes(
        16.0 * n * n,
        owner,
        Message("leave-one-out by eigenvectors of the Gram matrix of {n} rows", n=n),
        Message("Choose folds, for example cv=5."),
    )
    y = root[:, None] * problem.y
    diagonal, solved = _inverses(problem, np.column_stack([y, root]), alphas)
    solved, image = solved[:, :-1], solved[:, -1]
    if problem.fit_intercept:
        total = root @ image
        diagonal = diagonal - np.square(image) / total
        solved = solved - image[:, None] * (y.T @ image / total)
    return np.asarray(solved / (diagonal * root[:, None])[:, None])


def _inverses(problem: RidgeProblem, right: Array, alphas: Array) -> Inverses:
    """G for every penalty, from a tridiagonal form, or from eigenvectors if penalties are too small for that."""
    least = float(alphas.min())
    matrix = _weighted(problem)
    matrix.flat[:: len(matrix) + 1] += least
    form = Tridiagonal.of(matrix, _LEAST)
    if form is not None:
        return form.inverses(right, alphas - least)
    values, vectors = eigh(_weighted(problem), overwrite_a=True)
    values = np.maximum(values, 0.0) if problem.gram.kernel.positive_definite else values
    inverse = 1.0 / (values[:, None] + alphas)
    turned = (vectors.T @ right)[:, :, None] * inverse[:, None]
    return Inverses(np.square(vectors) @ inverse, np.tensordot(vectors, turned, axes=1))


def _weighted(problem: RidgeProblem) -> Array:
    """S·K·S."""
    matrix, root = problem.gram.matrix.dense(), problem.gram.root
    matrix *= root[:, None]
    matrix *= root
    return matrix
