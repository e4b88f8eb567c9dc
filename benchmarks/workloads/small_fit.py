"""One fit so small that only the checks and the way through the code count."""

from __future__ import annotations

from benchmarks.accuracy import least_squares_accuracy
from benchmarks.problems import Regression, regression
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Regression:
    return regression(200, 5)  # as small as it is, also for a quick run


WORKLOAD = Workload(
    description="LinearRegression, 200×5, float64, after a first fit.",
    make=make,
    ours=Contender("hiperplano LinearRegression", lambda p: hiperplano.linear_regression(p.X, p.y)),
    rivals=(Contender("sklearn LinearRegression", lambda p: sklearn.linear_regression(p.X, p.y)),),
    target=1.0,
    accuracy=least_squares_accuracy(),
    weighed=False,
)
