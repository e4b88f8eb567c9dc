"""Choosing C by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.classification import Labelled, logistic_rows
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Accuracy, Answer, Contender, Request, Workload

CS = np.logspace(-4, 4, 10)


def make(request: Request) -> Labelled:
    return logistic_rows(5_000 if request.quick else 100_000, 50)


def distances(problem: Labelled, answers: Sequence[Answer]) -> list[float]:
    """From the score of the most accurate contender, which is the last: fits at a tolerance a hundred times smaller."""
    best = answers[-1].figures
    return [
        abs(answer.figures["score"] / best["score"] - 1) if answer.figures["C"] == best["C"] else np.inf
        for answer in answers
    ]


WORKLOAD = Workload(
    description="Logistic regression, 10 values of C × 5 folds, 100,000×50.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic_cv(p.X, p.y, CS, 5, 1e-5)),
    rivals=(
        Contender("sklearn default", lambda p: sklearn.logistic_cv(p.X, p.y, CS, 5, 1e-4)),
        Contender("sklearn tight", lambda p: sklearn.logistic_cv(p.X, p.y, CS, 5, 1e-6)),
    ),
    target=5.0,
    accuracy=Accuracy(
        "relative distance from the score of tight fits; infinite if another C is chosen", distances, 1e-6
    ),
)
