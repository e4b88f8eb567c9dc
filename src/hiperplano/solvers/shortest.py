"""The shortest of all coefficients that fit equally well, in the units of the data."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from hiperplano.data.design import Array


def shortest(values: Array, basis: Array, turned: Array, length: Array, alpha: Array | None = None) -> Array:
    """Minimise ‖values·(basisᵀ·(length·coef)) − turned‖² + alpha·‖coef‖², and ‖coef‖ where that leaves a choice.

    Columns differ in length by any factor, and so do rows of length·basis. A QR factorisation with columns
    pivoted and rows sorted by size keeps the relative accuracy of each row (Cox and Higham 1998), so that no
    column is lost beside a longer one.

    Parameters
    ----------
    values, basis : ndarray of shape (r,) and (d, r)
        Singular values and right singular vectors of the columns at unit length.
    turned : ndarray of shape (r, targets)
        Targets in the basis of left singular vectors.
    length : ndarray of shape (d,)
        Lengths of the columns; a coefficient is 0 where it is 0.
    alpha : ndarray of shape (targets,), optional

    Returns
    -------
    ndarray of shape (targets, d)
    """
    unit = float(length.max(initial=0.0)) or 1.0
    turn, upper, pivots = graded_qr(basis * (length / unit)[:, None])
    coef = np.empty((turned.shape[1], len(length)))
    for target, right in enumerate(turned.T):
        if alpha is None or alpha[target] == 0:
            inner = solve_triangular(upper, (right / values)[pivots], trans="T", check_finite=False)
        else:
            inner = _ridge((values[pivots] * upper).T, right[pivots], np.sqrt(alpha[target]) / unit)
        coef[target] = turn @ inner / unit
    return coef


def graded_qr(rows: Array) -> tuple[Array, Array, Array]:
    """Q, R and pivots of a matrix whose rows differ in size by any factor."""
    order = np.argsort(-np.abs(rows).max(axis=1, initial=0.0), kind="stable")
    turn, upper, pivots = qr(rows[order], mode="economic", pivoting=True, check_finite=False)
    unsorted = np.empty_like(turn)
    unsorted[order] = turn
    return unsorted, upper, pivots


def _ridge(rows: Array, right: Array, root: float) -> Array:
    """min ‖rows·w − right‖² + root²·‖w‖², where columns, and both parts, may differ in size by any factor."""
    size = np.hypot(np.linalg.norm(rows, axis=0), root)
    turn, upper, pivots = graded_qr(np.vstack([rows, root * np.eye(rows.shape[1])]) / size)
    answer = np.empty(len(size))
    answer[pivots] = solve_triangular(upper, turn[: len(rows)].T @ right, check_finite=False)
    return np.asarray(answer / size)
