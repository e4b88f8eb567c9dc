"""The minimum-norm coefficients among all that fit equally well, in the units of the data."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from hiperplano.data.design import Array
from hiperplano.linalg.orthogonal import graded_qr
from hiperplano.linalg.triangular import EPS


def minimum_norm(values: Array, basis: Array, right: Array, length: Array, alpha: Array | None = None) -> Array:
    """Minimise ‖values·(basisᵀ·(length·coef)) − right‖² + alpha·‖coef‖², and then ‖coef‖ if the minimum is not unique.

    Columns may have very different norms. Two things keep a short column from being lost in the rounding errors of
    longer ones: the row space is written in echelon form, where unrelated columns have exact zeros, and it is factored
    by `graded_qr`.

    Parameters
    ----------
    values, basis : ndarray of shape (r,) and (d, r)
        Singular values and right singular vectors of the columns at unit length.
    right : ndarray of shape (r, targets)
        Targets in the basis of left singular vectors.
    length : ndarray of shape (d,)
        Lengths of the columns; a coefficient is 0 where it is 0.
    alpha : ndarray of shape (targets,), optional

    Returns
    -------
    ndarray of shape (targets, d)
    """
    sizes = length[length > 0]
    unit = float(np.sqrt(sizes.max() * sizes.min())) if len(sizes) else 1.0
    size = (length / unit)[:, None]
    turn = graded_qr(_echelon(values, basis) * size)[0]
    fit = (values * basis).T @ (size * turn)
    roots = np.zeros(right.shape[1]) if alpha is None else np.sqrt(alpha) / unit
    inner = np.empty_like(right)
    for root in np.unique(roots):
        inner[:, roots == root] = _ridge(fit, right[:, roots == root], root)
    return np.asarray(inner.T @ turn.T / unit)


def _echelon(values: Array, basis: Array) -> Array:
    """A basis of the same space with an identity in r of its rows, and exact zeros in place of rounding errors."""
    if not len(values):
        return basis
    order = qr(basis.T, mode="r", pivoting=True, check_finite=False)[1][: len(values)]
    rows = np.linalg.solve(basis[order].T, basis.T).T
    noise = 4 * max(basis.shape) * EPS * float(values.max() / values.min())
    return np.where(np.abs(rows) > noise, rows, 0.0)


def _ridge(rows: Array, right: Array, root: float) -> Array:
    """min ‖rows·w − right‖² + root²·‖w‖², for columns, and terms, of very different magnitudes."""
    size = np.hypot(np.abs(rows).max(axis=0, initial=0.0), root)
    stacked = np.vstack([rows, root * np.eye(rows.shape[1])]) if root else rows
    turn, upper, pivots = graded_qr(stacked / size)
    answer = np.empty_like(right)
    answer[pivots] = solve_triangular(upper, turn[: len(rows)].T @ right, check_finite=False)
    return np.asarray(answer / size[:, None])
