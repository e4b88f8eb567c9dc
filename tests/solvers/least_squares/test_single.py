"""Products of float32 rows in float32, refined by gradients: the answers of the same rows in float64."""

import numpy as np
import pytest

from hiperplano import Ridge

N, D = 700, 150


def table(kind):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N, D))
    x = {
        "plain": x,
        "far": x + 100,
        "scales": x * np.logspace(-5, 5, D),
        "alike": 0.4 * x + rng.standard_normal((N, 1)),
        "too alike": 1e-4 * x + rng.standard_normal((N, 1)),
        "too large": x * 1e20,
        "constant": np.column_stack([x[:, 1:], np.full(N, 3.0)]),
    }[kind].astype(np.float32)
    return x, rng.standard_normal((N, 2)) + x[:, :2] / np.abs(x[:, :2]).max(), rng.uniform(0.5, 2, N)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["plain", "far", "scales", "alike", "too alike", "too large", "constant"])
def test_coefficients_are_those_of_float64(kind, fit_intercept):
    x, y, weight = table(kind)
    model = Ridge(alpha=1e-4 if kind == "too alike" else 0.1, fit_intercept=fit_intercept)
    wanted = model.fit(x.astype(np.float64), y, weight).solution_
    found = model.fit(x, y, weight).solution_
    difficult = kind in ("too alike", "too large") or (kind == "constant" and fit_intercept)
    assert ("float32" in found.method) is not (difficult or (kind == "far" and not fit_intercept))
    sizes = np.linalg.norm(wanted.coef / wanted.scale, axis=1, keepdims=True) if not difficult else 1.0
    scale = wanted.scale if not difficult else 1.0
    assert np.abs((found.coef - wanted.coef) / scale / sizes).max() < 1e-8  # those of the model are float32
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(found.intercept, wanted.intercept, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.rss, wanted.rss, rtol=1e-10)
    np.testing.assert_allclose(found.tss, wanted.tss, rtol=1e-10)


@pytest.mark.parametrize("spread", [0.05, 0.02])
def test_strongly_correlated_float32_columns_are_refined_to_the_rounding_of_float32(spread):
    """By the bound of rounding, a refinement step may leave up to a third of an error."""
    rng = np.random.default_rng(3)
    x = (spread * rng.standard_normal((N, D)) + rng.standard_normal((N, 1))).astype(np.float32)
    y = x[:, 0] - x[:, 1] + rng.standard_normal(N)
    found = Ridge(alpha=0.1).fit(x, y)
    assert found.solution_.method == "normal equations in float32, refined"
    rows = x - x.mean(axis=0, dtype=np.float64)
    stacked, right = np.vstack([rows, np.sqrt(0.1) * np.eye(D)]), np.append(y - y.mean(), np.zeros(D))
    wanted = np.linalg.lstsq(stacked, right)[0]
    np.testing.assert_allclose(found.solution_.coef[0], wanted, rtol=0, atol=6e-8 * np.abs(wanted).max())
    np.testing.assert_allclose(found.solution_.rss, np.sum((y - y.mean() - rows @ wanted) ** 2), rtol=1e-8)


def test_standard_errors_say_their_digits_and_gram_gives_all():
    x, y, _ = table("alike")
    wanted = Ridge(solver="gram").fit(x.astype(np.float64), y[:, 0]).summary().se
    summary = Ridge().fit(x, y[:, 0]).summary()
    np.testing.assert_allclose(summary.se, wanted, rtol=1e-4)
    assert "solver='gram'" in summary.notes[-1]
    np.testing.assert_allclose(Ridge(solver="gram").fit(x, y[:, 0]).summary().se, wanted, rtol=1e-10)


def test_an_intercept_that_cancels_takes_one_gradient_of_a_penalised_fit():
    rng = np.random.default_rng(0)
    x = 0.1 * rng.standard_normal((N, 40)) + rng.standard_normal((N, 1)) + 50
    y = x[:, 0] - x[:, 1] + 0.1 * rng.standard_normal(N)
    found = Ridge(alpha=1e-3).fit(x, y).solution_
    exact = Ridge(alpha=1e-3, solver="qr").fit(x, y).solution_
    assert found.method == "normal equations, refined"
    np.testing.assert_allclose(found.coef, exact.coef, rtol=0, atol=1e-11 * np.abs(exact.coef).max())
    np.testing.assert_allclose(found.intercept, exact.intercept, rtol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["plain", "far", "scales", "alike", "too alike", "too large"])
def test_float64_rows_multiplied_in_float32_lose_no_digits(kind, fit_intercept, monkeypatch):
    monkeypatch.setattr("hiperplano.solvers.cost._ESTIMATE_GAIN", 0.0)  # otherwise it takes more rows than a test needs
    rng = np.random.default_rng(1)
    n, d = 1500, 140
    x = rng.standard_normal((n, d))
    x = {
        "plain": x,
        "far": x + 1e4 + rng.uniform(size=d),  # means that float32 cannot hold to the digits of a standard deviation
        "scales": x * np.logspace(-5, 5, d),
        "alike": 0.4 * x + rng.standard_normal((n, 1)),
        "too alike": 1e-3 * x + rng.standard_normal((n, 1)),
        "too large": x * 1e20,
    }[kind]
    y, weight, alpha = x[:, 0] / x[:, 0].std() + rng.standard_normal(n), rng.uniform(0.5, 2, n), 0.1
    found = Ridge(alpha, fit_intercept=fit_intercept).fit(x, y, weight).solution_
    difficult = kind in ("too alike", "too large") or (kind == "far" and not fit_intercept)
    assert ("float32" in found.method) is not difficult
    apart = x - np.average(x, axis=0, weights=weight) * fit_intercept
    size = np.sqrt(weight @ np.square(apart))
    rows = np.sqrt(weight)[:, None] * apart / size
    right = np.sqrt(weight) * (y - np.average(y, weights=weight) * fit_intercept)
    below = np.diag(np.sqrt(alpha) / size)
    turned, upper = np.linalg.qr(np.vstack([rows, below]))
    z = np.linalg.solve(upper, turned[:n].T @ right)
    assert np.linalg.norm(found.coef[0] * size - z) < 2e-10 * np.linalg.norm(z)
    if fit_intercept:
        level = np.average(y, weights=weight) - np.average(x, axis=0, weights=weight) @ (z / size)
        np.testing.assert_allclose(found.intercept[0], level, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_correlated_columns_with_a_penalty_need_no_orthogonal_factorisation(dtype, fit_intercept):
    rng = np.random.default_rng(2)
    x = (0.02 * rng.standard_normal((N, D)) + rng.standard_normal((N, 1))).astype(dtype)
    y = x[:, 0] - x[:, 1] + rng.standard_normal(N) + 5
    found = Ridge(alpha=0.01, fit_intercept=fit_intercept).fit(x, y).solution_
    assert found.condition > 1e3
    assert "normal equations" in found.method
    assert "refined" in found.method
    rows = x.astype(np.float64) - (x.mean(axis=0, dtype=np.float64) if fit_intercept else 0.0)
    stacked = np.vstack([rows, 0.1 * np.eye(D)])
    wanted = np.linalg.lstsq(stacked, np.append(y - (y.mean() if fit_intercept else 0.0), np.zeros(D)))[0]
    np.testing.assert_allclose(found.coef[0], wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
    exact = Ridge(alpha=0.01, fit_intercept=fit_intercept, solver="gram").fit(x, y).solution_
    assert "orthogonal" in exact.method  # which standard errors need
    np.testing.assert_allclose(found.intercept, exact.intercept, rtol=1e-9)


@pytest.mark.parametrize(("alpha", "steps"), [(1.0, False), (1e6, True)])
def test_steps_on_float32_rows_are_not_tried_where_a_factorisation_is_expected_to_be_faster(alpha, steps):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1600, 520)).astype(np.float32)
    y = x[:, 0] + rng.standard_normal(1600)
    found = Ridge(alpha=alpha).fit(x, y).solution_
    assert (found.method == "conjugate gradients") is steps
    assert ("float32" in found.method) is not steps
    centred = x - x.mean(axis=0, dtype=np.float64)
    wanted = np.linalg.solve(centred.T @ centred + alpha * np.eye(520), centred.T @ (y - y.mean()))
    np.testing.assert_allclose(found.coef[0], wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
