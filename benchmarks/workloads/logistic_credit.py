"""Logistic regression on a credit table as it comes: money beside categories."""

from __future__ import annotations

from benchmarks.classification import Labelled, credit_table, likelihood_accuracy
from benchmarks.rivals import glum, hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload
from benchmarks.workloads.logistic import TOL, sklearn_contenders


def make(request: Request) -> Labelled:
    return credit_table(20_000 if request.quick else 500_000)


WORKLOAD = Workload(
    description="Logistic regression, credit table, 500,000 rows: 10 unscaled money columns, 110 of 0/1, 3% events.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic(p.X, p.y, tol=TOL)),
    rivals=(
        Contender("sklearn default", lambda p: sklearn.logistic(p.X, p.y)),
        *(one for one in sklearn_contenders() if "lbfgs" not in one.name),
        Contender("glum", lambda p: glum.logistic(p.X, p.y, 1.0, TOL)),
    ),
    target=4.0,
    accuracy=likelihood_accuracy(),
)
