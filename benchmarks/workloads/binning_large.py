"""Optimal binning of a table that other libraries do not finish comfortably: time and memory of ours."""

from __future__ import annotations

import numpy as np

from benchmarks.binned import Binned, claimed_accuracy, table
from benchmarks.rivals import hiperplano
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Binned:
    return table(5_000 if request.quick else 1_000_000, 10 if request.quick else 200, np.float32)


WORKLOAD = Workload(
    description="Optimal binning of 200 variables, 1,000,000 rows of float32, under 60 s and 4 GB.",
    make=make,
    ours=Contender("hiperplano WoEEncoder", lambda p: hiperplano.encoder(p.X, p.y, 8)),
    rivals=(),
    target=1.0,
    accuracy=claimed_accuracy(10),
    memory_limit=3 * 2**30,
)
