"""Linear discriminants whose covariance is shrunk by Ledoit and Wolf's share."""

from __future__ import annotations

from benchmarks.discriminants import Classes, gaussian_classes, ledoit_wolf, scores_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Classes:
    return gaussian_classes(5_000 if request.quick else 50_000, 200, 5)


WORKLOAD = Workload(
    description="LinearDiscriminantAnalysis(shrinkage='auto'), 50,000×200, 5 classes, float64.",
    make=make,
    ours=Contender("hiperplano LDA shrunk", lambda p: hiperplano.linear_discriminant(p.X, p.y, p.judged, "auto")),
    rivals=(
        Contender("sklearn LDA lsqr shrunk", lambda p: sklearn.linear_discriminant(p.X, p.y, p.judged, "lsqr", "auto")),
    ),
    target=3.0,
    accuracy=scores_accuracy(ledoit_wolf),
    memory_limit=150 * 10**6,
)
