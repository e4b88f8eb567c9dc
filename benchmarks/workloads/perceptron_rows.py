"""A perceptron that is given one row at a time."""

from __future__ import annotations

from benchmarks.online import mistakes, stream
from benchmarks.rivals import hiperplano, river, sklearn
from benchmarks.workload import Contender, Workload

WORKLOAD = Workload(
    description="Perceptron, 100,000 rows of 50 columns, one row at a time.",
    make=stream,
    ours=Contender("hiperplano partial_fit", lambda p: hiperplano.perceptron_rows(p.rows)),
    rivals=(
        Contender("river learn_one", lambda p: river.perceptron_rows(p.dictionaries)),
        Contender("sklearn partial_fit", lambda p: sklearn.perceptron_rows(p.rows)),
    ),
    target=3.0,
    accuracy=mistakes(equal=0.35),
    weighed=False,
)
