"""Standard errors of a fitted model on given rows, under several assumptions about the errors."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Block, Design, validate
from hiperplano.data.design import Array, Sums
from hiperplano.data.threads import one_blas_thread
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.evidence.hat import Hat
from hiperplano.evidence.least_squares import Sample, identified_factor, table, with_intercept
from hiperplano.evidence.summary import Summary, library_and_name
from hiperplano.solvers.solution import LeastSquaresSolution

KINDS = ("classical", "HC0", "HC1", "HC2", "HC3")


def inference(
    model: Any, X: Any, y: Any, *, cov: str = "classical", sample_weight: Any = None, level: float = 0.95
) -> Summary:
    """Standard errors, tests and intervals of a model's coefficients, judged on the rows given.

    Parameters
    ----------
    model : fitted estimator
        Its coefficients are taken as they are.
    X : array-like, CSR matrix or table of shape (n, d)
        As a rule the rows of the fit.
    y : array-like of shape (n,) or (n, targets)
    cov : {"classical", "HC0", "HC1", "HC2", "HC3"}, default="classical"
        "classical" assumes errors of one variance; the others hold also if it changes from row to row (White's
        estimator and its small-sample corrections; HC3 is the safest for few rows).
    sample_weight : array-like of shape (n,), optional
        As given to `fit`.
    level : float, default=0.95
        Of the confidence intervals.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import LinearRegression, inference
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, (200, 1))
    >>> y = 2 * X[:, 0] + X[:, 0] ** 2 * rng.normal(size=200)
    >>> model = LinearRegression().fit(X, y)
    >>> print(inference(model, X, y).se.round(2), inference(model, X, y, cov="HC3").se.round(2))
    [1.43 0.66] [1.12 0.68]
    """
    check_is_fitted(model)
    if cov not in KINDS:
        words = ", ".join(repr(kind) for kind in KINDS)
        raise InvalidParameter(f"inference: cov={cov!r}; cov must be one of {words}. Choose one of them.")
    solution = model.solution_ if hasattr(model, "summary") else None
    return _infer(solution, model, X, y, cov, sample_weight, level)


@singledispatch
def _infer(solution: Any, model: Any, X: Any, y: Any, cov: str, sample_weight: Any, level: float) -> Summary:
    raise NotAvailable(
        f"inference: no standard errors for {library_and_name(model)}; they are known for hiperplano's "
        "LinearRegression, Ridge and RidgeCV. Fit one of those."
    )


@_infer.register
def _(
    solution: LeastSquaresSolution, model: Any, X: Any, y: Any, cov: str, sample_weight: Any, level: float
) -> Summary:
    identified_factor(model, solution)
    design = validate(model, X, y, sample_weight, reset=False)
    with one_blas_thread():
        hat = Hat.of(model, design)
        here = hat.judged(solution)
        sample = Sample.of(design)
        if cov == "classical":
            slopes = hat.factor.inverse()
            slopes = slopes - hat.alpha * (slopes @ slopes)
            covariance = with_intercept(slopes, hat.mean, hat.total, hat.level)
            return table(model, here, sample, covariance, cov, level, scaled=True)
        df = sample.n - hat.freedom
        covariances = np.stack([_robust(design, hat, t, cov, sample.n / df) for t in range(design.n_targets)])
    return table(model, here, sample, covariances, cov, level, scaled=False)


def _robust(design: Design, hat: Hat, target: int, kind: str, small_sample: float) -> Array:
    """Σᵢ ωᵢ·aᵢ·aᵢᵀ, where aᵢ = (XᵀWX)⁻¹·wᵢ·xᵢ and ωᵢ is the squared residual, corrected as `kind` says."""

    def statistic(block: Block) -> Sums:
        rows = hat.scaled_rows(block)
        residual = hat.residuals(block)[:, target]
        if kind in ("HC2", "HC3"):
            remaining = 1.0 - hat.leverage(block)
            residual = residual / (np.sqrt(remaining) if kind == "HC2" else remaining)
        residual = residual if block.weight is None else residual * block.weight
        rows *= residual[:, None]
        influence = np.column_stack([residual / hat.total, hat.factor.solve(rows.T).T])
        return (influence.T @ influence,)

    (meat,) = design.fold(statistic)
    if kind == "HC1":
        meat *= small_sample
    # From (level at the means, scaled slopes) to (intercept, slopes).
    change = np.diag(np.concatenate([[1.0], hat.factor.scale]))
    change[0, 1:] = -hat.mean * hat.factor.scale
    full = change @ meat @ change.T
    return np.asarray(full if hat.level else full[1:, 1:])
