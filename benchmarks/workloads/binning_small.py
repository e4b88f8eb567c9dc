"""Optimal binning of small tables, where what is done once for each column and each fit counts."""

from __future__ import annotations

from benchmarks.binned import Binned, information_accuracy, table
from benchmarks.rivals import hiperplano, optbinning
from benchmarks.workload import Contender, Request, Workload

MAX_BINS = 5


def make(request: Request) -> Binned:
    return table(1_000, 5 if request.quick else 20, prebins=True)


WORKLOAD = Workload(
    description="Optimal binning of 20 variables, 1,000 rows, 20 given pre-bins, at most 5 bins, ascending rates.",
    make=make,
    ours=Contender("hiperplano WoEEncoder", lambda p: hiperplano.encoder(p.X, p.y, MAX_BINS, p.prebins)),
    rivals=(
        Contender("optbinning BinningProcess", lambda p: optbinning.encoder(p.X, p.y, MAX_BINS, p.prebins)),
        Contender("optbinning, all cores", lambda p: optbinning.encoder(p.X, p.y, MAX_BINS, p.prebins, -1)),
    ),
    target=3.0,
    accuracy=information_accuracy(equal=1e-9),
)
