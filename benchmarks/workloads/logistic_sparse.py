"""Logistic regression on wide sparse rows."""

from __future__ import annotations

from benchmarks.classification import Labelled, likelihood_accuracy, sparse_rows
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Labelled:
    return sparse_rows(5_000, 2_000, 20) if request.quick else sparse_rows(200_000, 50_000, 67)


WORKLOAD = Workload(
    description="Logistic regression, sparse 200,000×50,000 with 13.2 million entries, C=1.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic(p.X, p.y, tol=1e-4)),
    rivals=(
        Contender("sklearn lbfgs", lambda p: sklearn.logistic(p.X, p.y, tol=1e-5, max_iter=5000)),
        Contender(
            "sklearn liblinear", lambda p: sklearn.logistic(p.X, p.y, solver="liblinear", tol=1e-3, max_iter=1000)
        ),
        Contender("sklearn saga", lambda p: sklearn.logistic(p.X, p.y, solver="saga", tol=1e-3, max_iter=50)),
    ),
    target=3.0,
    accuracy=likelihood_accuracy(equal=1e-4),
)
