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
    columns = np.column_stack([features, np.ones(len(features))])
    unit = np.sqrt(np.square(columns).mean(axis=0))
    unit[unit == 0.0] = 1.0
    columns /= unit
    size = 1.0 / np.linalg.norm(columns[free], axis=1)
    rows = columns[free] * size[:, None]
    margin = problem.target[free] - problem.width * np.sign(beta[free])
    plane = plane * unit
    for _ in range(_STEPS):
        plane = plane + np.linalg.lstsq(rows, size * (margin - columns[free] @ plane), rcond=_RANK)[0]
    pull = plane / unit**2  # in units of the scaled columns
    pull[-1] = 0.0
    for _ in range(_STEPS):
        beta[free] += size * np.linalg.lstsq(rows.T, pull - beta @ columns, rcond=_RANK)[0]
    return np.clip(beta, problem.low, problem.high)
