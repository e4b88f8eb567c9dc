"""Residual analysis: what could be wrong with a least-squares fit, and where to look."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, stdtr
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design, validate
from hiperplano.data.design import Array
from hiperplano.data.threads import one_blas_thread
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.evidence.hat import Hat
from hiperplano.evidence.least_squares import Sample, identified_factor
from hiperplano.evidence.summary import coefficient_names, library_and_name
from hiperplano.solvers.direct import least_squares
from hiperplano.solvers.solution import LeastSquaresSolution


class Finding(NamedTuple):
    """One figure and what it means."""

    name: str
    value: float
    sentence: str


@dataclass(frozen=True)
class Diagnosis:
    """Residual analysis of a least-squares fit.

    Attributes
    ----------
    residuals, leverage, standardised, studentised, cooks : ndarray of shape (n,)
        Residuals; diagonal of the hat matrix; residuals over their standard error, with σ from all rows
        (standardised) and from all other rows (studentised); Cook's distances.
    durbin_watson : float
    breusch_pagan, breusch_pagan_p : float
        Koenker's version, which does not assume normal errors.
    vif : ndarray of shape (d,)
        Variance inflation factors.
    condition_number : float
        Of the centred columns at unit length (of the columns at unit length, without intercept).
    names : list of str
        Of the columns, in the order of `vif`.
    findings : list of Finding
        Each figure with one sentence on what it means.
    """

    residuals: Array = field(repr=False)
    leverage: Array = field(repr=False)
    standardised: Array = field(repr=False)
    studentised: Array = field(repr=False)
    cooks: Array = field(repr=False)
    durbin_watson: float
    breusch_pagan: float
    breusch_pagan_p: float
    vif: Array
    condition_number: float
    names: list[str]
    findings: list[Finding] = field(repr=False)

    def __str__(self) -> str:
        width = max(len(finding.name) for finding in self.findings)
        return "\n".join(f"{name.ljust(width)}  {value:>10.4g}  {said}" for name, value, said in self.findings)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{value:.4g}</td><td>{escape(said)}</td></tr>"
            for name, value, said in self.findings
        )
        return f"<table>{rows}</table>"


def diagnose(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Diagnosis:
    """Leverage, studentised residuals, Cook's distance, Durbin-Watson, Breusch-Pagan, VIF and condition number.

    Parameters
    ----------
    model : fitted LinearRegression, Ridge or RidgeCV
        With one target.
    X, y : the rows of the fit
    sample_weight : array-like of shape (n,), optional
        As given to `fit`.

    Returns
    -------
    Diagnosis
        Print it for one sentence on each figure; its arrays have one entry for each row or column.

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
    solution = getattr(model, "solution_", None)
    if not isinstance(solution, LeastSquaresSolution) or not hasattr(model, "summary"):
        raise NotAvailable(
            f"diagnose: no residual analysis for {library_and_name(model)}; it is made for hiperplano's "
            "LinearRegression, Ridge and RidgeCV. Fit one of those."
        )
    design = validate(model, X, y, sample_weight, reset=False)
    if design.n_targets != 1:
        raise InvalidParameter(
            f"diagnose: y has {design.n_targets} targets; residuals belong to one target. Pass one column."
        )
    identified_factor(model, solution)
    with one_blas_thread():
        hat = Hat.of(model, design)
        sample = Sample.of(design)
        residuals = design.map_rows(lambda block: hat.residuals(block)[:, 0], np.empty(design.n_rows))
        leverage = design.map_rows(hat.leverage, np.empty(design.n_rows))
        root = 1.0 if design.weight is None else np.sqrt(design.weight)
        pearson = residuals * root
        df = sample.n - hat.freedom
        if df <= 1:
            raise NotAvailable(
                f"diagnose: {sample.n} rows leave {df:g} degrees of freedom; residuals say nothing then. Add rows."
            )
        variance = float(pearson @ pearson) / df
        bp = _breusch_pagan(design, pearson)
        dw = float(np.sum(np.diff(pearson) ** 2) / (pearson @ pearson))
        vif, condition = hat.collinearity()
    remaining = np.maximum(1.0 - leverage, np.finfo(float).eps)
    standardised = pearson / np.sqrt(variance * remaining)
    others = np.maximum((variance * df - pearson**2 / remaining) / (df - 1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        studentised = np.where(pearson == 0, 0.0, pearson / np.sqrt(others * remaining))
    cooks = standardised**2 * leverage / remaining / hat.freedom
    names = coefficient_names(model, False)
    findings = _findings(names, sample.n, df, hat.freedom, leverage, studentised, cooks, dw, bp, vif, condition)
    return Diagnosis(
        residuals, leverage, standardised, studentised, cooks, dw, bp[0], bp[1], vif, condition, names, findings
    )


def _breusch_pagan(design: Design, residuals: Array) -> tuple[float, float]:
    """Does the squared residual depend on the columns? n·R² of that regression, and its p-value."""
    squared = np.square(residuals)[:, None]
    counted = None if design.weight is None else (design.weight > 0).astype(np.float64)
    fit = least_squares(design.with_target(squared, counted), alpha=np.zeros(1))
    statistic = float(fit.total * (1.0 - fit.rss[0] / fit.tss[0])) if fit.tss[0] > 0 else 0.0
    return statistic, float(chdtrc(max(fit.rank, 1), statistic))


def _findings(
    names: list[str],
    n: int,
    df: float,
    freedom: float,
    leverage: Array,
    studentised: Array,
    cooks: Array,
    dw: float,
    bp: tuple[float, float],
    vif: Array,
    condition: float,
) -> list[Finding]:
    """One sentence each."""
    outlier, high, strong = (int(np.argmax(values)) for values in (np.abs(studentised), leverage, cooks))
    p_outlier = min(1.0, n * 2.0 * float(stdtr(df - 1, -abs(studentised[outlier]))))
    worst = int(np.argmax(vif))
    threshold = 2 * freedom / n
    return [
        Finding(
            "outlier",
            float(studentised[outlier]),
            f"the largest studentised residual is in row {outlier}; "
            + (
                f"so large a one among {n} rows would be rare by chance (p = {p_outlier:.2g})."
                if p_outlier < 0.05
                else f"among {n} rows that is not unusual (p = {p_outlier:.2g})."
            ),
        ),
        Finding(
            "leverage",
            float(leverage[high]),
            f"row {high} pulls most on its own fit; {int(np.sum(leverage > threshold))} of {n} rows are above twice "
            f"the mean, {threshold:.2g}: their columns are unusual, whatever their target.",
        ),
        Finding(
            "Cook's distance",
            float(cooks[strong]),
            f"row {strong} moves the coefficients most when it is left out; "
            + ("above 1, look at it." if cooks[strong] > 1 else "below 1, no single row decides the fit."),
        ),
        Finding("Durbin-Watson", dw, _durbin_watson_sentence(dw)),
        Finding(
            "Breusch-Pagan",
            bp[0],
            f"p = {bp[1]:.2g}: "
            + (
                "the errors' variance changes with the columns; take inference(…, cov='HC3')."
                if bp[1] < 0.05
                else "no sign that the errors' variance changes with the columns."
            ),
        ),
        Finding(
            "VIF",
            float(vif[worst]),
            f"{names[worst]!r} is predicted best by the other columns; "
            + (
                "above 10, its coefficient is poorly determined."
                if vif[worst] > 10
                else "below 10, every coefficient can be told apart."
            ),
        ),
        Finding(
            "condition",
            condition,
            "of the columns at unit length; "
            + (
                "above 30, some combination of columns hardly varies."
                if condition > 30
                else "below 30, no combination of columns is close to constant."
            ),
        ),
    ]


def _durbin_watson_sentence(dw: float) -> str:
    if dw < 1.5:
        return "well below 2: neighbouring rows have similar residuals; if rows follow in time, something is missing."
    if dw > 2.5:
        return "well above 2: residuals of neighbouring rows alternate in sign."
    return "near 2: residuals of neighbouring rows are not related."
