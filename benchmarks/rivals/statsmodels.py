"""statsmodels."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Answer, Array

DISTRIBUTION = "statsmodels"


def linear_regression(X: Array, y: Array) -> Answer:
    model = _ols(X, y)
    return Answer(model.params[1:], model.params[0])


def linear_regression_summary(X: Array, y: Array) -> Answer:
    model = _ols(X, y)
    interval = model.conf_int()
    figures = {"se": model.bse, "p": model.pvalues, "low": interval[:, 0], "high": interval[:, 1]}
    return Answer(model.params[1:], model.params[0], figures)


def _ols(X: Array, y: Array) -> Any:
    from statsmodels.api import OLS, add_constant

    return OLS(y, add_constant(X, has_constant="add")).fit()


def logit(X: Array, y: Array) -> Answer:
    import statsmodels.api as sm

    fit = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-10)
    low, high = fit.conf_int().T
    return Answer(fit.params[1:], fit.params[0], {"se": fit.bse, "p": fit.pvalues, "low": low, "high": high})
