"""dask-ml."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Answer

DISTRIBUTION = "dask-ml"


def logistic(X: Any, y: Any, C: float, tol: float) -> Answer:
    """Of dask arrays; it penalises the intercept, too."""
    from dask_ml.linear_model import LogisticRegression

    model = LogisticRegression(C=C, solver="lbfgs", tol=tol, max_iter=1000).fit(X, y)
    return Answer(model.coef_, model.intercept_)
