"""The plane of largest margin between separable classes."""

from __future__ import annotations

from benchmarks.classification import Labelled
from benchmarks.margins import margin_accuracy, separable_rows
from benchmarks.rivals import clarabel, hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Labelled:
    return separable_rows(2_000 if request.quick else 100_000, 20)


WORKLOAD = Workload(
    description="HardMarginSVC, 100,000×20, separable.",
    make=make,
    ours=Contender("hiperplano HardMarginSVC", lambda p: hiperplano.hard_margin(p.X, p.y)),
    rivals=(
        Contender("sklearn SVC linear, C=1e10", lambda p: sklearn.hard_margin(p.X, p.y)),
        Contender("clarabel", lambda p: clarabel.hard_margin(p.X, p.y)),
    ),
    target=10.0,
    accuracy=margin_accuracy(),
)
