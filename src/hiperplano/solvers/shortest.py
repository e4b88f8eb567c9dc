"""The shortest of all coefficients that fit equally well, in the units of the data."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from hiperplano.data.design import Array

_EPS = float(np.finfo(float).eps)


def shortest(values: Array, basis: Array, turned: Array, length: Array, alpha: Array | None = None) -> Array:
    """Minimise ‖values·(basisᵀ·(length·coef)) − turned‖² + alpha·‖coef‖², and ‖coef‖ where that leaves a choice.

    Columns differ in length by any factor. Two things keep a short one from drowning in the rounding of longer
    ones: the space of the rows is written in echelon form, where columns that have nothing to do with each other
    show exact zeros, and its QR factorisation has columns pivoted and rows sorted by size, which keeps the
    relative accuracy of each row (Cox and Higham 1998).

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
    rows, change = _echelon(values, basis)
    turn, upper, pivots = graded_qr(rows * (length / unit)[:, None])
    coef = np.empty((turned.shape[1], len(length)))
    for target, right in enumerate(turned.T):
        if alpha is None or alpha[target] == 0:
            inner = np.linalg.solve(change.T, right / values)[pivots]
            inner = solve_triangular(upper, inner, trans="T", check_finite=False)
        else:
            # basisᵀ·(length·coef) = changeᵀ·upperᵀ·inner, in the order of the pivots.
            inner = _ridge((values * change).T[:, pivots] @ upper.T, right, np.sqrt(alpha[target]) / unit)
        coef[target] = turn @ inner / unit
    return coef


def _echelon(values: Array, basis: Array) -> tuple[Array, Array]:
    """basis = rows·change, with an identity in some r of the rows, and zeros for what is only rounding elsewhere."""
    if not len(values):
        return basis, np.eye(0)
    _, _, order = qr(basis.T, mode="economic", pivoting=True, check_finite=False)
    change = basis[order[: len(values)]]
    rows = np.linalg.solve(change.T, basis.T).T
    noise = 4 * max(basis.shape) * _EPS * float(values.max() / values.min())
    return np.where(np.abs(rows) > noise, rows, 0.0), change


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
