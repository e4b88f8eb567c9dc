"""Compiled Newton steps for ½‖coef‖² + smooth losses, by equations in the columns or in the free rows."""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import part, subroutine
from hiperplano.solvers.svm.compiled.normal_equations import JITTER
from hiperplano.solvers.svm.curvature import ROUGH


@part
def _solve_positive(matrix, right):  # type: ignore[no-untyped-def]
    """Solve a positive definite system, of which the lower triangle is given, by Cholesky.

    Both arguments are overwritten. The matrix is scaled to a unit diagonal, so that columns of any scale keep their
    digits.
    """
    size = len(right)
    scale = np.empty(size)
    for j in range(size):
        scale[j] = 1.0 / np.sqrt(matrix[j, j])
    for j in range(size):
        right[j] *= scale[j]
        for k in range(j + 1):
            total = matrix[j, k] * scale[j] * scale[k] if j > k else 1.0 + size * JITTER
            for before in range(k):
                total -= matrix[j, before] * matrix[k, before]
            matrix[j, k] = total / matrix[k, k] if j > k else np.sqrt(max(total, JITTER))
    for j in range(size):
        for k in range(j):
            right[j] -= matrix[j, k] * right[k]
        right[j] /= matrix[j, j]
    for j in range(size - 1, -1, -1):
        right[j] /= matrix[j, j]
        for k in range(j):
            right[k] -= matrix[j, k] * right[j]
        right[j] *= scale[j]


@part
def add_rows(x, which, m, weight, out):  # type: ignore[no-untyped-def]
    """out += Σ weight[k]·x[which[k]] over k < m, four rows at a time; `out` may be longer than a row."""
    d, k = x.shape[1], 0
    while k + 4 <= m:
        first, second, third, fourth = which[k], which[k + 1], which[k + 2], which[k + 3]
        a, b, c, e = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        for j in range(d):
            out[j] += a * x[first, j] + b * x[second, j] + c * x[third, j] + e * x[fourth, j]
        k += 4
    while k < m:
        for j in range(d):
            out[j] += weight[k] * x[which[k], j]
        k += 1


@part
def _add_squares(x, which, m, weight, out):  # type: ignore[no-untyped-def]
    """out += Σ weight[k]·x[which[k]]² over k < m, two rows at a time."""
    d, k = x.shape[1], 0
    while k + 2 <= m:
        first, second, a, b = which[k], which[k + 1], weight[k], weight[k + 1]
        for j in range(d):
            out[j] += a * x[first, j] * x[first, j] + b * x[second, j] * x[second, j]
        k += 2
    if k < m:
        for j in range(d):
            out[j] += weight[k] * x[which[k], j] * x[which[k], j]


@part
def _free_product(x, free, m, stiffness, p, out):  # type: ignore[no-untyped-def]
    """out = Σ stiffness·x·(x·p) over the free rows, four at a time, to reuse loaded numbers of `p` and `out`."""
    d, k = len(p), 0
    for j in range(d):
        out[j] = 0.0
    while k + 4 <= m:
        first, second, third, fourth = free[k], free[k + 1], free[k + 2], free[k + 3]
        a, b, c, e = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            a += x[first, j] * p[j]
            b += x[second, j] * p[j]
            c += x[third, j] * p[j]
            e += x[fourth, j] * p[j]
        a, b, c, e = a * stiffness[k], b * stiffness[k + 1], c * stiffness[k + 2], e * stiffness[k + 3]
        for j in range(d):
            out[j] += a * x[first, j] + b * x[second, j] + c * x[third, j] + e * x[fourth, j]
        k += 4
    while k < m:
        row, a = free[k], 0.0
        for j in range(d):
            a += x[row, j] * p[j]
        a *= stiffness[k]
        for j in range(d):
            out[j] += a * x[row, j]
        k += 1


@subroutine
def conjugate_step(x, free, m, stiffness, offset, mass, grad, fit_intercept, enough, most, step):  # type: ignore[no-untyped-def]
    """`newton_step` by conjugate gradients, preconditioned by the diagonal, with products with the free rows.

    Returns
    -------
    bool
        Whether the residual fell to `enough`, or to a tenth, within `most` products.
    """
    d = x.shape[1]
    level = fit_intercept and mass > 0.0
    share = mass if level else 0.0
    inverse, image = np.zeros(d), np.empty(d)
    residual, direction, found = np.empty(d), np.empty(d), np.zeros(d)
    _add_squares(x, free, m, stiffness, inverse)
    square, length = 0.0, 0.0
    for j in range(d):
        inverse[j] = 1.0 / (1.0 + max(inverse[j] - share * offset[j] * offset[j], 0.0))
        residual[j] = -grad[j] + (grad[d] * offset[j] if level else 0.0)
        direction[j] = inverse[j] * residual[j]
        square += residual[j] * direction[j]
        length += residual[j] * residual[j]
    start, used = square, 0
    while length > enough * enough and square > ROUGH * ROUGH * start:
        if used >= most:
            return False
        used += 1
        _free_product(x, free, m, stiffness, direction, image)
        along = 0.0
        for j in range(d):
            along += offset[j] * direction[j]
        curvature = 0.0
        for j in range(d):
            image[j] += direction[j] - share * along * offset[j]
            curvature += direction[j] * image[j]
        if not curvature > 0.0:
            return False
        size, before, square, length = square / curvature, square, 0.0, 0.0
        for j in range(d):
            found[j] += size * direction[j]
            residual[j] -= size * image[j]
            square += residual[j] * inverse[j] * residual[j]
            length += residual[j] * residual[j]
        for j in range(d):
            direction[j] = inverse[j] * residual[j] + square / before * direction[j]
    _set_step(found, offset, mass, grad, level, step)
    return True


@part
def _set_step(change, offset, mass, grad, level, step):  # type: ignore[no-untyped-def]
    """Write the change of the coefficients and the corresponding change of the level to `step`."""
    d = len(change)
    along = 0.0
    for j in range(d):
        step[j] = change[j]
        along += offset[j] * change[j]
    step[d] = -grad[d] / mass - along if level else 0.0


@subroutine
def newton_step(x, free, m, stiffness, offset, mass, grad, fit_intercept, step):  # type: ignore[no-untyped-def]
    """Minimum of the quadratic with this gradient and the Hessian I + Σ stiffness·[x, 1]ᵀ[x, 1]; I without the level.

    The level is eliminated, which centres the rows. The equations are those of the columns, or of the free rows if
    these are fewer (Woodbury identity).

    Parameters
    ----------
    free : int64 of shape (n,), numbers of the free rows, of which there are m
    offset, mass : mean of the rows weighted by stiffness, and sum of the stiffness
    grad, step : float64 of shape (d + 1,)
    """
    d = x.shape[1]
    level = fit_intercept and mass > 0.0
    in_columns = m >= d
    size, length = (d, m) if in_columns else (m, d)
    right, found, rows = np.empty(d), np.empty(size), np.empty((length, size))
    for j in range(d):
        right[j] = -grad[j] + (grad[d] * offset[j] if level else 0.0)
    for i in range(m):
        root, row = np.sqrt(stiffness[i]), free[i]
        if in_columns:
            for j in range(d):
                rows[i, j] = root * (x[row, j] - (offset[j] if level else 0.0))
        else:  # transposed, so that one product serves both: two would take half a second more to compile
            for j in range(d):
                rows[j, i] = root * (x[row, j] - (offset[j] if level else 0.0))
    matrix = np.dot(rows.T, rows)
    for i in range(size):
        matrix[i, i] += 1.0
        found[i] = right[i] if in_columns else 0.0
    if not in_columns:
        for j in range(d):
            for i in range(size):
                found[i] += rows[j, i] * right[j]
    _solve_positive(matrix, found)
    for j in range(d):
        if in_columns:
            right[j] = found[j]
        else:
            for i in range(size):
                right[j] -= rows[j, i] * found[i]
    _set_step(right, offset, mass, grad, level, step)
