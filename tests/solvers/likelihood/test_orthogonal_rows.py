"""Logistic regression where columns nearly depend on each other: the minimum is that of the space they span."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax

from hiperplano import LogisticRegression

INDEPENDENT = "orthogonalised columns"


def nearly_the_same(noise, n=500, classes=2, seed=0):
    """Two columns that differ by `noise`, a third, labels; and columns of the same space that do not depend."""
    rng = np.random.default_rng(seed)
    first, other, between = rng.normal(size=(3, n))
    X = np.column_stack([first, first + noise * between, other])
    scores = np.column_stack([np.zeros(n), first + other, 0.5 * between - other])[:, :classes]
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X, y, np.column_stack([first, (X[:, 1] - first) / noise, other])


def least_loss(X, y, weight=None):
    """Mean loss at its minimum, by BFGS on well-conditioned columns with an intercept."""
    rows, k = np.column_stack([np.ones(len(X)), X]), y.max() + 1
    share = np.ones(len(y)) / len(y) if weight is None else weight / weight.sum()

    def loss_and_slope(theta):
        logs = log_softmax(rows @ theta.reshape(-1, k), axis=1)
        slope = rows.T @ (share[:, None] * (np.exp(logs) - np.eye(k)[y]))
        return -share @ logs[np.arange(len(y)), y], slope.ravel()

    return minimize(loss_and_slope, np.zeros(rows.shape[1] * k), jac=True, method="BFGS", options={"gtol": 1e-9}).fun


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("noise", [3e-7, 1e-8, 1e-9])
def test_the_loss_is_that_of_independent_columns(noise, classes):
    X, y, apart = nearly_the_same(noise, classes=classes)
    solution = LogisticRegression(C=np.inf).fit(X, y).solution_
    assert solution.converged
    assert INDEPENDENT in solution.method
    # Coefficients are as large as 1/noise, and rounded: over 30 seeds, a relative error of 1.3e-18/noise at most.
    assert solution.objective == pytest.approx(least_loss(apart, y), rel=5e-18 / noise)


@pytest.mark.parametrize("kind", [np.asarray, csr_array, np.asfortranarray])
def test_with_weights_and_of_every_kind(kind):
    X, y, apart = nearly_the_same(1e-8)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    solution = LogisticRegression(C=np.inf).fit(kind(X), y, weight).solution_
    assert solution.objective == pytest.approx(least_loss(apart, y, weight), rel=1e-9)


def test_many_rows():
    X, y, apart = nearly_the_same(1e-8, n=60_000)
    solution = LogisticRegression(C=np.inf).fit(X, y).solution_
    assert solution.converged
    assert solution.objective == pytest.approx(least_loss(apart, y), rel=1e-9)


def test_without_intercept_a_constant_column_may_hide_behind_a_distant_one():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=400), rng.integers(0, 4, 400)
    y[x > 0.3] = 0
    far = np.round(1e8 + x, 6)
    solution = (
        LogisticRegression(C=np.inf, fit_intercept=False).fit(np.column_stack([far, np.full(400, 0.1)]), y).solution_
    )
    assert solution.objective == pytest.approx(least_loss((far - 1e8)[:, None], y), rel=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1.3e8])
def test_what_is_only_rounding_is_no_direction(offset):
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = (x + rng.logistic(size=500) > 0).astype(int)
    model = LogisticRegression(C=np.inf)
    once = model.fit(x[:, None], y).solution_.objective
    twice = model.fit(np.column_stack([x, 3.0 * x + offset]), y)
    assert INDEPENDENT not in twice.solution_.method
    assert twice.solution_.objective == pytest.approx(once, rel=1e-9)
    assert np.abs(twice.coef_).max() < 10
