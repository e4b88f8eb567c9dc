"""A support vector machine with the plain hinge on wide sparse rows."""

from __future__ import annotations

from benchmarks.classification import Labelled, sparse_rows
from benchmarks.margins import objective_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Labelled:
    return sparse_rows(5_000, 2_000, 20) if request.quick else sparse_rows(200_000, 50_000, 67)


WORKLOAD = Workload(
    description="LinearSVC, hinge, sparse 200,000×50,000, C=1.",
    make=make,
    ours=Contender("hiperplano LinearSVC", lambda p: hiperplano.linear_svc(p.X, p.y, C=1.0, loss="hinge")),
    rivals=(Contender("sklearn LinearSVC", lambda p: sklearn.linear_svc(p.X, p.y, C=1.0, loss="hinge")),),
    target=2.0,
    accuracy=objective_accuracy(1.0, squared=False),
)
