"""Logistic regression on raw columns of the forest cover table."""

from __future__ import annotations

import numpy as np

from benchmarks.classification import Labelled, likelihood_accuracy
from benchmarks.rivals import glum, hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload
from benchmarks.workloads.logistic import TOL

TABLE = "covtype.csv.gz"


def make(request: Request) -> Labelled:
    """Class 2 against the rest."""
    import pandas as pd

    assert request.folder is not None  # the race asks for no table it was not given
    table = pd.read_csv(request.folder / TABLE, nrows=20_000 if request.quick else None).to_numpy(np.float64)
    return Labelled(np.ascontiguousarray(table[:, :-1]), (table[:, -1] == 2).astype(np.int64))


WORKLOAD = Workload(
    description="Logistic regression, covtype, 581,012×54 raw columns, class 2 against the rest, C=1.",
    make=make,
    ours=Contender("hiperplano", lambda p: hiperplano.logistic(p.X, p.y, tol=TOL)),
    rivals=(
        Contender("sklearn default", lambda p: sklearn.logistic(p.X, p.y)),
        Contender("sklearn newton-cholesky", lambda p: sklearn.logistic(p.X, p.y, solver="newton-cholesky", tol=TOL)),
        Contender("glum", lambda p: glum.logistic(p.X, p.y, 1.0, TOL)),
    ),
    target=3.0,
    accuracy=likelihood_accuracy(),
    table=TABLE,
)
