"""The same against scikit-learn's other solvers, of which one is its fastest."""

from __future__ import annotations

from benchmarks.discriminants import one_covariance, scores_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload
from benchmarks.workloads.lda_default import make

WORKLOAD = Workload(
    description="LinearDiscriminantAnalysis, 500,000×100, 10 classes, float64; scikit-learn's faster solvers.",
    make=make,
    ours=Contender("hiperplano LDA", lambda p: hiperplano.linear_discriminant(p.X, p.y, p.judged)),
    rivals=(
        Contender("sklearn LDA lsqr", lambda p: sklearn.linear_discriminant(p.X, p.y, p.judged, "lsqr")),
        Contender("sklearn LDA eigen", lambda p: sklearn.linear_discriminant(p.X, p.y, p.judged, "eigen")),
    ),
    target=2.5,
    accuracy=scores_accuracy(one_covariance),
    memory_limit=150 * 10**6,
)
