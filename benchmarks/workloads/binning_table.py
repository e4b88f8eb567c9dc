"""Optimal binning of all variables of a table, with the same pre-bins and limits for all."""

from __future__ import annotations

from benchmarks.binned import Binned, information_accuracy, table
from benchmarks.rivals import hiperplano, optbinning
from benchmarks.workload import Contender, Request, Workload

MAX_BINS = 8


def make(request: Request) -> Binned:
    return table(3_000 if request.quick else 100_000, 6 if request.quick else 30, prebins=True)


WORKLOAD = Workload(
    description="Optimal binning of 30 variables, 100,000 rows, 20 given pre-bins, at most 8 bins, ascending rates.",
    make=make,
    ours=Contender("hiperplano WoEEncoder", lambda p: hiperplano.encoder(p.X, p.y, MAX_BINS, p.prebins)),
    rivals=(
        Contender("optbinning BinningProcess", lambda p: optbinning.encoder(p.X, p.y, MAX_BINS, p.prebins)),
        Contender("optbinning, all cores", lambda p: optbinning.encoder(p.X, p.y, MAX_BINS, p.prebins, -1)),
    ),
    target=30.0,
    accuracy=information_accuracy(equal=1e-9),
)
