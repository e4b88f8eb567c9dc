"""Softmax regression."""

from __future__ import annotations

from benchmarks.classification import Labelled, likelihood_accuracy, softmax_rows
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

TOL = 1e-6


def make(request: Request) -> Labelled:
    return softmax_rows(3_000, 20, 4) if request.quick else softmax_rows(60_000, 200, 10)


WORKLOAD = Workload(
    description="Softmax regression, 60,000×200, 10 classes, C=1.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic(p.X, p.y, tol=TOL)),
    rivals=(Contender("sklearn lbfgs", lambda p: sklearn.logistic(p.X, p.y, tol=TOL, max_iter=1000)),),
    target=2.0,
    accuracy=likelihood_accuracy(),
)
