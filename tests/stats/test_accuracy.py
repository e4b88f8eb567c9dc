"""Standard errors where columns are alike, against arithmetic with 200 digits."""

import mpmath as mp
import numpy as np
import pytest

from hiperplano import LinearRegression, Ridge, inference
from tests.exact import Problem
from tests.golden import nist, r_lm


def exact_se(X, alpha=0.0):
    """√ of the diagonal of S⁻¹·XᵀX·S⁻¹, S = XᵀX + alpha, intercept first, in units of σ; and trace of S⁻¹·XᵀX."""
    with mp.workdps(200):
        problem = Problem(X, np.zeros(len(X)), alpha=alpha)
        d = X.shape[1]
        gram = mp.matrix(d, d)
        for j in range(d):
            for k in range(d):
                gram[j, k] = mp.fdot(problem.columns[j], problem.columns[k])
        inverse = (gram + mp.mpf(float(alpha)) * mp.eye(d)) ** -1
        spread, mean = inverse * gram * inverse, mp.matrix(problem.mean)
        first = mp.sqrt(mp.mpf(1) / len(X) + (mean.T * spread * mean)[0])
        freedom = float(mp.fsum((inverse * gram)[j, j] for j in range(d)))
        return np.array([float(first)] + [float(mp.sqrt(spread[j, j])) for j in range(d)]), freedom


def twins(apart, offset=0.0, n=60, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=n)
    columns = (first, first + apart * rng.normal(size=n), rng.normal(size=n))
    X = np.column_stack(columns) + np.array([offset, offset, 0.0])
    return X, first + rng.normal(size=n)


def in_sigma(found):
    return found.se / found.stats["sigma"]


@pytest.mark.parametrize("alpha", [1e-8, 1e-3, 1.0, 1e6])
def test_a_column_and_its_double_under_a_penalty(alpha):
    X, y = twins(1.0)
    X[:, 1] = 2 * X[:, 0]
    true, freedom = exact_se(X, alpha)
    model = Ridge(alpha).fit(X, y)
    np.testing.assert_allclose(in_sigma(model.summary()), true, rtol=1e-13)
    np.testing.assert_allclose(in_sigma(inference(model, X, y)), true, rtol=1e-13)
    assert model.summary().stats["effective_df"] == pytest.approx(freedom + 1, rel=1e-13)


@pytest.mark.parametrize(("alpha", "rtol"), [(1e6, 1e-12), (1e12, 1e-11)])
def test_columns_of_very_unequal_size_under_a_penalty(alpha, rtol):
    rng = np.random.default_rng(0)
    income = np.round(rng.normal(3e6, 1e6, 60))
    X = np.column_stack([income, 2 * income, rng.normal(size=60)])
    model = Ridge(alpha).fit(X, income / 1e6 + rng.normal(size=60))
    np.testing.assert_allclose(in_sigma(model.summary()), exact_se(X, alpha)[0], rtol=rtol)


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("apart", [1e-1, 1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0])
def test_columns_that_are_almost_one(apart, alpha, offset):
    X, y = twins(apart, offset)
    true, _ = exact_se(X, alpha)
    model = (Ridge(alpha) if alpha else LinearRegression()).fit(X, y)
    rtol = 1e-15 * max(offset, 10.0) / apart if alpha < 1 else 1e-10  # rounding of the columns over their difference
    np.testing.assert_allclose(in_sigma(model.summary()), true, rtol=rtol)
    np.testing.assert_allclose(in_sigma(inference(model, X, y)), true, rtol=rtol)


@pytest.mark.parametrize("seed", [0, 1])  # what is left of a column beside its twin: just above rounding, just below
def test_a_penalty_that_leaves_few_digits_says_so(seed):
    X, y = twins(1e-7, 100.0, seed=seed)
    model = Ridge(1e-3).fit(X, y)
    true, _ = exact_se(X, 1e-3)
    (note,) = [note for note in model.summary().notes if "digits" in note]
    assert "inference(model, X, y)" in note
    np.testing.assert_allclose(in_sigma(model.summary()), true, rtol=1e-3)
    np.testing.assert_allclose(in_sigma(inference(model, X, y)), true, rtol=1e-12)


def test_the_whole_fit_of_nearly_dependent_powers():
    """NIST certifies F for Filip."""
    data = nist("Filip")
    found = LinearRegression().fit(data.x, data.y).summary()
    # With a condition of 10¹⁰; four BLAS kernels are off by 8e-10 to 1.8e-8.
    assert found.stats["f"] == pytest.approx(2162.43954511489, rel=1e-7)
    assert found.stats["r2"] == pytest.approx(0.996727416185620, rel=1e-9)


def exact_robust(X, y, kind):
    """White's estimator with 60 digits."""
    with mp.workdps(60):
        columns = mp.matrix([[1, *map(float, row)] for row in X])
        inverse = (columns.T * columns) ** -1
        coef = inverse * columns.T * mp.matrix(list(map(float, y)))
        n, k = columns.rows, columns.cols
        total = mp.zeros(k)
        for i in range(n):
            row = columns[i, :]
            residual = mp.mpf(float(y[i])) - (row * coef)[0]
            left = 1 - (row * inverse * row.T)[0]
            factor = {"HC0": 1, "HC1": mp.mpf(n) / (n - k), "HC2": 1 / left, "HC3": 1 / left**2}[kind]
            total += row.T * row * (residual**2 * factor)
        spread = inverse * total * inverse
        return np.array([float(mp.sqrt(spread[j, j])) for j in range(k)])


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_standard_errors_of_longley(kind):
    """R 4.2.2 (sandwich by solve(crossprod(X))) is off by up to 2e-8 here: that side is rounding."""
    data = r_lm("longley")
    found = inference(LinearRegression().fit(data.x, data.y), data.x, data.y, cov=kind).se
    true = exact_robust(data.x, data.y, kind)
    np.testing.assert_allclose(found, true, rtol=1e-11)
    np.testing.assert_allclose(data.said["hc"][kind]["se"], true, rtol=1e-7)
