"""Support vector machines as the quadratic programs of the textbooks, with slacks, solved by clarabel.

An interior point method shares nothing with the solvers of the library.
"""

import clarabel
import numpy as np
from scipy import sparse


def solve(quadratic, linear, matrix, bound, equal=0):
    """min ½·z·Q·z + q·z with A·z = b in the first `equal` rows and A·z ≤ b in the others."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    matrix = sparse.csc_matrix(matrix)
    cones = [clarabel.NonnegativeConeT(matrix.shape[0] - equal)]
    cones = [clarabel.ZeroConeT(equal), *cones] if equal else cones
    found = clarabel.DefaultSolver(sparse.csc_matrix(quadratic), linear, matrix, bound, cones, settings).solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    return np.array(found.x), found.obj_val


def hinge(X, y, strength, *, squared=False, fit_intercept=True, penalty=1.0):
    """Coefficients, intercept and objective of ½‖w‖² + Σ strengthᵢ·ξᵢ (or ξᵢ²), y(w·x + b) ≥ 1 − ξ, ξ ≥ 0.

    `penalty` may be one number for each coefficient, times its ½w².
    """
    n, d = X.shape
    strength = np.broadcast_to(strength, n).astype(float)
    level = np.ones((n, 1)) if fit_intercept else np.zeros((n, 0))
    quadratic = sparse.diags(
        np.concatenate([np.broadcast_to(penalty, d), np.zeros(level.shape[1]), 2 * strength * squared])
    )
    linear = np.concatenate([np.zeros(d + level.shape[1]), strength * (not squared)])
    margins = np.hstack([-y[:, None] * X, -y[:, None] * level, -np.eye(n)])
    slacks = np.hstack([np.zeros((n, d + level.shape[1])), -np.eye(n)])
    z, value = solve(quadratic, linear, np.vstack([margins, slacks]), np.concatenate([-np.ones(n), np.zeros(n)]))
    return z[:d], z[d] if fit_intercept else 0.0, value


def insensitive(X, y, strength, epsilon, *, squared=False):
    """The same for ½‖w‖² + strength·Σ(ξ + ξ'), −ε − ξ' ≤ y − w·x − b ≤ ε + ξ."""
    n, d = X.shape
    quadratic = sparse.diags(np.concatenate([np.ones(d), [0.0], np.full(2 * n, 2 * strength * squared)]))
    linear = np.concatenate([np.zeros(d + 1), np.full(2 * n, strength * (not squared))])
    rows = np.hstack([X, np.ones((n, 1))])
    zero, one = np.zeros((n, n)), np.eye(n)
    matrix = np.vstack(
        [
            np.hstack([-rows, -one, zero]),
            np.hstack([rows, zero, -one]),
            np.hstack([np.zeros((2 * n, d + 1)), -np.eye(2 * n)]),
        ]
    )
    z, value = solve(quadratic, linear, matrix, np.concatenate([epsilon - y, epsilon + y, np.zeros(2 * n)]))
    return z[:d], z[d], value


def hard_margin(X, y, *, fit_intercept=True):
    """min ½‖w‖² with y(w·x + b) ≥ 1."""
    n, d = X.shape
    level = np.ones((n, 1)) if fit_intercept else np.zeros((n, 0))
    quadratic = sparse.diags(np.concatenate([np.ones(d), np.zeros(level.shape[1])]))
    rows = -y[:, None] * np.hstack([X, level])
    z, value = solve(quadratic, np.zeros(rows.shape[1]), rows, -np.ones(n))
    return z[:d], z[d] if fit_intercept else 0.0, value


def crammer_singer(X, codes, strength, n_classes, *, fit_intercept=True):
    """½Σ‖w_k‖² + Σ strengthᵢ·ξᵢ, (score of yᵢ) − (score of k) ≥ 1 − [k = yᵢ] − ξᵢ. Returns W, b and the objective."""
    n, d = X.shape
    strength = np.broadcast_to(strength, n).astype(float)
    width = d + fit_intercept
    rows = np.hstack([X, np.ones((n, 1))]) if fit_intercept else X
    penalised = np.tile(np.concatenate([np.ones(d), np.zeros(int(fit_intercept))]), n_classes)
    matrix = np.zeros((n * n_classes, n_classes * width + n))
    bound = np.zeros(n * n_classes)
    for i in range(n):
        for k in range(n_classes):
            row = i * n_classes + k
            matrix[row, k * width : (k + 1) * width] += rows[i]
            matrix[row, codes[i] * width : (codes[i] + 1) * width] -= rows[i]
            matrix[row, n_classes * width + i] = -1.0
            bound[row] = -float(k != codes[i])
    quadratic = sparse.diags(np.concatenate([penalised, np.zeros(n)]))
    linear = np.concatenate([np.zeros(n_classes * width), strength])
    equal = 0
    if fit_intercept:  # scores may all be shifted: let intercepts sum to 0
        tie = np.zeros((1, matrix.shape[1]))
        tie[0, d : n_classes * width : width] = 1.0
        matrix, bound, equal = np.vstack([tie, matrix]), np.concatenate([[0.0], bound]), 1
    z, value = solve(quadratic, linear, matrix, bound, equal)
    planes = z[: n_classes * width].reshape(n_classes, width)
    return planes[:, :d], planes[:, d] if fit_intercept else np.zeros(n_classes), value
