"""Minimum-norm coefficients for fits without a penalty to linearly dependent columns."""

from __future__ import annotations

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array
from hiperplano.linalg.orthogonal import graded_qr
from hiperplano.linalg.symmetric import SymmetricSolver


def curvature_of_columns(hessian: Array, n_scores: int) -> Array:
    """Σ curvature·v·vᵀ over the rows v = [1, z], for one score, or for the difference of the first two.

    Its null space contains the directions in which rows do not vary, which are the same for all scores.
    """
    if n_scores == 1:
        return hessian
    size = len(hessian) // n_scores
    parts = hessian.reshape(n_scores, size, n_scores, size)
    return np.asarray(parts[0, :, 0] + parts[1, :, 1] - parts[0, :, 1] - parts[1, :, 0])


def shortest_parameters(theta: Array, hessian: Array, scale: ColumnScale) -> tuple[Array, int]:
    """Parameters with the same scores whose coefficients, in the units of the data, have minimum norm.

    Parameters
    ----------
    theta : ndarray of shape (scores, size)
        Standardised parameters.
    hessian : ndarray
        Hessian at `theta`.

    Returns
    -------
    theta : ndarray of shape (scores, size)
        Standardised parameters.
    rank : int
        Rank of the columns that are not constant.
    """
    first = int(scale.fit_intercept)
    # Rows are centred, so that linear relations between columns have no constant term.
    null = SymmetricSolver(curvature_of_columns(hessian, len(theta))[first:, first:]).null
    varying = int(np.count_nonzero(~scale.constant))
    if not null.size:
        return theta, varying
    free = graded_qr(scale.scale[:, None] * null)[0]  # directions of coefficients that do not change scores
    coef, _ = scale.coefficients(theta)
    shorter = theta.copy()
    shorter[:, first:] = (coef - (coef @ free) @ free.T) / scale.scale
    return shorter, varying - null.shape[1]
