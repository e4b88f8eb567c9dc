"""Least squares on raw columns of the forest cover table, some of which depend on each other."""

from __future__ import annotations

from benchmarks.accuracy import least_squares_accuracy
from benchmarks.problems import Regression
from benchmarks.rivals import hiperplano, sklearn, statsmodels
from benchmarks.workload import Contender, Request, Workload

TABLE = "covtype.csv.gz"


def make(request: Request) -> Regression:
    """Elevation (the first column) from the other measurements; the last column, a class, is left out."""
    import pandas as pd

    assert request.folder is not None  # the race asks for no table it was not given
    table = pd.read_csv(request.folder / TABLE, nrows=20_000 if request.quick else None).to_numpy(float)
    return Regression(table[:, 1:-1].copy(), table[:, 0].copy())


WORKLOAD = Workload(
    description="Elevation of 581,012 places from the 53 other columns of covtype, as they are; rank 51.",
    make=make,
    ours=Contender("hiperplano LinearRegression", lambda p: hiperplano.linear_regression(p.X, p.y)),
    rivals=(
        Contender("sklearn LinearRegression", lambda p: sklearn.linear_regression(p.X, p.y)),
        Contender("statsmodels OLS", lambda p: statsmodels.linear_regression(p.X, p.y)),
    ),
    target=1.0,
    accuracy=least_squares_accuracy(),
    table=TABLE,
)
