"""Where columns lie and how large they are, against NumPy."""

import numpy as np
import pytest
from scipy import sparse

from hiperplano.data.column_scale import ColumnScale, column_moments
from hiperplano.data.validate import design as make_design


def table(n=3000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * (rng.uniform(size=(n, 5)) < 0.3)
    X = np.column_stack([X, X[:, 0] * 1e90, X[:, 1] * 1e-90, np.full(n, 0.1), np.round(X[:, 2] * 8) + 1e9])
    return X, rng.normal(size=n), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_means_and_spreads_of_columns(kind):
    X, y, weight = table()
    mean, spread = column_moments(make_design(kind(X), y, weight), np.arange(X.shape[1]))
    exact = X.astype(np.longdouble)
    wanted = np.average(exact, axis=0, weights=weight)
    wanted_spread = np.sqrt(np.average((exact - wanted) ** 2, axis=0, weights=weight)).astype(float)
    wanted_spread[7] = 0.0  # constant up to rounding
    size = np.abs(X).max(axis=0)
    np.testing.assert_allclose(mean / size, (wanted / size).astype(float), atol=1e-14)
    np.testing.assert_allclose(spread, wanted_spread, rtol=1e-9)  # the last column varies by 1e-9 of its size


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_some_columns_are_those_columns(kind):
    X, y, weight = table()
    which = np.array([6, 2])
    mine = column_moments(make_design(kind(X), y, weight), which)
    alone = column_moments(make_design(kind(X[:, which]), y, weight), np.arange(2))
    np.testing.assert_allclose(mine, alone, rtol=1e-13)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_standardised_rows_and_parameters_give_the_scores_of_the_data(fit_intercept, kind):
    X, y, weight = table()
    design = make_design(kind(X), y, weight)
    scale = ColumnScale.exact(design, fit_intercept)
    np.testing.assert_array_equal(np.flatnonzero(scale.constant), [7] if fit_intercept else [])
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(2, scale.size))
    theta[:, int(fit_intercept) :][:, scale.constant] = 0.0
    coef, intercept = scale.coefficients(theta)
    rows = design.collect(design.map(scale.rows))
    np.testing.assert_allclose(
        rows @ theta.T, (X / np.abs(X).max(axis=0)) @ (coef * np.abs(X).max(axis=0)).T + intercept, atol=1e-6
    )
    np.testing.assert_allclose(scale.parameters(coef, intercept), theta, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        np.column_stack([intercept, coef] if fit_intercept else [coef]).T, scale.matrix() @ theta.T
    )


def test_an_estimate_sees_columns_that_its_sample_does_not_show():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 50))
    X[:, 3] = 0.0
    X[776, 3] = 5.0  # rare, and not in the sample, which takes every third row
    X[:, 4] = 1e7 + rng.integers(0, 2, 60_000)  # hardly varies beside its size
    scale = ColumnScale.estimate(make_design(X, X[:, 0], None), fit_intercept=True)
    exact = ColumnScale.exact(make_design(X, X[:, 0], None), fit_intercept=True)
    assert not scale.constant.any()
    np.testing.assert_allclose(scale.scale[4], exact.scale[4], rtol=1e-12)
    np.testing.assert_allclose(scale.scale, exact.scale, rtol=0.2)
