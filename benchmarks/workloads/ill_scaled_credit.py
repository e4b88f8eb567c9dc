"""Least squares on columns in the units people use: incomes in millions beside ratios below one."""

from __future__ import annotations

import numpy as np

from benchmarks.accuracy import least_squares_accuracy
from benchmarks.problems import Regression
from benchmarks.rivals import hiperplano, sklearn, statsmodels
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Regression:
    """Credit lines, in thousands, as a bank's table would hold them; every column matters for the line."""
    n = 5_000 if request.quick else 200_000
    rng = np.random.default_rng(0)
    columns = {
        "income": (rng.normal(3e6, 1e6, n), 1e-3),
        "debt_ratio": (rng.normal(0.3, 0.1, n), -2000.0),
        "age": (rng.uniform(18, 80, n), 5.0),
        "years_employed": (rng.gamma(2.0, 4.0, n), 20.0),
        "card_limit": (rng.lognormal(14.5, 0.6, n), 1e-5),
        "utilisation": (rng.beta(2.0, 5.0, n), -800.0),
        "late_payments": (rng.poisson(0.4, n).astype(float), -150.0),
        "interest_rate": (rng.normal(0.021, 0.004, n), -30000.0),
        "home_owner": ((rng.random(n) < 0.6).astype(float), 200.0),
        "property_value": (rng.lognormal(18.5, 0.5, n), 2e-6),
    }
    X = np.column_stack([values for values, _ in columns.values()])
    y = X @ np.array([effect for _, effect in columns.values()]) + 500.0 + rng.normal(0, 300.0, n)
    return Regression(X, y)


WORKLOAD = Workload(
    description="LinearRegression on a raw credit table, 200,000×10: incomes of 3e6 beside ratios of 0.3.",
    make=make,
    ours=Contender("hiperplano LinearRegression", lambda p: hiperplano.linear_regression(p.X, p.y)),
    rivals=(
        Contender("sklearn LinearRegression", lambda p: sklearn.linear_regression(p.X, p.y)),
        Contender("statsmodels OLS", lambda p: statsmodels.linear_regression(p.X, p.y)),
    ),
    target=1.0,
    accuracy=least_squares_accuracy(),
)
