"""Least squares with fewer rows than columns: the answer lies in the space of the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd
from scipy.optimize import nnls

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Design
from hiperplano.linalg.minimum_norm import minimum_norm
from hiperplano.linalg.triangular import Columns, inverse_root, reciprocal
from hiperplano.solvers.least_squares.residuals import summed_residual_squares
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution, columns_at_rest, penalised_sum

EPS = float(np.finfo(float).eps)
_MOST_KEPT = 2_000  # columns up to which a solution keeps what standard errors need: at most 32 MB


class _Rows(NamedTuple):
    """Weighted rows about their means: columns at unit length times `length`, targets, and the means."""

    x: Array
    length: Array
    right: Array
    mean: Array
    target_mean: Array
    total: float


def wide_least_squares(
    design: Design, *, alpha: Array, fit_intercept: bool = True, positive: bool = False
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² by a singular value decomposition of the rows.

    Without a penalty many coefficients fit equally well; the shortest are taken.
    """
    with one_blas_thread():
        rows = centred_rows(design, fit_intercept)
        left, values, basis = svd(rows.x, full_matrices=False, check_finite=False)
        kept = values > max(rows.x.shape) * EPS * values.max(initial=0.0)
        values = values[kept]
        if positive:
            coef = _nonnegative(rows, alpha)
        else:
            coef = minimum_norm(values, basis[kept].T, left[:, kept].T @ rows.right, rows.length, alpha)
            coef = _polished(coef, rows, alpha)
        intercept = rows.target_mean - coef @ rows.mean
        best = None if fit_intercept else np.zeros(design.n_targets)
        rss = summed_residual_squares(design, rows.mean, rows.target_mean, coef, best)
    condition = float(values.max(initial=1.0) / values.min(initial=values.max(initial=1.0)))
    digits = float(np.clip(-np.log10(EPS * condition), 0.0, 15.0))
    method = "active set, coefficients ≥ 0" if positive else "singular value decomposition of the rows"
    unique = bool((alpha > 0).all())
    choice = "some of them" if positive else "the shortest"
    reason = "" if unique else f" (many coefficients fit equally well: {choice} were taken)"
    at_rest = columns_at_rest(int(np.count_nonzero(rows.length == 0)), design.n_columns)
    kept_rows = None
    if unique and design.n_columns <= _MOST_KEPT:
        kept_rows = Columns(values[:, None] * basis[kept], reciprocal(rows.length))
    return LeastSquaresSolution(
        coef=coef,
        intercept=intercept,
        method=method,
        n_iter=1,
        objective=penalised_sum(rss, alpha, coef),
        gap=EPS,
        converged=True,
        status=f"Solved by {method}{reason}; about {digits:.0f} digits of the coefficients can be trusted.{at_rest}",
        rank=len(values),
        condition=condition,
        digits=digits,
        rss=rss,
        tss=np.sum(rows.right**2, axis=0),
        mean=rows.mean,
        scale=reciprocal(rows.length),
        total=rows.total,
        alpha=alpha,
        dependent=() if unique else tuple(range(design.n_columns)),
        columns=kept_rows,
    )


def centred_rows(design: Design, level: bool) -> _Rows:
    """Those that count."""
    block = design.block(slice(0, design.n_rows))
    weight = np.ones(design.n_rows) if design.weight is None else design.weight
    counted = weight > 0
    x, y, weight = block.dense()[counted].astype(np.float64), design.y[counted], weight[counted]
    total = float(weight.sum())
    mean, target_mean = np.zeros(design.n_columns), np.zeros(design.n_targets)
    if level:
        # A first row as the origin: exact differences for columns far from 0, and zeros for those that do not vary.
        first, first_target = x[0].copy(), y[0]
        x, y = x - first, y - first_target
        step, target_step = weight @ x / total, weight @ y / total
        x, y = x - step, y - target_step
        mean, target_mean = first + step, first_target + target_step
    root = np.sqrt(weight)[:, None]
    x *= root
    largest = np.abs(x).max(axis=0)
    safe = np.where(largest > 0, largest, 1.0)
    x /= safe
    short = inverse_root(np.square(x).sum(axis=0))
    x *= short
    length = np.where(largest > 0, safe / np.where(short > 0, short, 1.0), 0.0)
    return _Rows(x, length, y * root, mean, target_mean, total)


def _polished(coef: Array, rows: _Rows, alpha: Array) -> Array:
    """alpha·coef = xᵀ·r, solved for columns shorter than the penalty: their coefficients are small beside others'."""
    r = rows.right - rows.x @ (rows.length * coef).T
    penalty = alpha[:, None]
    small = rows.length < np.sqrt(penalty)
    return np.where(small, rows.length * (r.T @ rows.x) / np.where(small, penalty, 1.0), coef)


def _nonnegative(rows: _Rows, alpha: Array) -> Array:
    """In coordinates where columns with their penalty have unit length, and signs are the same."""
    answers = []
    for right, strength in zip(rows.right.T, alpha, strict=True):
        root = np.sqrt(strength)
        size = np.where(rows.length > 0, np.hypot(rows.length, root), np.inf)
        scale = 1.0 / size
        x, target = rows.x * (rows.length * scale), right
        if strength > 0:
            x = np.vstack([x, np.diag(root * scale)])
            target = np.concatenate([target, np.zeros(x.shape[1])])
        answers.append(scale * nnls(x, target, maxiter=30 * x.shape[1])[0])
    return np.stack(answers)
