"""Least squares with fewer rows than columns: the answer lies in the space of the rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd
from scipy.optimize import nnls

from hiperplano.data.design import Array, Design
from hiperplano.data.threads import one_blas_thread
from hiperplano.solvers.residuals import summed_residual_squares
from hiperplano.solvers.solution import LeastSquaresSolution

EPS = float(np.finfo(float).eps)


def wide_least_squares(
    design: Design, *, alpha: Array, fit_intercept: bool = True, positive: bool = False
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² by a singular value decomposition of the rows.

    Without a penalty many coefficients fit equally well; the shortest are taken.
    """
    with one_blas_thread():
        block = design.block(slice(0, design.n_rows))
        root = np.ones(design.n_rows) if design.weight is None else np.sqrt(design.weight)
        x, y = np.array(block.dense(), dtype=np.float64), design.y
        total = float(root @ root)
        mean, target_mean = np.zeros(design.n_columns), np.zeros(design.n_targets)
        if fit_intercept:
            share = root**2 / total
            mean, target_mean = share @ x, share @ y
            x -= mean
        right = (y - target_mean) * root[:, None]
        x *= root[:, None]
        if positive:
            coef, rank, condition = _nonnegative(x, right, alpha), 0, 1.0
            method = "active set, coefficients ≥ 0"
        else:
            coef, rank, condition = _shortest(x, right, alpha)
            method = "singular value decomposition of the rows"
        intercept = target_mean - coef @ mean
        rss = summed_residual_squares(design, mean, target_mean, coef, intercept)
    unique = bool((alpha > 0).all())
    digits = float(np.clip(-np.log10(EPS * condition), 0.0, 15.0))
    reason = "" if unique else " (many fit equally well: the shortest coefficients were taken)"
    return LeastSquaresSolution(
        coef=coef,
        intercept=intercept,
        method=method,
        n_iter=1,
        objective=float(np.sum(rss + alpha * np.sum(coef**2, axis=1))),
        gap=EPS,
        converged=True,
        status=f"Solved by {method}{reason}; about {digits:.0f} digits of the coefficients can be trusted.",
        rank=rank,
        condition=condition,
        digits=digits,
        rss=rss,
        tss=np.sum(right**2, axis=0),
        mean=mean,
        total=total,
        alpha=alpha,
        dependent=() if unique else tuple(range(design.n_columns)),
    )


def _shortest(x: Array, right: Array, alpha: Array) -> tuple[Array, int, float]:
    """Coefficients of shape (targets, d), rank and condition of the directions used."""
    left, values, basis = svd(x, full_matrices=False, check_finite=False, overwrite_a=True)
    largest = float(values.max(initial=0.0))
    kept = values > max(x.shape) * EPS * largest
    left, values, basis = left[:, kept], values[kept], basis[kept]
    # In units of the largest value, so that squares stay representable.
    relative = values / largest if len(values) else values
    with np.errstate(over="ignore"):
        strength = alpha / largest**2 if len(values) else alpha
    gain = relative[:, None] / (relative[:, None] ** 2 + strength)
    coef = ((left.T @ right) * gain / (largest or 1.0)).T @ basis
    condition = float(values.max() / values.min()) if len(values) else 1.0
    return coef, int(kept.sum()), condition


def _nonnegative(x: Array, right: Array, alpha: Array) -> Array:
    answers = []
    for column, strength in zip(right.T, alpha, strict=True):
        rows, target = x, column
        if strength > 0:
            rows = np.vstack([x, np.sqrt(strength) * np.eye(x.shape[1])])
            target = np.concatenate([column, np.zeros(x.shape[1])])
        answers.append(nnls(rows, target)[0])
    return np.stack(answers)
