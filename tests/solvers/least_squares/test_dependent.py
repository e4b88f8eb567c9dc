"""Sparse rows or columns that are linearly dependent: the minimum-norm solution, without a dense decomposition."""

import numpy as np
import pytest
from scipy import sparse

from hiperplano import LinearRegression
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.centred_rows import sparse_rows
from hiperplano.linalg.dependent.rows import by_independent_rows
from hiperplano.linalg.krylov.minimum_norm_steps import solve_by_column_steps
from hiperplano.solvers.least_squares import dependent
from hiperplano.solvers.least_squares.dependent import by_independent_columns
from hiperplano.solvers.least_squares.normal import normal_equations


def _reference(X, y, weight, fit_intercept):
    """Minimum-norm coefficients by singular values of the dense rows, and the rank."""
    mean = weight @ X / weight.sum() if fit_intercept else np.zeros(X.shape[1])
    level = weight @ y / weight.sum() if fit_intercept else np.zeros(y.shape[1])
    root = np.sqrt(weight)[:, None]
    left, values, basis = np.linalg.svd((X - mean) * root, full_matrices=False)
    kept = values > 1e-10 * values[0]
    coef = basis[kept].T @ ((left[:, kept].T @ ((y - level) * root)) / values[kept][:, None])
    return coef.T, int(kept.sum())


def _table(kind, n, d, rng):
    X = sparse.random_array((n, d), density=0.008, format="lil", rng=rng)
    if kind == "empty":
        X[rng.integers(n, size=n // 20)] = 0.0
    elif kind == "equal":
        X = sparse.random_array((n, d), density=0.03, format="csr", rng=rng)[rng.integers(n // 2, size=n)]
    elif kind == "scaled":  # rows and columns that are multiples or sums of others
        X[:20] = 3.0 * X[20:40]
        X[40:50] = X[50:60] - X[60:70]
        X[:, :10] = 0.5 * X[:, 10:20] + X[:, 20:30]
    return sparse.csr_array(X)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["empty", "equal", "scaled"])
@pytest.mark.parametrize(("n", "d"), [(520, 620), (580, 560)])
def test_against_singular_values(monkeypatch, n, d, kind, fit_intercept):
    def refuse(*_args, **_options):
        raise AssertionError("a dense decomposition")

    monkeypatch.setattr("hiperplano.solvers.least_squares.wide.svd", refuse)
    monkeypatch.setattr("hiperplano.solvers.least_squares.direct.directions", refuse)
    rng = np.random.default_rng(n)
    X = _table(kind, n, d, rng)
    y, weight = rng.normal(size=(n, 2)), rng.choice([0.5, 1.0, 4.0], n)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    coef, rank = _reference(X.toarray(), y, weight, fit_intercept)
    assert rank < min(n - 1, np.count_nonzero(np.abs(X).sum(axis=0)))
    if model.solution_.method != "conjugate gradients":  # these take the shortest ones for standardised columns
        np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-9 * np.abs(coef).max())
        assert model.solution_.rank == rank
    dense = X.toarray() - (weight @ X / weight.sum() if fit_intercept else 0.0)
    fitted = dense @ coef.T
    np.testing.assert_allclose(dense @ model.coef_.T, fitted, rtol=0, atol=1e-7 * np.abs(fitted).max())


def _rows(X, y, fit_intercept):
    return sparse_rows(InMemory(X, y), fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_steps_end_only_at_the_minimum_norm_solution(fit_intercept):
    """Rows that are there twice with different targets: X·Xᵀ·s = y has no solution."""
    rng = np.random.default_rng(3)
    X = sparse.random_array((60, 400), density=0.1, format="csr", rng=rng)[np.repeat(np.arange(60), 2)]
    y = rng.normal(size=(120, 3))
    found = solve_by_column_steps(_rows(X, y, fit_intercept), 1e-10, 2_000)
    coef, _ = _reference(X.toarray(), y, np.ones(120), fit_intercept)
    np.testing.assert_allclose(found.coef, coef, rtol=0, atol=1e-9 * np.abs(coef).max())
    assert solve_by_column_steps(_rows(X, y, fit_intercept), 1e-10, 10) is None


def test_a_target_without_any_fit():
    """Its gradient is 0 from the start."""
    X = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]]))
    found = solve_by_column_steps(_rows(X, np.array([[1.0], [-1.0]]), False), 1e-10, 10)
    np.testing.assert_array_equal(found.coef, np.zeros((1, 3)))


@pytest.mark.parametrize("gap", [1e-9, 1e-4])
def test_nearly_dependent_rows_are_not_taken_for_dependent(gap):
    """A row that differs from a sum of two others by 1e-9 determines coefficients, which X·Xᵀ cannot show."""
    rng = np.random.default_rng(4)
    dense = rng.normal(size=(20, 40)) * (rng.random((20, 40)) < 0.5)
    dense[0] = dense[1] + dense[2]
    dense[0, 0] += gap
    y = rng.normal(size=(20, 1))
    found = by_independent_rows(_rows(sparse.csr_array(dense), y, False), np.zeros(20), 1.0)
    if gap < 1e-8:
        assert found is None
    else:
        assert found.rank == 20
        np.testing.assert_allclose(found.coef, np.linalg.lstsq(dense, y)[0].T, rtol=1e-9)
    design = InMemory(sparse.csr_array(dense.T), rng.normal(size=(40, 1)))
    assert by_independent_columns(design, normal_equations(design, False), slice(None), 1.0) is None


def test_columns_in_a_relation_and_standard_errors():
    """Groups of one-hot columns add up to 1, and only contrasts within a group are determined."""
    rng = np.random.default_rng(5)
    n = 900
    groups = [sparse.csr_array((np.ones(n), rng.integers(k, size=n), np.arange(n + 1)), shape=(n, k)) for k in (9, 5)]
    X = sparse.hstack([*groups, sparse.csr_array(rng.normal(size=(n, 1)))]).tocsr()
    y = rng.normal(size=n)
    model = LinearRegression().fit(X, y)
    coef, rank = _reference(X.toarray(), y[:, None], np.ones(n), True)
    np.testing.assert_allclose(model.coef_, coef[0], rtol=0, atol=1e-10)
    assert model.solution_.rank == rank == 13
    np.testing.assert_array_equal(model.solution_.dependent, np.arange(14))
    other = LinearRegression(solver="qr").fit(X, y)
    np.testing.assert_allclose(model.summary().se, other.summary().se, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_dense_columns_in_any_units_with_all_levels_of_categories(monkeypatch, fit_intercept, weighted, offset):
    """By products of columns, without a factorisation of the rows; both against singular values."""
    rng = np.random.default_rng(2)
    levels = [np.eye(count)[rng.integers(0, count, 900)] for count in (3, 5, 8)]
    amounts = (offset * fit_intercept + rng.lognormal(size=(900, 4))) * [1e-3, 1.0, 1e2, 1e5]
    X = np.hstack([*levels, amounts, 1e4 * levels[0][:, :1] - amounts[:, 3:]])
    y = X @ (rng.normal(size=X.shape[1]) / X.std(axis=0)) + rng.normal(size=900)
    weight = rng.uniform(0.5, 2.0, 900) if weighted else None
    monkeypatch.setattr("hiperplano.data.in_memory._FEWEST_ROWS", 100)
    monkeypatch.setattr("hiperplano.data.in_memory._MOST_ROWS", 200)
    by_rows = LinearRegression(solver="qr", fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)

    def refuse(*_args, **_options):
        raise AssertionError("a factorisation of the rows")

    monkeypatch.setattr("hiperplano.solvers.least_squares.direct.factor_of_rows", refuse)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    coef, rank = _reference(X, y[:, None], np.ones(900) if weight is None else weight, fit_intercept)
    np.testing.assert_allclose(model.coef_, coef[0], rtol=1e-6, atol=1e-9)  # columns of 1e-3 beside some of 1e5
    assert model.solution_.rank == rank
    np.testing.assert_allclose(model.coef_, by_rows.coef_, rtol=1e-10, atol=1e-12)
    assert model.solution_.rank == by_rows.solution_.rank < X.shape[1]
    np.testing.assert_array_equal(model.solution_.dependent, by_rows.solution_.dependent)


def test_few_passes_correct_relations_and_coefficients_together(monkeypatch):
    passes, residuals = [], dependent._Residuals.__call__

    def counted(statistic, block):
        passes.append(len(block))
        return residuals(statistic, block)

    monkeypatch.setattr(dependent._Residuals, "__call__", counted)
    rng = np.random.default_rng(0)
    levels = [np.eye(count)[rng.integers(count, size=900)] for count in (3, 8)]
    X = np.hstack([rng.lognormal(size=(900, 4)) * [1e-3, 1.0, 1e2, 1e5], *levels])
    LinearRegression().fit(X, rng.normal(size=900))
    assert 1 <= len(passes) <= 4
