"""Sparse rows, fewer than columns: conjugate gradients in their span, their products, and columns that hold nothing."""

import numpy as np
import pytest
from scipy import sparse

from hiperplano import LinearRegression, Ridge
from hiperplano.solvers.least_squares import choice


def _reference(X, y, alpha, weight, fit_intercept):
    """Coefficients and intercepts by the eigenvalues of the products of dense centred rows."""
    mean = weight @ X / weight.sum() if fit_intercept else np.zeros(X.shape[1])
    level = weight @ y / weight.sum() if fit_intercept else np.zeros(y.shape[1])
    root = np.sqrt(weight)[:, None]
    rows = (X - mean) * root
    values, turn = np.linalg.eigh(rows @ rows.T)
    inverse = np.where(values > 1e-12 * values[-1], 1.0 / (np.maximum(values, 1e-300) + alpha), 0.0)
    coef = (turn * inverse @ (turn.T @ ((y - level) * root))).T @ rows
    return coef, level - coef @ mean


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 30.0])
@pytest.mark.parametrize(("columns", "density"), [(400, 0.02), (2_100, 0.02), (9_000, 4e-4)])
def test_against_dense_products(columns, density, alpha, fit_intercept):
    rng = np.random.default_rng(columns)
    X = sparse.random_array((200, columns), density=density, format="csr", rng=rng)
    y, weight = rng.normal(size=(200, 2)), rng.uniform(0.5, 2.0, 200)
    model = Ridge(alpha=alpha, fit_intercept=fit_intercept) if alpha else LinearRegression(fit_intercept=fit_intercept)
    model.fit(X, y, sample_weight=weight)
    coef, intercept = _reference(X.toarray(), y, alpha, weight, fit_intercept)
    size = np.abs(coef).max()
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-9 * size)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-9)
    empty = np.flatnonzero(np.diff(X.tocsc().indptr) == 0)
    assert not model.coef_[:, empty].any()
    if len(empty) > columns / 2:
        assert np.isin(empty, model.solution_.dependent).all()
        assert f"{len(empty)} of {columns} columns do not vary" in str(model.solution_)


def test_a_large_penalty_needs_no_factor_however_few_the_columns():
    rng = np.random.default_rng(6)
    X = sparse.random_array((300, 400), density=0.02, format="csr", rng=rng)
    y = rng.normal(size=(300, 1))
    model = Ridge(alpha=200.0).fit(X, y[:, 0])
    coef, intercept = _reference(X.toarray(), y, 200.0, np.ones(300), True)
    np.testing.assert_allclose(model.coef_, coef[0], rtol=0, atol=1e-10 * np.abs(coef).max())
    assert model.intercept_ == pytest.approx(intercept[0], abs=1e-12)
    assert "conjugate gradients" in str(model.solution_)


@pytest.mark.parametrize("targets", [3, 4, 5, 10])
def test_several_targets_share_their_steps(targets):
    rng = np.random.default_rng(targets)
    X = sparse.random_array((800, 5_000), density=0.003, format="csr", rng=rng)
    y, weight = rng.normal(size=(800, targets)) * np.arange(targets), rng.uniform(0.5, 2.0, 800)  # the first is 0
    model = Ridge(alpha=0.5).fit(X, y, sample_weight=weight)
    coef, intercept = _reference(X.toarray(), y, 0.5, weight, True)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-9 * np.abs(coef).max())
    np.testing.assert_allclose(model.intercept_, intercept, rtol=0, atol=1e-9)
    alone = sum(Ridge(alpha=0.5).fit(X, each, sample_weight=weight).solution_.n_iter for each in y.T)
    assert "conjugate gradients" in str(model.solution_)
    assert model.solution_.n_iter < 0.8 * alone
    other = Ridge(alpha=np.linspace(0.5, 2.0, targets)).fit(X, y, sample_weight=weight)  # one by one
    np.testing.assert_allclose(other.coef_[0], model.coef_[0], rtol=0, atol=1e-9 * np.abs(coef).max())


def test_a_small_penalty_beside_long_rows():
    """In the coordinates of the columns a penalty of 1e-5 would take a hundred times as many steps."""
    rng = np.random.default_rng(3)
    X = sparse.random_array((900, 4_000), density=0.01, format="csr", rng=rng)
    y = rng.normal(size=900)
    model = Ridge(alpha=1e-5, fit_intercept=False).fit(X, y)
    coef = X.T @ np.linalg.solve((X @ X.T).toarray() + 1e-5 * np.eye(900), y)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-9 * np.abs(coef).max())
    assert "conjugate gradients" in str(model.solution_)
    assert model.solution_.n_iter < 50


@pytest.mark.parametrize("alpha", [0.0, 1e-7])
def test_rows_that_are_there_twice_and_too_many_to_be_dense(monkeypatch, alpha):
    monkeypatch.setattr(choice, "_MOST_WIDE_CELLS", 20_000)
    rng = np.random.default_rng(4)
    half = sparse.random_array((50, 3_000), density=0.02, format="csr", rng=rng)
    X, y = sparse.vstack([half, half]).tocsr(), rng.normal(size=100)
    model = (Ridge(alpha=alpha) if alpha else LinearRegression()).fit(X, y)
    dense = X.toarray() - X.mean(axis=0)
    left, values, basis = np.linalg.svd(dense, full_matrices=False)
    there = values > 1e-9 * values[0]
    coef = basis[there].T @ (values / (values**2 + alpha) * (left.T @ (y - y.mean())))[there]
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-9 * np.abs(coef).max())
    assert ("independent rows" if alpha == 0 else "eigenvectors") in str(model.solution_)
