"""Residual analysis of a logistic fit of two classes: leverage, influence, and how well probabilities fit."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import chdtrc, expit

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.errors import NotAvailable
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.losses import Logistic
from hiperplano.messages import Message
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.solution import LogisticSolution
from hiperplano.solvers.statistics import align_rows, count_rows
from hiperplano.stats.findings import Finding
from hiperplano.stats.logistic.covariance import coded_rows

_GROUPS = 10
_FEWEST_GROUPS = 3
_LARGE = 3.0  # larger standardised residuals are reported


@dataclass(frozen=True, repr=False)
class LogisticDiagnosis:
    """Residual analysis of a logistic fit of two classes (Pregibon 1981).

    Attributes
    ----------
    probability : ndarray of shape (n,)
        Probability of the second class.
    pearson, deviance : ndarray of shape (n,)
        Residuals: (y − p)/√(p(1 − p)), and the signed root of twice the loss; times the root of the row's weight.
    leverage : ndarray of shape (n,)
        Diagonal of the hat matrix of the last step of Newton's method, with the model's penalty.
    standardised_pearson, standardised_deviance : ndarray of shape (n,)
        Residuals over √(1 − leverage).
    cooks : ndarray of shape (n,)
        Cook's distances by one step: pearson²·leverage/(1 − leverage)², over the parameters (the sum of the leverages).
    chi_square_change, deviance_change : ndarray of shape (n,)
        One-step estimates of the decrease of Pearson's statistic and of the deviance if the row is left out.
    hosmer_lemeshow, hosmer_lemeshow_p : float
        Hosmer and Lemeshow's statistic and its p-value; NaN if there are fewer than three groups of probabilities.
    groups : ndarray of shape (groups, 3)
        Table of that statistic: weight of the rows, observed and expected weight of the second class, by deciles of
        probability.
    findings : list of Finding
        Each figure with its interpretation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hiperplano import LogisticRegression, diagnose
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = diagnose(LogisticRegression(C=float("inf")).fit(X[:, :3], y), X[:, :3], y)
    >>> found.leverage.sum().round(6), found.groups.shape
    (np.float64(4.0), (10, 3))
    """

    probability: Array
    pearson: Array
    deviance: Array
    leverage: Array
    standardised_pearson: Array
    standardised_deviance: Array
    cooks: Array
    chi_square_change: Array
    deviance_change: Array
    hosmer_lemeshow: float
    hosmer_lemeshow_p: float
    groups: Array
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


def diagnose_logistic(model: Any, solution: LogisticSolution, X: Any, y: Any, sample_weight: Any) -> LogisticDiagnosis:
    """The residual analysis of a fitted model on the rows of its fit."""
    if len(solution.coef) != 1:
        raise NotAvailable(
            "diagnose: {n} classes; residuals of logistic models belong to two. Compare two classes at a time.",
            n=len(solution.coef),
        )
    design = coded_rows(model, X, y, sample_weight)
    with one_blas_thread():
        problem = Likelihood(design, solution.scale, 1, solution.strength)
        hessian = problem.evaluate_with_hessian(solution.parameters)[2]
        if SymmetricSolver(hessian).singular:
            raise NotAvailable(
                "diagnose: the columns are dependent, or the classes are separated, so that leverages are not defined. "
                "Leave out columns that follow from others, or set a finite C."
            )
        root = cholesky(hessian * problem.total, lower=True)
        figures = _RowFigures(solution.scale, solution.parameters, root)
        rows = design.collect(design.map(figures))
    weight = rows[:, 4]
    statistic, p, groups = hosmer_lemeshow(rows[:, 0], rows[:, 5], weight)
    n_rows = count_rows(X)
    probability, pearson, deviance, leverage = (align_rows(each, design, n_rows) for each in rows[:, :4].T)
    rest = 1.0 - leverage
    cbar = pearson**2 * leverage / rest
    cooks = cbar / rest / np.nansum(leverage)
    standardised = deviance / np.sqrt(rest)
    return LogisticDiagnosis(
        probability=probability,
        pearson=pearson,
        deviance=deviance,
        leverage=leverage,
        standardised_pearson=pearson / np.sqrt(rest),
        standardised_deviance=standardised,
        cooks=cooks,
        chi_square_change=pearson**2 / rest,
        deviance_change=deviance**2 + cbar,
        hosmer_lemeshow=statistic,
        hosmer_lemeshow_p=p,
        groups=groups,
        findings=_findings(standardised, leverage, cooks, statistic, p),
    )


@dataclass(frozen=True)
class _RowFigures:
    """Probability, Pearson and deviance residual, leverage, weight and whether a row is of the second class."""

    scale: ColumnScale
    theta: Array
    root: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        rows, y, weight = self.scale.rows(block), block.y[:, 0], block.weights
        score = rows @ self.theta[0]
        spread = xp.sqrt(weight * Logistic().curvature(y, score))
        whitened = solve_triangular(self.root, rows.T, lower=True) * spread
        # (y − p)/√(p(1 − p)) equals y·exp(−y·score/2), which avoids a quotient of small numbers.
        pearson = xp.sqrt(weight) * y * xp.exp(-0.5 * y * score)
        deviance = y * xp.sqrt(2.0 * weight * Logistic().value(y, score))
        return np.column_stack([expit(score), pearson, deviance, xp.sum(whitened**2, axis=0), weight, y > 0])


def hosmer_lemeshow(probability: Array, second: Array, weight: Array) -> tuple[float, float, Array]:
    """Σ (observed − expected)²/(expected·(1 − expected/total)) over deciles of the probability, and its p-value.

    Parameters
    ----------
    probability, second, weight : ndarray of shape (n,)
        Probability of the second class; 1 for its rows and 0 for others; weights.

    Returns
    -------
    statistic, p : float
        NaN if there are fewer than three groups.
    groups : ndarray of shape (groups, 3)
        Total, observed and expected weight.
    """
    edges = np.unique(np.quantile(probability, np.linspace(0.0, 1.0, _GROUPS + 1)))
    group = np.clip(np.searchsorted(edges, probability, side="left") - 1, 0, None)
    sums = (weight, weight * second, weight * probability)
    groups = np.column_stack([np.bincount(group, each, minlength=max(1, len(edges) - 1)) for each in sums])
    if len(groups) < _FEWEST_GROUPS:
        return np.nan, np.nan, groups
    statistic = goodness_of_fit(groups)
    return statistic, float(chdtrc(len(groups) - 2, statistic)), groups


def goodness_of_fit(groups: Array) -> float:
    """The statistic of a table of total, observed and expected weights."""
    total, observed, expected = groups.T
    return float(np.sum((observed - expected) ** 2 / (expected * (1.0 - expected / total))))


def _findings(residual: Array, leverage: Array, cooks: Array, statistic: float, p: float) -> list[Finding]:
    row, high, moved = (int(np.nanargmax(each)) for each in (np.abs(residual), leverage, cooks))
    mean = float(np.nanmean(leverage))
    outlier = Message(
        "the largest standardised deviance residual is in row {row}; {k} rows are beyond ±{large:g}.",
        row=row,
        k=int(np.sum(np.abs(residual) > _LARGE)),
        large=_LARGE,
    )
    pull = Message(
        "row {row} has the largest leverage; {k} rows have more than twice the mean, {threshold:.2g}.",
        row=high,
        k=int(np.sum(leverage > 2.0 * mean)),
        threshold=2.0 * mean,
    )
    influence = Message(
        "row {row} moves the coefficients most when it is left out (by one step); above 1, look at it.", row=moved
    )
    if np.isnan(statistic):
        fits = Message("fewer than three groups of probabilities: there is no test.")
    elif p < 0.05:
        fits = Message("p = {p:.2g}: observed shares differ from the probabilities; a term may be missing.", p=p)
    else:
        fits = Message("p = {p:.2g}: no sign that observed shares differ from the probabilities.", p=p)
    return [
        Finding(Message("outlier"), float(residual[row]), outlier),
        Finding(Message("leverage"), float(leverage[high]), pull),
        Finding(Message("Cook's distance"), float(cooks[moved]), influence),
        Finding(Message("Hosmer-Lemeshow"), statistic, fits),
    ]
