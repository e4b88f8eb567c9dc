"""Standard errors of a fitted model on given rows, under several assumptions about the errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Block, Design, validate
from hiperplano.data.cluster.calls import takes_dask
from hiperplano.data.design import Array, Sums
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.validate import last_step
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.messages import Message
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution
from hiperplano.solvers.likelihood.solution import LogisticSolution
from hiperplano.stats.hat import Hat
from hiperplano.stats.least_squares import (
    CoefficientSpread,
    Sample,
    explained_squares,
    in_scaled_units,
    refuse_undetermined,
    table,
)
from hiperplano.stats.logistic.covariance import logistic_inference
from hiperplano.stats.summary import Summary, library_and_name

KINDS = ("classical", "HC0", "HC1", "HC2", "HC3")


@takes_dask
def inference(
    model: Any, X: Any, y: Any = None, *, cov: str = "classical", sample_weight: Any = None, level: float = 0.95
) -> Summary:
    """Standard errors, tests and intervals of a model's coefficients, from the rows given.

    Parameters
    ----------
    model : fitted estimator, or Pipeline that ends with one
        The model; its coefficients are used unchanged.
    X : array-like, CSR matrix or table of shape (n, d), or Design
        Rows, usually those of the fit.
    y : array-like of shape (n,) or (n, targets)
        Not with a design, which contains its own.
    cov : {"classical", "HC0", "HC1", "HC2", "HC3"}, default="classical"
        "classical" assumes errors of one variance; the others are also valid if it differs between rows (White's
        estimator and its small-sample corrections; HC3 is the safest for few rows). Logistic models support the first
        three.
    sample_weight : array-like of shape (n,), optional
        As given to `fit`.
    level : float, default=0.95
        Level of the confidence intervals.

    Returns
    -------
    Summary
        Coefficients with standard errors, tests and intervals.

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
    model, X = last_step(model, X)
    if cov not in KINDS:
        words = ", ".join(repr(kind) for kind in KINDS)
        raise InvalidParameter(
            "inference: cov={cov!r}; cov must be one of {words}. Choose one of them.", cov=cov, words=words
        )
    solution = model.solution_ if hasattr(model, "summary") else None
    return _infer(solution, model, X, y, cov, sample_weight, level)


@singledispatch
def _infer(solution: Any, model: Any, X: Any, y: Any, cov: str, sample_weight: Any, level: float) -> Summary:
    raise NotAvailable(
        "inference: no standard errors for {model}; they are known for hiperplano's LinearRegression, Ridge, "
        "RidgeCV and LogisticRegression. Fit one of those.",
        model=library_and_name(model),
    )


@_infer.register
def _(
    solution: LeastSquaresSolution, model: Any, X: Any, y: Any, cov: str, sample_weight: Any, level: float
) -> Summary:
    refuse_undetermined(model, solution, Message("inference: no standard errors"))
    design = validate(model, X, y, sample_weight, reset=False)
    with one_blas_thread():
        hat = Hat.of(model, design)
        hat.refuse_undetermined(model, Message("inference: no standard errors"))
        here, sample = hat.judged(solution, design), Sample.of(design)
        if cov == "classical":
            half = hat.slopes.with_intercept(hat.mean, hat.total, hat.fit_intercept)[None]
            spread = CoefficientSpread(
                half, hat.slopes.freedom, explained_squares(hat.factor, solution.coef), scaled=True
            )
        else:
            if cov in ("HC2", "HC3"):
                _refuse_leverage_of_one(design, hat, cov)
            df = sample.n - hat.freedom
            found = [_robust(design, hat, t, cov, sample.n / df) for t in range(design.n_targets)]
            halves, explained = (np.stack(parts) for parts in zip(*found, strict=True))
            spread = CoefficientSpread(halves, hat.slopes.freedom, explained, scaled=False)
    return table(model, here, sample, spread, cov, level)


def _refuse_leverage_of_one(design: Design, hat: Hat, kind: str) -> None:
    """Raise an error for rows of leverage 1: they are fitted exactly, so that their error cannot be estimated."""
    rows = design.row_numbers()[design.collect(design.map(hat.leverage)) == 1.0]
    if len(rows):
        some = ", ".join(map(str, rows[:6].tolist())) + (" …" if len(rows) > 6 else "")
        raise NotAvailable(
            "inference: {kind} is not defined here: row {some} has a leverage of 1, so it is fitted exactly "
            "whatever its target, and {kind} divides by one minus the leverage. Take cov='HC1', or leave out the "
            "row and the column that only it determines.",
            kind=kind,
            some=some,
        )


@_infer.register
def _(solution: LogisticSolution, model: Any, X: Any, y: Any, cov: str, sample_weight: Any, level: float) -> Summary:
    return logistic_inference(solution, model, X, y, cov, sample_weight, level)


def _robust(design: Design, hat: Hat, target: int, kind: str, small_sample: float) -> tuple[Array, Array]:
    """Half of a robust covariance: H with H·Hᵀ = Σᵢ ωᵢ·aᵢ·aᵢᵀ, where aᵢ = (XᵀWX)⁻¹·wᵢ·xᵢ.

    ωᵢ is the squared residual, corrected as `kind` says.

    Also returns the square of the slopes in units of that covariance. Both come from Σ ωᵢ·hᵢ·hᵢᵀ of the level and h =
    U⁻ᵀ·D·x, whose columns are not nearly collinear: inverses of nearly singular matrices are applied to vectors only.
    """
    (meat,) = design.fold(_Meat(hat, target, kind))
    if kind == "HC1":
        meat *= small_sample
    values, basis = np.linalg.eigh(meat)
    half = basis * np.sqrt(np.maximum(values, 0.0))  # sums of squares of its rows cannot cancel
    slopes = hat.factor.scale[:, None] * hat.factor.backward(half[1:])
    level = half[:1] - hat.factor.forward(hat.factor.scale * hat.mean)[None, :] @ half[1:]
    rows = np.vstack([level, slopes]) if hat.fit_intercept else slopes
    turned_coef = hat.factor.upper @ in_scaled_units(hat.factor, hat.coef[target : target + 1])[:, 0]
    explained = turned_coef @ np.linalg.lstsq(meat[1:, 1:], turned_coef)[0]
    return rows, np.asarray(explained)


@dataclass(frozen=True)
class _Meat:
    """Σ ωᵢ·hᵢ·hᵢᵀ of the level and h = U⁻ᵀ·D·x, where ω is the squared weighted residual, corrected as `kind` says."""

    hat: Hat
    target: int
    kind: str

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        turned = self.hat.turned_rows(block)
        residual = self.hat.residuals(block)[:, self.target]
        if self.kind in ("HC2", "HC3"):
            remaining = 1.0 - self.hat.leverage(block, turned)
            residual = residual / (xp.sqrt(remaining) if self.kind == "HC2" else remaining)
        residual = block.weighted(residual)
        influence = np.vstack([residual / self.hat.total, turned * residual])
        return (influence @ influence.T,)
