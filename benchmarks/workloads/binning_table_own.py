"""Optimal binning of all variables of a table, each library with its own pre-bins."""

from __future__ import annotations

from benchmarks.binned import Binned, new_rows_accuracy, table
from benchmarks.rivals import hiperplano, optbinning
from benchmarks.workload import Contender, Request, Workload

MAX_BINS = 8


def make(request: Request) -> Binned:
    return table(3_000 if request.quick else 100_000, 6 if request.quick else 30)


WORKLOAD = Workload(
    description="Optimal binning of 30 variables, 100,000 rows, own pre-bins, at most 8 bins, ascending rates.",
    make=make,
    ours=Contender("hiperplano WoEEncoder", lambda p: hiperplano.encoder(p.X, p.y, MAX_BINS)),
    rivals=(
        Contender("optbinning BinningProcess", lambda p: optbinning.encoder(p.X, p.y, MAX_BINS)),
        Contender("optbinning, all cores", lambda p: optbinning.encoder(p.X, p.y, MAX_BINS, jobs=-1)),
    ),
    target=30.0,
    accuracy=new_rows_accuracy(400_000, equal=0.005),  # pre-bins differ, and with them the best that can be reached
)
