"""Standard errors and tests of a least-squares fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from hiperplano.data.design import Array, Design
from hiperplano.data.parameters import check_number
from hiperplano.errors import NotAvailable
from hiperplano.evidence.summary import Summary, coefficient_names
from hiperplano.solvers.factor import Factor
from hiperplano.solvers.solution import LeastSquaresSolution


@dataclass(frozen=True)
class Sample:
    """What inference must know of the rows besides their sums.

    Attributes
    ----------
    n : int
        Rows with a positive weight.
    log_weights : float
        Sum of the logarithms of their weights.
    """

    n: int
    log_weights: float

    @classmethod
    def of(cls, design: Design) -> Sample:
        if design.weight is None:
            return cls(design.n_rows, 0.0)
        positive = design.weight[design.weight > 0]
        return cls(len(positive), float(np.log(positive).sum()))


def summarise(model: Any, level: float) -> Summary:
    """The classical summary of a fitted least-squares model, from what `fit` kept."""
    solution: LeastSquaresSolution = model.solution_
    factor = identified_factor(model, solution)
    alpha = float(solution.alpha[0])
    slopes = factor.inverse()
    if alpha:
        slopes = slopes - alpha * (slopes @ slopes)
    covariance = with_intercept(slopes, solution.mean, solution.total, model.fit_intercept)
    return table(model, solution, model._sample_, covariance, "classical", level, scaled=True)


def identified_factor(model: Any, solution: LeastSquaresSolution) -> Factor:
    """The factor of the columns, or an error that says why coefficients have no standard errors."""
    if solution.dependent and not solution.alpha.any():
        names = coefficient_names(model, False)
        rows = model._sample_.n
        if rows <= len(names):
            raise NotAvailable(
                f"No standard errors: {rows} rows do not determine {len(names)} coefficients and their spread. Add "
                "rows, or leave out columns."
            )
        culprits = ", ".join(repr(names[j]) for j in solution.dependent[:6])
        if len(solution.dependent) == 1:
            raise NotAvailable(
                f"No standard errors: column {culprits} does not vary, so its coefficient is not determined. Drop the "
                "column and fit again."
            )
        raise NotAvailable(
            f"No standard errors: {culprits}{' …' if len(solution.dependent) > 6 else ''} follow from other columns or "
            f"do not vary (rank {solution.rank} of {len(names)}), so single coefficients are not determined. Drop a "
            "column of each relation and fit again."
        )
    if len(np.unique(solution.alpha)) > 1:
        raise NotAvailable(
            "No summary for targets with different penalties: each has its own covariance. Fit one target at a time."
        )
    if solution.factor is None:
        raise NotAvailable(
            f"No standard errors after {solution.method}: they need the inverse of a {len(solution.mean)} × "
            f"{len(solution.mean)} matrix, which this solver avoids. Fit fewer columns than rows, with solver='gram'."
        )
    return solution.factor


def with_intercept(slopes: Array, mean: Array, total: float, fit_intercept: bool) -> Array:
    """Covariance (in units of σ²) of intercept and slopes from that of the slopes about the means."""
    if not fit_intercept:
        return slopes
    shared = -slopes @ mean
    corner = 1.0 / total - float(mean @ shared)
    return np.block([[np.array([[corner]]), shared[None, :]], [shared[:, None], slopes]])


def slopes_used(factor: Factor, alpha: float) -> float:
    """Degrees of freedom of penalised slopes, trace of X·(XᵀX + alpha)⁻¹·Xᵀ; columns that do not vary have none."""
    return int(np.count_nonzero(factor.scale)) - alpha * float(np.trace(factor.inverse()))


def table(
    model: Any,
    solution: LeastSquaresSolution,
    sample: Sample,
    covariance: Array,
    kind: str,
    level: float,
    *,
    scaled: bool,
) -> Summary:
    """Arrange coefficients and covariance.

    Parameters
    ----------
    covariance : ndarray of shape (k, k) or (targets, k, k)
        In units of σ² if `scaled`, else as it is.
    """
    check_number("summary", "level", level, 0.0, 1.0, open_low=True)
    alpha = float(solution.alpha[0])
    fit_intercept = bool(model.fit_intercept)
    n_slopes = solution.coef.shape[1]
    df_model = slopes_used(solution.factor, alpha) if alpha and solution.factor else float(n_slopes)
    df = sample.n - df_model - fit_intercept
    if df <= 0:
        raise NotAvailable(
            f"No standard errors: {sample.n} rows leave {df:g} degrees of freedom for {n_slopes + fit_intercept} "
            "coefficients. Add rows, or leave out columns."
        )
    if not np.isfinite(solution.rss).all():
        raise NotAvailable(
            "No standard errors: the sum of squared residuals lies beyond the range of float64 (1.8e308). Use a larger "
            "unit for the target, and fit again."
        )
    sigma2 = solution.rss / df
    cov = np.broadcast_to(covariance, (len(sigma2), *covariance.shape[-2:]))
    cov = cov * sigma2[:, None, None] if scaled else cov
    coef = np.column_stack([solution.intercept, solution.coef]) if fit_intercept else solution.coef
    se = np.sqrt(np.maximum(cov.diagonal(axis1=1, axis2=2), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(se > 0, coef / se, np.where(coef == 0, 0.0, np.sign(coef) * np.inf))
    notes = _notes(model, alpha, df_model, kind)
    tested = not (alpha or model.positive)
    if not tested:
        p, low, high = (np.full(coef.shape, np.nan) for _ in range(3))
    else:
        p = 2.0 * stdtr(df, -np.abs(statistic))
        reach = stdtrit(df, 0.5 + level / 2) * se
        low, high = coef - reach, coef + reach
    stats = _stats(solution, sample, cov, df, df_model, fit_intercept, tested)
    if alpha:
        stats["effective_df"] = df_model + fit_intercept
    one = np.ndim(model.coef_) == 1

    def shaped(values: Array) -> Array:
        return np.asarray(values[0] if one else values)

    return Summary(
        title=f"{type(model).__name__}: {sample.n} rows, {kind} standard errors",
        names=coefficient_names(model, fit_intercept),
        coef=shaped(coef),
        se=shaped(se),
        statistic=shaped(statistic),
        p=shaped(p),
        low=shaped(low),
        high=shaped(high),
        stats={key: (float(value[0]) if one else value) if np.ndim(value) else value for key, value in stats.items()},
        level=float(level),
        statistic_name="t",
        covariance=shaped(cov),
        blocks=[] if one else [f"target {k}" for k in range(len(coef))],
        notes=notes,
    )


def _stats(
    solution: LeastSquaresSolution,
    sample: Sample,
    cov: Array,
    df: float,
    df_model: float,
    fit_intercept: bool,
    tested: bool,
) -> dict[str, Any]:
    """Numbers about the whole fit; each of shape (targets,) or a plain number."""
    n, rss, tss = sample.n, solution.rss, solution.tss
    parameters = df_model + fit_intercept + 1  # the variance of the errors is one of them, as in R
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(tss > 0, 1.0 - rss / np.where(tss > 0, tss, 1.0), 0.0)
        adj_r2 = 1.0 - (1.0 - r2) * (n - fit_intercept) / df
        loglik = 0.5 * (sample.log_weights - n * (np.log(2 * np.pi) + 1.0 - np.log(n) + np.log(rss)))
    stats: dict[str, Any] = {"r2": r2, "adj_r2": adj_r2}
    if tested and df_model > 0:
        f = np.array([_wald(c, v, fit_intercept) for c, v in zip(solution.coef, cov, strict=True)])
        stats |= {"f": f, "f_p": fdtrc(df_model, df, f)}
    stats |= {"sigma": np.sqrt(rss / df), "loglik": loglik}
    stats |= {"aic": 2 * parameters - 2 * loglik, "bic": np.log(n) * parameters - 2 * loglik, "n": n, "df": df}
    return stats


def _wald(coef: Array, covariance: Array, fit_intercept: bool) -> float:
    """All slopes together against zero, per slope: F under classical standard errors."""
    slopes = covariance[fit_intercept:, fit_intercept:]
    size = np.sqrt(slopes.diagonal())
    if not (size > 0).all():
        return float("inf") if coef.any() else 0.0
    unit = coef / size
    return float(unit @ np.linalg.solve(slopes / np.outer(size, size), unit)) / len(coef)


def _notes(model: Any, alpha: float, df_model: float, kind: str) -> tuple[str, ...]:
    notes = []
    if alpha:
        notes.append(
            f"the fit is penalised (alpha={alpha:g}): its coefficients are drawn towards 0, so p-values and intervals, "
            "which assume that they are right on average, do not hold and are left out; standard errors tell the "
            f"spread, not the bias. Effective degrees of freedom: {df_model + model.fit_intercept:.4g}."
        )
    if model.positive:
        notes.append(
            "coefficients were held at 0 or above: their distribution is not normal at that border, so p-values and "
            "intervals do not hold and are left out."
        )
    if kind != "classical":
        notes.append(f"{kind}: standard errors hold also if the errors' variance changes from row to row.")
    return tuple(notes)
