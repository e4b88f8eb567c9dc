"""Dual variables of a plane to the last digit.

Scores of a kernel machine are sums over its dual variables. Where columns are long and C is large, these sums cancel,
and an error of 1e-13 in a dual variable changes the third digit of a score. The plane itself is known more accurately,
and determines the free dual variables, of which there are about as many as features.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem

_AT_BOUND = 1e-9  # a variable is at a bound if its distance is below this share of the bound
_STEPS = 3  # steps of iterative refinement
_RANK = 1e-14  # least reciprocal condition number of independent features, with rows and columns scaled to unit norm


def exact_duals(problem: DualProblem, features: Array, beta: Array, plane: Array) -> Array:
    """Dual variables whose sum over the features is the plane through the rows exactly on the margin.

    Parameters
    ----------
    problem : DualProblem
    features : ndarray of shape (n, r)
    beta : ndarray of shape (n,)
        Dual variables that tell which rows are at a bound.
    plane : ndarray of shape (r + 1,)
        Coefficients and intercept.
    """
    near = _AT_BOUND * np.maximum(problem.high, -problem.low)
    beta = np.where(np.abs(beta) <= near, 0.0, beta)
    beta = np.where(problem.high - beta <= near, problem.high, np.where(beta - problem.low <= near, problem.low, beta))
    free = np.flatnonzero(problem.free(beta))
    if not len(free):
        return beta
    columns = np.column_stack([features, np.ones(len(features))])
    margin = problem.target[free] - problem.width * np.sign(beta[free])
    bound = beta.copy()
    bound[free] = 0.0
    beta[free] = exact_free_duals(
        columns[free], margin, beta[free], bound @ columns, plane, np.zeros(1), column_units(columns)
    )
    return np.clip(beta, problem.low, problem.high)


def column_units(columns: Array) -> Array:
    """Root mean square of every column; 1 for columns of zeros."""
    unit = np.sqrt(np.square(columns).mean(axis=0))
    return np.where(unit == 0.0, 1.0, unit)


def exact_free_duals(
    rows: Array, margin: Array, duals: Array, rest: Array, plane: Array, sums: Array, unit: Array
) -> Array:
    """Free dual variables whose sum over their rows, plus `rest`, is the plane through these rows.

    Parameters
    ----------
    rows : ndarray of shape (m, q)
        Features of the free rows, followed by columns without a penalty.
    margin : ndarray of shape (m,)
        Scores of these rows.
    duals : ndarray of shape (m,)
        Approximate values.
    rest : ndarray of shape (q,)
        Sum over the rows at a bound.
    plane : ndarray of shape (q,)
        Approximate coefficients.
    sums : ndarray
        Sums over all rows of the columns without a penalty, which are the last ones.
    unit : ndarray of shape (q,)
        Sizes of the columns.
    """
    m, q = rows.shape
    free = slice(q - len(sums), q)  # columns without a penalty
    square = float(np.square(unit[: free.start]).mean())  # plane and margin are divided by it, so that units cancel
    rows, plane, penalty = rows / unit, plane * unit / square, square / unit**2
    penalty[free] = 0.0
    # rows·plane = margin, and penalty·plane − duals·rows = rest, or less the given sums for columns without a penalty
    matrix = np.block([[rows, np.zeros((m, m))], [np.diag(penalty), -rows.T]])
    rest = rest / unit
    rest[free] -= sums / unit[free]
    right = np.append(margin / square, rest)
    height = np.linalg.norm(matrix, axis=1)
    matrix, right = matrix / height[:, None], right / height
    size = np.linalg.norm(matrix, axis=0)
    matrix /= size
    found = np.append(plane, duals) * size
    for _ in range(_STEPS):
        found = found + np.linalg.lstsq(matrix, right - matrix @ found, rcond=_RANK)[0]
    return np.asarray((found / size)[q:])
