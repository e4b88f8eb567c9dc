"""Quadratic discriminants on a long table, against scikit-learn's default solver."""

from __future__ import annotations

from benchmarks.discriminants import own_covariances, scores_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload
from benchmarks.workloads.lda_default import make

WORKLOAD = Workload(
    description="QuadraticDiscriminantAnalysis, 500,000×100, 10 classes, float64; scikit-learn's default solver.",
    make=make,
    ours=Contender("hiperplano QDA", lambda p: hiperplano.quadratic_discriminant(p.X, p.y, p.judged)),
    rivals=(Contender("sklearn QDA svd", lambda p: sklearn.quadratic_discriminant(p.X, p.y, p.judged, "svd")),),
    target=5.0,
    accuracy=scores_accuracy(own_covariances),
    memory_limit=150 * 10**6,
)
