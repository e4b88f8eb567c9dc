"""glum."""

from __future__ import annotations

from benchmarks.workload import Answer, Array

DISTRIBUTION = "glum"


def logistic(X: Array, y: Array, C: float, tol: float) -> Answer:
    from glum import GeneralizedLinearRegressor

    strength = 1.0 / (C * X.shape[0])
    model = GeneralizedLinearRegressor(family="binomial", alpha=strength, l1_ratio=0, gradient_tol=tol, max_iter=1000)
    model.fit(X, y)
    return Answer(model.coef_, model.intercept_)
