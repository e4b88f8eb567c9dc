"""How long one small fit takes."""

from __future__ import annotations

from benchmarks.classification import Labelled, likelihood_accuracy, logistic_rows
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

TOL = 1e-6


def make(request: Request) -> Labelled:
    return logistic_rows(1_000, 10)


WORKLOAD = Workload(
    description="One warm logistic fit of 1,000×10.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic(p.X, p.y, tol=TOL)),
    rivals=(Contender("sklearn lbfgs", lambda p: sklearn.logistic(p.X, p.y, tol=TOL)),),
    target=1.5,
    accuracy=likelihood_accuracy(),
    weighed=False,
)
