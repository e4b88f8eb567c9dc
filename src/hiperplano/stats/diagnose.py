"""Residual analysis of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design, validate
from hiperplano.data.cluster.calls import takes_dask
from hiperplano.data.design import Array, Block
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.validate import last_step
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.solvers.least_squares.direct import least_squares
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution
from hiperplano.solvers.likelihood.solution import LogisticSolution
from hiperplano.solvers.statistics import align_rows, count_rows
from hiperplano.stats.findings import Finding, about_columns, about_residuals, about_rows
from hiperplano.stats.hat import Hat
from hiperplano.stats.least_squares import Sample, fitted_exactly, refuse_undetermined
from hiperplano.stats.logistic.diagnose import LogisticDiagnosis, diagnose_logistic
from hiperplano.stats.summary import coefficient_names, library_and_name


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Residual analysis of a least-squares fit.

    Attributes
    ----------
    residuals, leverage, standardised, studentised, cooks : ndarray of shape (n,)
        Residuals; diagonal of the hat matrix; residuals over their standard error, with σ from all rows
        (standardised) and from all other rows (studentised); Cook's distances. The last three are NaN for rows
        with a leverage of 1, and for all rows of an exact fit; a finding says so. For ridge they are those of refits
        without the row at the same penalty, ignoring the bias of the fit. All are NaN for rows of weight 0.
    durbin_watson : float
        Σ(eᵢ − eᵢ₋₁)²/Σeᵢ², about 2 if neighbouring errors are uncorrelated.
    breusch_pagan, breusch_pagan_p : float
        Koenker's version of the statistic, which does not assume normal errors, and its p-value.
    vif : ndarray of shape (d,)
        Variance inflation factors.
    condition_number : float
        Condition number of the centred columns at unit norm (without an intercept, of the columns at unit norm).
    names : list of str
        Names of the columns, in the order of `vif`.
    findings : list of Finding
        Each figure with its interpretation.

    Examples
    --------
    >>> from hiperplano import LinearRegression, diagnose
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.1, 1.0, 2.1, 2.9, 9.0]
    >>> found = diagnose(LinearRegression().fit(X, y), X, y)
    >>> print(found.studentised.round(1), found.cooks.round(1))
    [ 0.8 -0.  -0.5 -1.7 37.2] [0.6 0.  0.  0.4 2.2]
    """

    residuals: Array
    leverage: Array
    standardised: Array
    studentised: Array
    cooks: Array
    durbin_watson: float
    breusch_pagan: float
    breusch_pagan_p: float
    vif: Array
    condition_number: float
    names: list[str]
    findings: list[Finding]

    def __str__(self) -> str:
        width = max(len(finding.name) for finding in self.findings)
        return "\n".join(f"{name.ljust(width)}  {_figure(value):>10}  {said}" for name, value, said in self.findings)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{_figure(value)}</td><td>{escape(said)}</td></tr>"
            for name, value, said in self.findings
        )
        return f"<table>{rows}</table>"


def _figure(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4g}"


@takes_dask
def diagnose(model: Any, X: Any, y: Any = None, *, sample_weight: Any = None) -> Diagnosis | LogisticDiagnosis:
    """Leverage, studentised residuals, Cook's distance, Durbin-Watson, Breusch-Pagan, VIF and condition number.

    For a logistic model of two classes: Pregibon's leverage and Cook's distance, Pearson and deviance residuals, and
    Hosmer and Lemeshow's test.

    Parameters
    ----------
    model : fitted LinearRegression, Ridge, RidgeCV, LogisticRegression or LogisticRegressionCV
        Model with one target or two classes, or a Pipeline that ends with one.
    X, y : the rows of the fit
        Or a design, which brings its own target.
    sample_weight : array-like of shape (n,), optional
        As given to `fit`.

    Returns
    -------
    Diagnosis or LogisticDiagnosis
        Print it for an interpretation of each figure; its arrays have one entry for each row or column.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import LinearRegression, diagnose
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2))
    >>> y = X @ [1.0, -1.0] + rng.normal(size=50)
    >>> y[7] += 9
    >>> found = diagnose(LinearRegression().fit(X, y), X, y)
    >>> int(np.abs(found.studentised).argmax())
    7
    """
    check_is_fitted(model)
    model, X = last_step(model, X)
    solution = getattr(model, "solution_", None)
    if isinstance(solution, LogisticSolution):
        return diagnose_logistic(model, solution, X, y, sample_weight)
    return diagnose_least_squares(model, X, y, sample_weight)


def diagnose_least_squares(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Diagnosis:
    """The residual analysis of a least-squares fit."""
    check_is_fitted(model)
    model, X = last_step(model, X)
    solution = getattr(model, "solution_", None)
    if not isinstance(solution, LeastSquaresSolution) or not hasattr(model, "summary"):
        raise NotAvailable(
            "diagnose: no residual analysis for {model}; it is made for hiperplano's LinearRegression, Ridge and "
            "RidgeCV, and by itself for LogisticRegression. Fit one of those.",
            model=library_and_name(model),
        )
    design = validate(model, X, y, sample_weight, reset=False)
    if design.n_targets != 1:
        raise InvalidParameter(
            "diagnose: y has {n_targets} targets; residuals belong to one target. Pass one column.",
            n_targets=design.n_targets,
        )
    refuse_undetermined(model, solution, "diagnose")
    with one_blas_thread():
        hat = Hat.of(model, design)
        hat.refuse_undetermined(model, "diagnose")
        sample = Sample.of(design)
        df = sample.n - hat.freedom
        if df <= 1:
            raise NotAvailable(
                "diagnose: {n} rows leave {df:g} degrees of freedom; residuals carry no information then. Add rows.",
                n=sample.n,
                df=df,
            )
        rows = design.collect(design.map(_RowFigures(hat)))
        residuals, pearson, leverage, shrinkage = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:]
        vif, condition = hat.collinearity()
        exact = bool(fitted_exactly(hat.judged(solution, design))[0])
        scaled, bp, dw = _Scaled.nothing(len(pearson)), (np.nan, np.nan), np.nan
        if not exact:
            scaled = _Scaled.of(pearson, leverage, shrinkage, df, hat.freedom)
            bp = _breusch_pagan(design, pearson)
            dw = float(np.sum(np.diff(pearson) ** 2) / (pearson @ pearson))
    n_rows = count_rows(X)
    residuals, leverage, *by_row = (align_rows(each, design, n_rows) for each in (residuals, leverage, *scaled))
    scaled = _Scaled(*by_row)
    names = coefficient_names(model, False)
    labels = None if isinstance(X, list | tuple) else getattr(X, "index", None)
    findings = [
        *about_rows(leverage, scaled.studentised, scaled.cooks, sample.n, df, hat.freedom, exact, labels),
        *about_residuals(dw, bp, exact),
        *about_columns(names, vif, condition),
    ]
    return Diagnosis(residuals, leverage, *scaled, dw, bp[0], bp[1], vif, condition, names, findings)


@dataclass(frozen=True)
class _RowFigures:
    """Residual, residual times √weight, leverage, and the effect of a penalty on the hat matrix; of shape (m, 5)."""

    hat: Hat

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        residual, root = self.hat.residuals(block)[:, 0], xp.sqrt(block.weights)
        shrinkage = self.hat.shrinkage(block) * np.column_stack([xp.ones(len(block)), root])
        return np.column_stack([residual, residual * root, self.hat.leverage(block), shrinkage])


class _Scaled(NamedTuple):
    """Residuals over their standard errors, and Cook's distances; NaN for rows without a residual."""

    standardised: Array
    studentised: Array
    cooks: Array

    @classmethod
    def nothing(cls, n: int) -> _Scaled:
        return cls(*np.full((3, n), np.nan))

    @classmethod
    def of(cls, pearson: Array, leverage: Array, shrinkage: Array, df: float, freedom: float) -> _Scaled:
        """Compute from the diagonal h of the hat matrix H, that of H − H², and H·residuals.

        The results are those of refits without the row.

        A residual has the variance σ²·(1 − 2h + (H²)ᵢᵢ), ignoring bias. If the row is left out, it is predicted with an
        error of t = residual/(1 − h), other residuals change by Hᵢₖ·t, and the fit has (H − H²)ᵢᵢ/(1 − h) fewer degrees
        of freedom. Without a penalty H² = H and H·residuals = 0, and this is the usual formula.
        """
        lessened, fitted = shrinkage.T
        squares = leverage - lessened  # sum of squares of row i of H
        sum_of_squares = float(pearson @ pearson)
        remaining = np.where(leverage == 1.0, np.nan, 1.0 - leverage)
        spread = np.where(lessened > 0, np.maximum(remaining - lessened, remaining**2), remaining)
        standardised = pearson / np.sqrt(sum_of_squares / df * spread)
        left_out = pearson / remaining
        others = sum_of_squares + left_out * (2.0 * fitted - (1.0 - squares) * left_out)
        variance = np.maximum(others, 0.0) / (df - 1.0 + lessened / remaining)
        with np.errstate(divide="ignore", invalid="ignore"):
            studentised = np.where(pearson == 0, 0.0 * remaining, pearson / np.sqrt(variance * spread))
        return cls(standardised, studentised, left_out**2 * squares / (sum_of_squares / df * freedom))


def _breusch_pagan(design: Design, residuals: Array) -> tuple[float, float]:
    """Breusch-Pagan test: n·R² of a regression of the squared residuals on the columns, and its p-value."""
    fit = least_squares(design.with_vectors(y=np.square(residuals)[:, None], weight=None), alpha=np.zeros(1))
    statistic = float(fit.total * (1.0 - fit.rss[0] / fit.tss[0])) if fit.tss[0] > 0 else 0.0
    return statistic, float(chdtrc(max(fit.rank, 1), statistic))
