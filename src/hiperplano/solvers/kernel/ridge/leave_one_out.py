"""Leave-one-out residuals of kernel ridge regression for many penalties, from one eigendecomposition."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from hiperplano.data.design import Array
from hiperplano.linalg.memory import require_bytes
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem


def leave_one_out_residuals(problem: RidgeProblem, alphas: Array, owner: str) -> Array:
    """y − f(x) of every row, where f is fitted to all other rows: of shape (n, targets, alphas).

    With G = (S·K·S + α)⁻¹, less G·s·sᵀ·G/(sᵀ·G·s) with an intercept, where s = √w, the residual of row i is
    (G·S·y)ᵢ/Gᵢᵢ/sᵢ.

    Parameters
    ----------
    problem : RidgeProblem
        Its own penalty does not matter.
    alphas : ndarray of shape (alphas,)
        More than 0.
    """
    n, root = problem.n_rows, problem.gram.root
    require_bytes(
        16.0 * n * n,
        owner,
        Message("leave-one-out by eigenvectors of the Gram matrix of {n} rows", n=n),
        Message("Choose folds, for example cv=5."),
    )
    matrix = problem.gram.matrix.dense()
    matrix *= root[:, None]
    matrix *= root
    values, vectors = eigh(matrix, overwrite_a=True)
    values = np.maximum(values, 0.0) if problem.gram.kernel.positive_definite else values
    squares, turned = np.square(vectors), vectors.T @ (root[:, None] * problem.y)
    ones = vectors.T @ root
    found = np.empty((n, problem.y.shape[1], len(alphas)))
    for number, alpha in enumerate(alphas):
        inverse = 1.0 / (values + alpha)
        diagonal, solved = squares @ inverse, vectors @ (inverse[:, None] * turned)
        if problem.fit_intercept:
            image = vectors @ (inverse * ones)
            total = float(root @ image)
            diagonal = diagonal - np.square(image) / total
            solved = solved - image[:, None] * (image @ (root[:, None] * problem.y) / total)
        found[:, :, number] = solved / (diagonal * root)[:, None]
    return found
