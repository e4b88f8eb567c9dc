"""Least squares with an intercept on a long, well-conditioned table."""

from __future__ import annotations

from benchmarks.accuracy import least_squares_accuracy
from benchmarks.problems import Regression, regression
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Regression:
    return regression(10_000 if request.quick else 1_000_000, 50)


WORKLOAD = Workload(
    description="LinearRegression, 1,000,000×50, float64 (400 MB).",
    make=make,
    ours=Contender("hiperplano LinearRegression", lambda p: hiperplano.linear_regression(p.X, p.y)),
    rivals=(Contender("sklearn LinearRegression", lambda p: sklearn.linear_regression(p.X, p.y)),),
    target=5.0,
    accuracy=least_squares_accuracy(),
    memory_limit=150 * 10**6,
)
