"""Residual analysis against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.diagnostic import het_breuschpagan
from statsmodels.stats.outliers_influence import variance_inflation_factor
from statsmodels.stats.stattools import durbin_watson

from hiperplano import LinearRegression, Ridge, diagnose
from hiperplano.errors import InvalidParameter, NotAvailable


def table(n=70, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 50.0, 1e4, 1e-3] + [0.0, 9.0, 1e5, 1.0]
    y = X @ [1.0, 0.02, 1e-4, 1e3] + rng.normal(size=n)
    return X, y


def test_equals_statsmodels():
    X, y = table()
    found = diagnose(LinearRegression().fit(X, y), X, y)
    columns = sm.add_constant(X)
    fit = sm.OLS(y, columns).fit()
    influence = fit.get_influence()
    np.testing.assert_allclose(found.residuals, fit.resid, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.leverage, influence.hat_matrix_diag, rtol=1e-8)
    np.testing.assert_allclose(found.standardised, influence.resid_studentized_internal, rtol=1e-7)
    np.testing.assert_allclose(found.studentised, influence.resid_studentized_external, rtol=1e-7)
    np.testing.assert_allclose(found.cooks, influence.cooks_distance[0], rtol=1e-7)
    np.testing.assert_allclose(found.durbin_watson, durbin_watson(fit.resid), rtol=1e-8)
    statistic, p, _, _ = het_breuschpagan(fit.resid, columns)
    np.testing.assert_allclose([found.breusch_pagan, found.breusch_pagan_p], [statistic, p], rtol=1e-7)
    theirs = [variance_inflation_factor(columns, j) for j in range(1, 5)]
    np.testing.assert_allclose(found.vif, theirs, rtol=1e-8)


def test_condition_number_is_that_of_unit_columns():
    X, y = table()
    centred = X - X.mean(axis=0)
    expected = np.linalg.cond(centred / np.linalg.norm(centred, axis=0))
    np.testing.assert_allclose(diagnose(LinearRegression().fit(X, y), X, y).condition_number, expected, rtol=1e-9)


def test_studentised_residual_is_the_t_value_of_a_row_of_its_own():
    X, y = table(30)
    found = diagnose(LinearRegression().fit(X, y), X, y)
    for row in (0, 11, 29):
        own = np.column_stack([X, np.arange(30) == row])
        assert LinearRegression().fit(own, y).summary().statistic[-1] == pytest.approx(found.studentised[row], rel=1e-9)


def test_weighted_rows_equal_transformed_rows():
    X, y = table()
    weight = np.random.default_rng(2).uniform(0.2, 4.0, len(y))
    found = diagnose(LinearRegression().fit(X, y, weight), X, y, sample_weight=weight)
    root = np.sqrt(weight)
    influence = sm.OLS(y * root, sm.add_constant(X) * root[:, None]).fit().get_influence()
    np.testing.assert_allclose(found.leverage, influence.hat_matrix_diag, rtol=1e-8)
    np.testing.assert_allclose(found.studentised, influence.resid_studentized_external, rtol=1e-7)


def test_leverage_of_ridge_is_the_diagonal_of_its_hat_matrix():
    X, y = table()
    found = diagnose(Ridge(5.0).fit(X, y), X, y)
    centred = X - X.mean(axis=0)
    hat = centred @ np.linalg.solve(centred.T @ centred + 5.0 * np.eye(4), centred.T) + 1 / len(y)
    np.testing.assert_allclose(found.leverage, hat.diagonal(), rtol=1e-7)


def test_sentences_name_the_row_and_the_column():
    X, y = table()
    y[17] += 40.0
    X = np.column_stack([X, X[:, 1] + 1e-3 * np.random.default_rng(0).normal(size=len(y))])
    text = str(diagnose(LinearRegression().fit(X, y), X, y))
    assert "row 17" in text
    assert "poorly determined" in text
    assert "'x1'" in text or "'x4'" in text


def test_trends_and_unequal_variance_are_seen():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 200)
    drift = np.cumsum(rng.normal(size=200))
    assert "neighbouring rows have similar" in str(
        diagnose(LinearRegression().fit(x[:, None], drift), x[:, None], drift)
    )
    fan = x * rng.normal(size=200)
    assert "HC3" in str(diagnose(LinearRegression().fit(x[:, None], fan), x[:, None], fan))


def test_html_has_a_row_for_each_finding():
    X, y = table()
    found = diagnose(LinearRegression().fit(X, y), X, y)
    assert found._repr_html_().count("<tr>") == len(found.findings) == 7


def test_refusals():
    X, y = table()
    with pytest.raises(InvalidParameter, match="2 targets"):
        diagnose(LinearRegression().fit(X, np.column_stack([y, y])), X, np.column_stack([y, y]))
    with pytest.raises(NotAvailable, match="degrees of freedom"):
        diagnose(LinearRegression().fit(X[:6], y[:6]), X[:6], y[:6])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.01, 5.0, 1e4])
def test_ridge_without_a_row_equals_a_refit(alpha, fit_intercept, weighted):
    """Hat matrices written out, and every row left out in turn."""
    rng = np.random.default_rng(3)
    n, d = 25, 4
    X = rng.normal(size=(n, d)) * [1.0, 10.0, 0.1, 3.0] + 2.0
    y = X @ [1.0, -0.2, 4.0, 0.0] + rng.normal(size=n) + 1.0
    weight = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)

    def hat(rows, w):
        """Predictions at all rows from the targets of some."""
        at, here = (np.column_stack([np.ones(len(each)), each])[:, 1 - fit_intercept :] for each in (X, X[rows]))
        penalty = alpha * np.diag(np.arange(d + fit_intercept) >= fit_intercept)
        return at @ np.linalg.solve(here.T @ (w[rows, None] * here) + penalty, here.T * w[rows])

    model = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y, weight if weighted else None)
    found = diagnose(model, X, y, sample_weight=weight if weighted else None)
    everything = np.arange(n)
    whole = hat(everything, weight)
    root, residual = np.sqrt(weight), y - whole @ y
    variance = np.sum(weight * residual**2) / (n - np.trace(whole))
    left = root[:, None] * (np.eye(n) - whole) / root  # of targets with equal variances
    np.testing.assert_allclose(
        found.standardised, root * residual / np.sqrt(variance * np.square(left).sum(axis=1)), rtol=1e-9
    )
    for i in range(n):
        others = everything != i
        part = hat(others, weight)
        without = y - part @ y[others]
        df = n - 1 - np.trace(part[others])
        sigma = np.sqrt(np.sum(weight[others] * without[others] ** 2) / df)
        spread = 1.0 / weight[i] + np.sum(part[i] ** 2 / weight[others])
        np.testing.assert_allclose(found.studentised[i], without[i] / (sigma * np.sqrt(spread)), rtol=1e-8)
        moved = weight @ np.square(whole @ y - part @ y[others])
        np.testing.assert_allclose(found.cooks[i], moved / (np.trace(whole) * variance), rtol=1e-8)


def test_rows_above_twice_the_mean_leverage_are_counted():
    """One column through the origin: the leverage of a row is x²/Σx², and the mean of ten is 1/10."""
    X, y = np.sqrt([[5.0], [7.0], *[[1.0]] * 8]), np.arange(10.0)  # leverages 0.25, 0.35 and 0.05
    found = diagnose(LinearRegression(fit_intercept=False).fit(X, y), X, y)
    (leverage,) = [finding for finding in found.findings if finding.name == "leverage"]
    assert leverage.value == pytest.approx(0.35)
    assert "row 1 has the largest leverage" in leverage.sentence
    assert "2 of 10 rows have more than twice the mean, 0.2:" in leverage.sentence


def test_rows_without_weight_keep_their_places():
    X, y = np.random.default_rng(5).normal(size=(2, 30, 2))
    y = y[:, 0]
    weight = np.ones(30)
    weight[[0, 7]] = 0.0
    kept = weight > 0
    model = LinearRegression().fit(X, y, weight)
    found, without = diagnose(model, X, y, sample_weight=weight), diagnose(model, X[kept], y[kept])
    for name in ("residuals", "leverage", "standardised", "studentised", "cooks"):
        assert np.isnan(getattr(found, name)[~kept]).all()
        np.testing.assert_allclose(getattr(found, name)[kept], getattr(without, name), rtol=1e-12)
    outlier = int(np.nanargmax(np.abs(found.studentised)))
    assert f"row {outlier};" in found.findings[0].sentence
