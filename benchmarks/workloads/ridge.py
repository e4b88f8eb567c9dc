"""Ridge regression with one penalty on a long table."""

from __future__ import annotations

from benchmarks.accuracy import least_squares_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload
from benchmarks.workloads.linear_regression import make

ALPHA = 1000.0  # large enough that the penalty moves the answer of a million rows

WORKLOAD = Workload(
    description=f"Ridge(alpha={ALPHA:g}), 1,000,000×50, float64.",
    make=make,
    ours=Contender("hiperplano Ridge", lambda p: hiperplano.ridge(p.X, p.y, ALPHA)),
    rivals=(Contender("sklearn Ridge cholesky", lambda p: sklearn.ridge(p.X, p.y, ALPHA, "cholesky")),),
    target=3.0,
    accuracy=least_squares_accuracy(ALPHA),
    memory_limit=150 * 10**6,
)
