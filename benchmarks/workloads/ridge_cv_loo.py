"""The penalty of a ridge regression, chosen by its leave-one-out error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.accuracy import chosen_penalty_accuracy, leave_one_out_scores
from benchmarks.problems import regression
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Array, Contender, Request, Workload


class PenaltyChoice(NamedTuple):
    """Rows, a numeric target, and the penalties to choose from."""

    X: Array
    y: Array
    alphas: Array


def make(request: Request) -> PenaltyChoice:
    n, d = (2_000, 20) if request.quick else (100_000, 200)
    # The best alpha is about (noise/size)² ≈ 1,100, well inside the grid.
    rows = regression(n, d, size=0.3, noise=10.0)
    return PenaltyChoice(rows.X, rows.y, np.logspace(-2, 6, 100))


WORKLOAD = Workload(
    description="RidgeCV, 100 alphas by leave-one-out, 100,000×200, float64.",
    make=make,
    ours=Contender("hiperplano RidgeCV", lambda p: hiperplano.ridge_cv(p.X, p.y, p.alphas, None)),
    rivals=(Contender("sklearn RidgeCV", lambda p: sklearn.ridge_cv(p.X, p.y, p.alphas, None)),),
    target=50.0,
    accuracy=chosen_penalty_accuracy(lambda p: leave_one_out_scores(p.X, p.y, p.alphas)),
)
