"""Logistic regression on a long, well-conditioned table."""

from __future__ import annotations

from benchmarks.classification import Labelled, likelihood_accuracy, logistic_rows
from benchmarks.rivals import glum, hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

TOL = 1e-6


def make(request: Request) -> Labelled:
    return logistic_rows(20_000 if request.quick else 500_000, 50)


def sklearn_contenders() -> tuple[Contender[Labelled], ...]:
    """The solvers of scikit-learn that take dense rows of any size."""

    def contender(solver: str) -> Contender[Labelled]:
        return Contender(
            f"sklearn {solver}", lambda p: sklearn.logistic(p.X, p.y, solver=solver, tol=TOL, max_iter=100)
        )

    return tuple(contender(solver) for solver in ("lbfgs", "newton-cholesky", "newton-cg"))


WORKLOAD = Workload(
    description="Logistic regression, 500,000×50, well conditioned, C=1.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic(p.X, p.y, tol=TOL)),
    rivals=(*sklearn_contenders(), Contender("glum", lambda p: glum.logistic(p.X, p.y, 1.0, TOL))),
    target=3.0,
    accuracy=likelihood_accuracy(),
)
