"""The same with a weak penalty, where rows count nearly alone."""

from __future__ import annotations

from benchmarks.classification import Labelled
from benchmarks.margins import noisy_rows, objective_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Labelled:
    return noisy_rows(5_000 if request.quick else 200_000, 50)


WORKLOAD = Workload(
    description="LinearSVC, hinge, 200,000×50, noisy, C=100.",
    make=make,
    ours=Contender("hiperplano LinearSVC", lambda p: hiperplano.linear_svc(p.X, p.y, C=100.0, loss="hinge")),
    rivals=(Contender("sklearn LinearSVC", lambda p: sklearn.linear_svc(p.X, p.y, C=100.0, loss="hinge")),),
    target=20.0,
    accuracy=objective_accuracy(100.0, squared=False),
)
