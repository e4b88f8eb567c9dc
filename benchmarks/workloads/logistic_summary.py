"""Maximum likelihood with standard errors."""

from __future__ import annotations

from benchmarks.classification import likelihood_accuracy
from benchmarks.rivals import hiperplano, statsmodels
from benchmarks.workload import Contender, Workload
from benchmarks.workloads.logistic import make

WORKLOAD = Workload(
    description="Logistic regression with summary(), 500,000×50, plain maximum likelihood.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic_summary(p.X, p.y)),
    rivals=(Contender("statsmodels Logit", lambda p: statsmodels.logit(p.X, p.y)),),
    target=10.0,
    accuracy=likelihood_accuracy(float("inf"), equal=1e-8),
)
