"""Least squares with standard errors, p-values and confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.accuracy import classical_errors
from benchmarks.problems import Regression
from benchmarks.rivals import hiperplano, statsmodels
from benchmarks.workload import Accuracy, Answer, Contender, Workload
from benchmarks.workloads.linear_regression import make


def distances(problem: Regression, answers: Sequence[Answer]) -> list[float]:
    """Errors of coefficients in units of their standard errors, and relative errors of those."""
    coef, se = classical_errors(problem.X, problem.y)
    found = []
    for answer in answers:
        slip = np.abs(np.concatenate([[answer.intercept], answer.coef]) - coef) / se
        found.append(float(max(slip.max(), np.max(np.abs(answer.figures["se"] / se - 1)))))
    return found


WORKLOAD = Workload(
    description="LinearRegression and its summary(), 1,000,000×50, float64.",
    make=make,
    ours=Contender("hiperplano summary()", lambda p: hiperplano.linear_regression_summary(p.X, p.y)),
    # statsmodels' other method, "qr", takes still longer.
    rivals=(Contender("statsmodels OLS", lambda p: statsmodels.linear_regression_summary(p.X, p.y)),),
    target=15.0,
    accuracy=Accuracy("largest error of a coefficient or standard error, in standard errors", distances, equal=1e-8),
    memory_limit=150 * 10**6,
)
