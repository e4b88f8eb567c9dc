"""When preconditioners are bought."""

import numpy as np
import pytest

from hiperplano import LogisticRegression
from hiperplano.solvers.likelihood import preconditioners


@pytest.fixture
def bought(monkeypatch):
    """Whether each Hessian of all rows was bought before the first step."""
    when, buy = [], preconditioners._AllRows.buy

    def noted(offer, theta, first):
        when.append(first)
        return buy(offer, theta, first)

    monkeypatch.setattr(preconditioners._AllRows, "buy", noted)
    return when


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_a_hessian_comes_first_where_columns_depend_on_each_other(bought, correlation):
    """One step by a diagonal tells: on columns that have little to do with each other it is as good."""
    rng = np.random.default_rng(0)
    X = np.sqrt(1 - correlation) * rng.normal(size=(1_000, 60)) + np.sqrt(correlation) * rng.normal(size=(1_000, 1))
    y = X[:, :9].sum(axis=1) + rng.logistic(size=1_000) > 0
    model = LogisticRegression().fit(X, y)
    assert bought[0] == (correlation > 0)
    exact = LogisticRegression(solver="newton", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0, atol=1e-9)


def test_hessians_that_float32_cannot_tell_are_not_made_twice(bought, monkeypatch):
    made, hessian = [], preconditioners.SinglePrecision.hessian
    monkeypatch.setattr(
        preconditioners.SinglePrecision, "hessian", lambda passes, theta: made.append(theta) or hessian(passes, theta)
    )
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 80))
    X[:, 40:] = X[:, :40] + 1e-5 * X[:, 40:]
    y = X[:, :40] @ rng.normal(size=40) + rng.logistic(size=900) > 0
    LogisticRegression(C=1e8).fit(X, y)
    assert len(bought) > 1
    assert len(made) == 1
