"""Least squares with fewer rows than columns: the solution lies in the span of the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd
from scipy.optimize import nnls

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Design
from hiperplano.linalg.minimum_norm import minimum_norm
from hiperplano.linalg.triangular import Columns, reciprocal
from hiperplano.messages import Message
from hiperplano.solvers.least_squares.normal import summed_residual_squares
from hiperplano.solvers.least_squares.solution import (
    LeastSquaresSolution,
    constant_columns,
    penalised_sum,
)
from hiperplano.solvers.solution import smallest_digits, trusted_digits

EPS = float(np.finfo(float).eps)
_MOST_KEPT = 2_000  # columns up to which a solution keeps what standard errors need: at most 32 MB


class CentredRows(NamedTuple):
    """Weighted rows about their means, on the host.

    Attributes
    ----------
    x : ndarray of shape (n, d)
        Columns at unit length.
    length : ndarray of shape (d,)
        By which they were divided; 0 for a constant column.
    right : ndarray of shape (n, targets)
        Weighted targets about their means.
    mean, target_mean : ndarray of shape (d,) and (targets,)
        Zeros without intercept.
    root : ndarray of shape (n, 1)
        Square roots of the weights.
    """

    x: Array
    length: Array
    right: Array
    mean: Array
    target_mean: Array
    root: Array


def wide_least_squares(
    design: Design, *, alpha: Array, fit_intercept: bool = True, positive: bool = False
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² by a singular value decomposition of the rows.

    Without a penalty many coefficients fit equally well; those of minimum norm are taken.

    Parameters
    ----------
    design : Design
        Its rows are brought to the host: they are fewer than its columns.
    alpha : ndarray of shape (targets,)
    positive : bool
        Constrain the coefficients to be non-negative.
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
    unique = bool((alpha > 0).all())
    method = Message("singular value decomposition of the rows")
    choice = Message(" (many coefficients fit equally well: the minimum-norm ones were taken)")
    if positive:
        method = Message("active set, coefficients ≥ 0")
        choice = Message(" (many coefficients fit equally well: some of them were taken)")
    scale = reciprocal(rows.length)
    trusted = trusted_digits(digits, smallest_digits(digits, coef, scale))
    status = Message("Solved by {method}", method=method) + ("" if unique else choice) + trusted
    keep = unique and design.n_columns <= _MOST_KEPT
    return LeastSquaresSolution(
        coef=coef,
        intercept=intercept,
        method=method,
        n_iter=1,
        objective=penalised_sum(rss, alpha, coef),
        gap=EPS,
        converged=True,
        status=status + constant_columns(int(np.count_nonzero(scale == 0)), design.n_columns),
        rank=len(values),
        condition=condition,
        digits=digits,
        rss=rss,
        tss=np.sum(rows.right**2, axis=0),
        mean=rows.mean,
        scale=scale,
        total=float(np.square(rows.root).sum()),
        alpha=alpha,
        dependent=() if unique else tuple(range(design.n_columns)),
        columns=Columns(values[:, None] * basis[kept], scale) if keep else None,
    )


def centred_rows(design: Design, fit_intercept: bool) -> CentredRows:
    """All rows on the host, centred and at unit length.

    Parameters
    ----------
    design : Design
        With few rows.
    fit_intercept : bool
        Whether rows are centred.
    """
    here = design.sample(design.n_rows)
    x = here.collect(here.map(Block.dense)).astype(np.float64)
    y = here.collect(here.vector("y"))
    weight = here.collect(here.vector("weight")) if here.has_weight else np.ones(len(x))
    mean, target_mean = np.zeros(x.shape[1]), np.zeros(y.shape[1])
    if fit_intercept:
        # A first row as the origin: exact differences for columns far from 0, and zeros for constant ones.
        first, first_target, total = x[0].copy(), y[0], weight.sum()
        x, y = x - first, y - first_target
        step, target_step = weight @ x / total, weight @ y / total
        x, y = x - step, y - target_step
        mean, target_mean = first + step, first_target + target_step
    root = np.sqrt(weight)[:, None]
    x *= root
    length = np.sqrt(np.square(x).sum(axis=0))
    x *= reciprocal(length)
    return CentredRows(x, length, y * root, mean, target_mean, root)


def _polished(coef: Array, rows: CentredRows, alpha: Array) -> Array:
    """alpha·coef = xᵀ·r, solved for columns shorter than the penalty: their coefficients are small beside others'."""
    r = rows.right - rows.x @ (rows.length * coef).T
    penalty = alpha[:, None]
    small = rows.length < np.sqrt(penalty)
    return np.where(small, rows.length * (r.T @ rows.x) / np.where(small, penalty, 1.0), coef)


def _nonnegative(rows: CentredRows, alpha: Array) -> Array:
    """In coordinates where columns with their penalty have unit length, and signs are the same."""
    answers = []
    for right, strength in zip(rows.right.T, alpha, strict=True):
        root = np.sqrt(strength)
        scale = np.where(rows.length > 0, reciprocal(np.hypot(rows.length, root)), 0.0)
        x, target = rows.x * (rows.length * scale), right
        if strength > 0:
            x = np.vstack([x, np.diag(root * scale)])
            target = np.concatenate([target, np.zeros(x.shape[1])])
        answers.append(scale * nnls(x, target, maxiter=30 * x.shape[1])[0])
    return np.stack(answers)
