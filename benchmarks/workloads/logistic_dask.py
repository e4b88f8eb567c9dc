"""Logistic regression on dask arrays, in the threads of one process."""

from __future__ import annotations

from typing import Any

from benchmarks.classification import Labelled, likelihood_accuracy, logistic_rows
from benchmarks.rivals import dask_ml, hiperplano
from benchmarks.workload import Contender, Request, Workload

C = 1e4  # so large that the rival's penalty on the intercept does not matter
_PARTITIONS = 16


def make(request: Request) -> Labelled:
    return logistic_rows(20_000 if request.quick else 1_000_000, 50)


def on_dask(p: Labelled) -> tuple[Any, Any]:
    """The same numbers as dask arrays, which are views."""
    import dask.array as da

    size = -(-len(p.y) // _PARTITIONS)
    return da.from_array(p.X, chunks=(size, p.X.shape[1])), da.from_array(p.y, chunks=size)


WORKLOAD = Workload(
    description="Logistic regression on dask arrays, 1,000,000×50 in 16 partitions, C=10,000.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic(*on_dask(p), C=C, tol=1e-6)),
    rivals=(Contender("dask-ml lbfgs", lambda p: dask_ml.logistic(*on_dask(p), C=C, tol=1e-5)),),
    target=4.0,
    accuracy=likelihood_accuracy(C),
)
