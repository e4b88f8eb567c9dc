"""Linear discriminants on a long table, against scikit-learn's default solver."""

from __future__ import annotations

from benchmarks.discriminants import Classes, gaussian_classes, one_covariance, scores_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Classes:
    return gaussian_classes(5_000 if request.quick else 500_000, 100, 10)


WORKLOAD = Workload(
    description="LinearDiscriminantAnalysis, 500,000×100, 10 classes, float64; scikit-learn's default solver.",
    make=make,
    ours=Contender("hiperplano LDA", lambda p: hiperplano.linear_discriminant(p.X, p.y, p.judged)),
    rivals=(Contender("sklearn LDA svd", lambda p: sklearn.linear_discriminant(p.X, p.y, p.judged, "svd")),),
    target=8.0,
    accuracy=scores_accuracy(one_covariance),
    memory_limit=150 * 10**6,
)
