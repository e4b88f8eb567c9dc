"""Optimal binning of one variable, with the same pre-bins and limits for all."""

from __future__ import annotations

from benchmarks.binned import Binned, information_accuracy, table
from benchmarks.rivals import hiperplano, optbinning
from benchmarks.workload import Contender, Request, Workload

LIMITS = (8, 0.05, "ascending")


def make(request: Request) -> Binned:
    return table(5_000 if request.quick else 100_000, 1, prebins=True)


WORKLOAD = Workload(
    description="Optimal binning of one variable, 100,000 rows, 20 given pre-bins, at most 8 bins, ascending rates.",
    make=make,
    ours=Contender("hiperplano OptimalBinning", lambda p: hiperplano.binning(p.X[:, 0], p.y, p.prebins[0], *LIMITS)),
    rivals=(
        Contender("optbinning OptimalBinning", lambda p: optbinning.binning(p.X[:, 0], p.y, p.prebins[0], *LIMITS)),
    ),
    target=15.0,
    accuracy=information_accuracy(equal=1e-9),
)
