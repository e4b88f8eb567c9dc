"""Columns that depend on each other, without a penalty: coefficients of minimum norm among those of equal scores."""

from __future__ import annotations

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array
from hiperplano.linalg.orthogonal import graded_qr
from hiperplano.linalg.symmetric import SymmetricSolver


def curvature_of_columns(hessian: Array, n_scores: int) -> Array:
    """A sum of curvature·v·vᵀ over the rows v = [1, z], of one score or of the difference of two.

    Where it shows nothing, no score does.
    """
    if n_scores == 1:
        return hessian
    size = len(hessian) // n_scores
    parts = hessian.reshape(n_scores, size, n_scores, size)
    return np.asarray(parts[0, :, 0] + parts[1, :, 1] - parts[0, :, 1] - parts[1, :, 0])


def shortest_parameters(theta: Array, hessian: Array, scale: ColumnScale) -> tuple[Array, int]:
    """Standardised parameters with the same scores whose coefficients, in the units of the data, have minimum norm.

    Parameters
    ----------
    theta : ndarray of shape (scores, size)
    hessian : ndarray
        At theta.

    Returns
    -------
    theta : ndarray of shape (scores, size)
    rank : int
        Independent columns, of those that vary.
    """
    first = int(scale.fit_intercept)
    # Rows are centred: a relation between columns has no constant in it.
    null = SymmetricSolver(curvature_of_columns(hessian, len(theta))[first:, first:]).null
    varying = int(np.count_nonzero(~scale.constant))
    if not null.size:
        return theta, varying
    free = graded_qr(scale.scale[:, None] * null)[0]  # directions in which coefficients may go
    coef, _ = scale.coefficients(theta)
    shorter = theta.copy()
    shorter[:, first:] = (coef - (coef @ free) @ free.T) / scale.scale
    return shorter, varying - null.shape[1]
