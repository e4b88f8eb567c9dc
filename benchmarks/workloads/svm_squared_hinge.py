"""A support vector machine with the squared hinge on a long noisy table."""

from __future__ import annotations

from benchmarks.classification import Labelled
from benchmarks.margins import noisy_rows, objective_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Labelled:
    return noisy_rows(5_000 if request.quick else 200_000, 50)


WORKLOAD = Workload(
    description="LinearSVC, squared hinge, 200,000×50, noisy, C=1.",
    make=make,
    ours=Contender("hiperplano LinearSVC", lambda p: hiperplano.linear_svc(p.X, p.y, C=1.0, loss="squared_hinge")),
    rivals=(
        Contender(
            "sklearn LinearSVC primal", lambda p: sklearn.linear_svc(p.X, p.y, C=1.0, loss="squared_hinge", dual=False)
        ),
    ),
    target=3.0,
    accuracy=objective_accuracy(1.0, squared=True),
)
