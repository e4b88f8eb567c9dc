"""Few rows in float32: the same answers as in float64, or none."""

import numpy as np
import pytest

from hiperplano import Ridge
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.centred_rows import CentredRows, centred_rows
from hiperplano.linalg.products import row_products
from hiperplano.linalg.refined_products import SingleRows, solve_refined, too_few_digits
from tests.exact import Problem


def solved(x, right, alpha, free):
    single = SingleRows(x, np.square(x).sum())
    return solve_refined(single.products, single.unit, lambda shares: x @ (x.T @ shares), right, alpha, free, 1e-12)


def rows(scale, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((60, 90)) * scale, rng.standard_normal((60, 2)), rng.standard_normal(60) * scale


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30], ids=str)
def test_residuals_bring_back_the_digits(scale):
    x, right, free = rows(scale)
    alpha = 0.01 * scale**2
    shares, reciprocal = solved(x, right, alpha, free)[:2]
    matrix = x @ x.T + alpha * np.eye(len(x)) + np.outer(free, free)
    np.testing.assert_allclose(matrix @ shares, right, rtol=0, atol=1e-9)
    assert 1e-4 < reciprocal < 1.0


@pytest.mark.parametrize("alpha", [1.0, 1e4])
def test_long_columns_keep_their_digits_beside_short_ones(alpha):
    """Their coefficients are sums of rows that cancel: nine digits without steps of refinement."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((12, 16)) * np.logspace(0, 5, 16)
    y = X @ (1.0 / np.logspace(0, 5, 16)) + rng.standard_normal(12)
    model, (coef, _) = Ridge(alpha=alpha).fit(X, y), Problem(X, y, alpha=alpha).solve()
    assert model.solution_.method == "normal equations of the rows"
    spread = X.std(axis=0)
    np.testing.assert_allclose(model.coef_ * spread, coef * spread, rtol=0, atol=1e-13 * np.abs(coef * spread).max())


def test_rows_that_float32_cannot_tell_apart_have_no_answer():
    x, right, free = rows(1.0)
    x[1] = x[0] * (1 + 1e-9)
    assert solved(x, right, 1e-9, free) is None


def test_products_of_rows_have_the_digits_of_float32():
    x, right, _ = rows(1e30)
    found, wanted = SingleRows(x, np.square(x).sum()).square_product(right[:, 0]), x @ (x.T @ right[:, 0])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("shape", [(600, 30), (60, 3_000)], ids=["panels of rows", "parts of columns"])
def test_shared_products_are_the_products(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(row_products(x), x @ x.T, rtol=0, atol=3e-14 * x.shape[1])


@pytest.mark.parametrize(
    ("alpha", "method"), [(1e4, "conjugate gradients in the span of the rows"), (1e-3, "normal equations of the rows")]
)
def test_ridge_of_few_rows_keeps_ten_digits(alpha, method):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 700)) + rng.standard_normal((400, 1))
    y, weight = X[:, 0] + rng.standard_normal(400), rng.uniform(0.5, 2.0, 400)
    solution = Ridge(alpha=alpha).fit(X, y, sample_weight=weight).solution_
    mean, level, root = weight @ X / weight.sum(), weight @ y / weight.sum(), np.sqrt(weight)
    centred = (X - mean) * root[:, None]
    coef = centred.T @ np.linalg.solve(centred @ centred.T + alpha * np.eye(400), (y - level) * root)
    np.testing.assert_allclose(solution.coef[0], coef, rtol=0, atol=1e-10 * np.abs(coef).max())
    assert solution.intercept[0] == pytest.approx(level - mean @ coef, abs=1e-10)
    assert str(solution.method) == method


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_columns_with_much_in_common_are_refined_from_float32(alpha, monkeypatch):
    """The condition that LAPACK tells of their products says too much by far: steps show that float32 will do."""
    rng = np.random.default_rng(2)
    X = 0.3 * rng.standard_normal((300, 500)) + rng.standard_normal((300, 1))
    y = X @ rng.standard_normal(500) + rng.standard_normal(300)
    apart, level = X - X.mean(axis=0), y - y.mean()
    coef = apart.T @ np.linalg.solve(apart @ apart.T + alpha * np.eye(300), level)
    in_doubles = []
    products = CentredRows.products.func
    monkeypatch.setattr(CentredRows, "products", property(lambda self: in_doubles.append(1) or products(self)))
    found = Ridge(alpha).fit(X, y)
    assert found.solution_.method == "normal equations of the rows"
    assert not in_doubles
    np.testing.assert_allclose(found.coef_, coef, rtol=0, atol=1e-10 * np.abs(coef).max())


def test_a_trial_finds_what_the_condition_does_not_promise_or_ends_soon():
    x, right, free = rows(1.0)
    x[1:30] = x[0] + 0.02 * x[1:30]
    single, seen = SingleRows(x, np.square(x).sum()), []

    def product(shares):
        seen.append(1)
        return x @ (x.T @ shares)

    def tried(alpha, trial):
        seen.clear()
        return solve_refined(single.products, single.unit, product, right, alpha, free, 1e-11, trial=trial)

    assert tried(1e-3, trial=False) is None
    assert not seen
    found, matrix = tried(1e-3, trial=True), x @ x.T + 1e-3 * np.eye(len(x)) + np.outer(free, free)
    np.testing.assert_allclose(
        found.shares, np.linalg.solve(matrix, right), rtol=0, atol=1e-7 * np.abs(found.shares).max()
    )
    x[1:30] = x[0] + 0.4 * (x[1:30] - x[0])
    single = SingleRows(x, np.square(x).sum())
    assert tried(1e-6, trial=True) is None
    assert len(seen) <= 2


@pytest.mark.parametrize("seed", range(12))
def test_lengths_of_columns_tell_of_too_few_digits_only_where_products_lack_them(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 120))
    d = n + int(rng.choice([2, 10, 200]))
    X = rng.normal(size=(n, d)) * np.exp(rng.uniform(0, np.log(rng.choice([1.0, 1e2, 1e4])), d))
    rows = centred_rows(InMemory(X, X[:, :1].copy()), True)
    told = 0
    for alpha in 10.0 ** np.arange(-6.0, 7.0, 2.0):
        single = SingleRows(rows.x, rows.sum_of_squares)
        free = np.sqrt(rows.sum_of_squares / n) * rows.free_direction
        right = (single.products, single.unit, rows.square_products, rows.right, alpha, free, 1e-11)
        if too_few_digits(rows, np.array([alpha])):
            told += 1
            assert solve_refined(*right, rows.alike_columns) is None
    if d < n + 100 and float(rows.length.max()) > 1e3 * float(rows.length.min()):
        assert told
