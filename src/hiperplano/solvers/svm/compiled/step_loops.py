"""Newton steps of ½‖coef‖² + smooth losses, in the space of the columns or in that of the free rows."""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import subroutine

_JITTER = 1e-15  # of a unit diagonal, for each row of a matrix that rounding may have made singular


@subroutine
def solve_positive(matrix, right):  # type: ignore[no-untyped-def]
    """Solve with a positive definite matrix by its triangular factor; both arguments are overwritten.

    The diagonal is made 1 before, so that columns of any scale keep their digits.
    """
    size = len(right)
    scale = np.empty(size)
    for j in range(size):
        scale[j] = 1.0 / np.sqrt(matrix[j, j])
    for j in range(size):
        right[j] *= scale[j]
        for k in range(j + 1):
            total = matrix[j, k] * scale[j] * scale[k] if j > k else 1.0 + size * _JITTER
            for before in range(k):
                total -= matrix[j, before] * matrix[k, before]
            matrix[j, k] = total / matrix[k, k] if j > k else np.sqrt(max(total, _JITTER))
    for j in range(size):
        for k in range(j):
            right[j] -= matrix[j, k] * right[k]
        right[j] /= matrix[j, j]
    for j in range(size - 1, -1, -1):
        right[j] /= matrix[j, j]
        for k in range(j):
            right[k] -= matrix[j, k] * right[j]
        right[j] *= scale[j]


@subroutine
def newton_step(rows, stiffness, offset, mass, grad, fit_intercept, step):  # type: ignore[no-untyped-def]
    """Where the quadratic with this slope, and the curvature I + Σ stiffness·[x, 1]ᵀ[x, 1], has its minimum.

    The level is eliminated: rows are taken from their mean.

    Parameters
    ----------
    rows : float64 of shape (m, d), the free rows; overwritten
    offset, mass : the mean of the rows by their stiffness, and its sum
    grad, step : float64 of shape (d + 1,)
    """
    m, d = rows.shape
    level = fit_intercept and mass > 0.0
    for i in range(m):
        root = np.sqrt(stiffness[i])
        for j in range(d):
            rows[i, j] = root * (rows[i, j] - (offset[j] if level else 0.0))
    right = np.empty(d)
    for j in range(d):
        right[j] = -grad[j] + (grad[d] * offset[j] if level else 0.0)
    if m >= d:
        matrix = np.dot(rows.T, rows)
        for j in range(d):
            matrix[j, j] += 1.0
        solve_positive(matrix, right)
    elif m > 0:
        matrix = np.dot(rows, rows.T)
        for i in range(m):
            matrix[i, i] += 1.0
        pull = np.zeros(m)
        for i in range(m):
            for j in range(d):
                pull[i] += rows[i, j] * right[j]
        solve_positive(matrix, pull)
        for i in range(m):
            for j in range(d):
                right[j] -= pull[i] * rows[i, j]
    along = 0.0
    for j in range(d):
        step[j] = right[j]
        along += offset[j] * right[j]
    step[d] = -grad[d] / mass - along if level else 0.0
