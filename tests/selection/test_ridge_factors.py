"""Leave-one-out by factors for few penalties, by tridiagonal forms for many, against fits without one row."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hiperplano import RidgeCV
from hiperplano.linalg.triangular import inverse_triangle, times_triangle
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.least_squares.path import leave_one_out
from tests.shipped import Shipped

ALPHAS = np.array([3.0, 0.2, 50.0])
MANY_ALPHAS = np.array([3.0, 0.2, 50.0, 0.01, 1e3])


def without_one_row(X, y, weight, alphas, fit_intercept):
    """Squared errors of every row, of shape (n, targets, alphas), by a singular value decomposition of the others."""
    n, errors = len(X), np.empty((*y.shape, len(alphas)))
    for i in range(n):
        others = np.arange(n) != i
        w, x, t = weight[others], X[others], y[others]
        mean, level = (np.average(each, axis=0, weights=w) * fit_intercept for each in (x, t))
        root = np.sqrt(w)[:, None]
        left, size, right = np.linalg.svd((x - mean) * root, full_matrices=False)
        for a, alpha in enumerate(alphas):
            coef = right.T @ ((size / (size**2 + alpha))[:, None] * (left.T @ ((t - level) * root)))
            errors[i, :, a] = np.square(y[i] - level - (X[i] - mean) @ coef)
    return errors


@pytest.mark.parametrize("shape", [(70, 66), (90, 40), (110, 70), (40, 40), (66, 150), (40, 300)])
@pytest.mark.parametrize("density", [None, 0.05])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alphas", [ALPHAS, MANY_ALPHAS], ids=["few", "many"])
def test_equal_to_fits_without_one_row(shape, density, weighted, fit_intercept, alphas):
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape) * 10.0 ** rng.uniform(-1, 1, shape[1])
    X = X + 4.0 if density is None else X * (rng.uniform(size=shape) < density)
    y = X @ rng.normal(size=(shape[1], 2)) + rng.normal(size=(shape[0], 2)) + 5.0
    weight = rng.uniform(0.2, 3.0, shape[0]) if weighted else np.ones(shape[0])
    model = RidgeCV(alphas, fit_intercept=fit_intercept, store_cv_results=True)
    model.fit(X if density is None else csr_array(X), y, weight if weighted else None)
    expected = without_one_row(X, y, weight, alphas, fit_intercept) * weight[:, None, None]
    np.testing.assert_allclose(model.cv_results_, expected, rtol=1e-7, atol=1e-9 * expected.mean())
    np.testing.assert_allclose(model.scores_, -expected.sum(axis=0).mean(axis=0) / weight.sum(), rtol=1e-9)


@pytest.mark.parametrize("shape", [(50, 30), (30, 50)])
def test_dependent_rows_or_columns_are_told_by_the_least_penalty(shape):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(shape[0], 8)) @ rng.normal(size=(8, shape[1]))
    y = rng.normal(size=(shape[0], 1))
    for alphas in [(1.0, 10.0), (1e-6, 1.0), (1e-12, 1.0)]:  # with the last, products have too few digits
        expected = without_one_row(X, y, np.ones(len(X)), np.array(alphas), True)
        found = RidgeCV(alphas, store_cv_results=True).fit(X, y[:, 0]).cv_results_
        np.testing.assert_allclose(found, expected[:, 0], rtol=1e-6)


def test_a_penalty_may_be_named_twice():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 30)), rng.normal(size=40)
    twice, once = RidgeCV([1.0, 2.0, 1.0]).fit(X, y), RidgeCV([1.0, 2.0]).fit(X, y)
    np.testing.assert_array_equal(twice.scores_, once.scores_[[0, 1, 0]])


@pytest.mark.parametrize("spread", [1.0, 300.0, 1e7])
def test_many_penalties_on_columns_of_any_scales(spread):
    """With the last, products of columns lose the digits of short ones, and a decomposition is taken."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(90, 60)) * spread ** rng.uniform(0, 1, 60)
    X[:, 7] = 3.0  # a column that does not vary
    y = rng.normal(size=(90, 1)) + (X / X.std(axis=0).clip(1e-9))[:, :3].sum(axis=1, keepdims=True)
    expected = without_one_row(X, y, np.ones(90), MANY_ALPHAS, True)
    model = RidgeCV(MANY_ALPHAS).fit(X, y[:, 0])
    np.testing.assert_allclose(model.scores_, -expected.mean(axis=(0, 1)), rtol=1e-8)


@pytest.mark.parametrize("n", [12, 41])
def test_as_many_rows_as_columns_and_an_intercept_are_not_left_out_one_by_one(n, monkeypatch):
    """Each nearly decides its own fit; products of columns would tell nothing of what others leave of it."""
    rng = np.random.default_rng(7)
    X = (rng.normal(size=(n, n - 1)) + rng.normal(size=(n, 1))) * 300.0 ** rng.uniform(0, 1, n - 1)
    y, weight = rng.normal(size=(n, 1)), rng.uniform(0.5, 2.0, n)
    alphas = np.logspace(-3, 3, 7)
    expected = without_one_row(X, y, weight, alphas, True)[:, 0]
    monkeypatch.setattr(leave_one_out, "ridge_path", None)
    model = RidgeCV(alphas).fit(X, y[:, 0], weight)
    np.testing.assert_allclose(model.scores_, -np.average(expected, axis=0, weights=weight), rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("least", [0.0, 1e-3])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_hardly_more_than_columns_are_not_left_out_one_by_one(weighted, least, fit_intercept, monkeypatch):
    """Small penalties leave many of them little to others: what no column reaches tells how much."""
    rng = np.random.default_rng(8)
    n, d = 102, 100 + (not fit_intercept)
    X = 1e5 * (0.3 * rng.normal(size=(n, d)) + rng.normal(size=(n, 1))) * 30.0 ** rng.uniform(0, 1, d)
    y, weight = rng.normal(size=(n, 2)), rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    alphas = np.array([least, 1.0, 10.0, 1e2, 1e3])
    expected = without_one_row(X, y, weight, alphas, fit_intercept)
    refits = []
    path = leave_one_out.ridge_path
    monkeypatch.setattr(leave_one_out, "ridge_path", lambda *a, **k: refits.append(1) or path(*a, **k))
    model = RidgeCV(alphas, fit_intercept=fit_intercept, store_cv_results=True).fit(X, y, weight)
    assert len(refits) <= 1  # the decomposition of all rows
    np.testing.assert_allclose(model.cv_results_, expected * weight[:, None, None], rtol=1e-5)


def test_all_levels_of_categories_beside_amounts_need_no_jacobi(monkeypatch):
    """The penalty makes them independent, however weak: its factors keep enough digits to choose one."""
    rng = np.random.default_rng(9)
    n = 160
    amounts = np.exp(rng.normal(size=(n, 3))) * [1e2, 1e4, 1e6]
    levels = [np.eye(9)[rng.integers(9, size=n)] for _ in range(12)]
    X = np.column_stack([amounts, *levels])
    y, alphas = X @ (rng.normal(size=X.shape[1]) / X.std(axis=0)) + rng.normal(size=n), np.logspace(-3, 3, 10)
    expected = without_one_row(X, y[:, None], np.ones(n), alphas, True)
    monkeypatch.setattr(leave_one_out, "ridge_path", None)
    model = RidgeCV(alphas, store_cv_results=True).fit(X, y)
    np.testing.assert_allclose(model.cv_results_, expected[:, 0], rtol=1e-6, atol=1e-8 * expected.mean())


@pytest.mark.parametrize("shape", [(300, 60), (90, 60), (61, 60)])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_penalties_are_the_same_wherever_rows_are(shape, weighted):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=shape) + 3.0, rng.normal(size=(shape[0], 2))
    weight = rng.uniform(0.5, 2.0, shape[0]) if weighted else None
    here, there = RidgeCV(MANY_ALPHAS).fit(X, y, weight), RidgeCV(MANY_ALPHAS).fit(Shipped(X, y, weight))
    np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-9)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-9 * np.abs(here.coef_).max())


@pytest.mark.parametrize("size", [0, 1, 5, 64, 65, 128, 200, 333])
def test_inverse_of_a_triangle(size):
    rng = np.random.default_rng(size)
    upper = np.triu(rng.normal(size=(size, size)), 1) / max(size, 1) + np.diag(rng.uniform(1, 2, size))
    inverse, rows = inverse_triangle(upper), rng.normal(size=(7, size))
    np.testing.assert_allclose(inverse @ upper, np.eye(size), atol=1e-13)
    np.testing.assert_array_equal(np.tril(inverse, -1), 0.0)
    np.testing.assert_allclose(times_triangle(rows, upper), rows @ upper, atol=1e-13)


def test_the_least_work_is_chosen():
    def costs(n_rows, n_columns, n_penalties):
        of = Costs(n_rows, n_columns + 1, 1.0, 1)
        ways = (
            of.inverses_of_rows(n_penalties),
            of.leverages_by_factors(n_penalties),
            of.leverages_by_decomposition(unlike=False),
            of.leverages_by_tridiagonal(n_penalties),
        )
        return ways.index(min(ways))

    assert costs(1_000, 900, 3) == costs(1_000, 990, 30) == 0
    assert costs(1_000, 500, 2) == 1
    assert costs(20_000, 500, 30) == costs(2_000, 200, 30) == 2
    assert costs(1_000, 900, 30) == costs(1_000, 500, 30) == 3
    few = Costs(500, 251, 1.0, 1)
    factors = few.leverages_by_factors(10)
    assert few.leverages_by_decomposition(unlike=False) < factors < few.leverages_by_decomposition(unlike=True)
    assert Costs.prefer_factors(3)
    assert not Costs.prefer_factors(30)
