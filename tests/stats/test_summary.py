"""The table of a fit: against statsmodels, its shapes, its ways out, and when there is none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm

from hiperplano import LinearRegression, LogisticRegression, Ridge
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.stats.summary import column_text


def table(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 1e3, 1e-2] + [5.0, -1e4, 0.0]
    y = 4.0 + X @ [1.0, 2e-3, 30.0] + rng.normal(size=n)
    return X, y, rng.uniform(0.2, 3.0, n)


def assert_equals_statsmodels(found, fit):
    np.testing.assert_allclose(found.coef, fit.params, rtol=1e-8)
    np.testing.assert_allclose(found.se, fit.bse, rtol=1e-8)
    np.testing.assert_allclose(found.statistic, fit.tvalues, rtol=1e-8)
    np.testing.assert_allclose(found.p, fit.pvalues, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), fit.conf_int(0.05), rtol=1e-8)
    np.testing.assert_allclose(found.covariance, fit.cov_params(), rtol=1e-7, atol=1e-12)
    stats = found.stats
    assert stats["r2"] == pytest.approx(fit.rsquared, rel=1e-8)
    assert stats["adj_r2"] == pytest.approx(fit.rsquared_adj, rel=1e-8)
    assert stats["f"] == pytest.approx(fit.fvalue, rel=1e-8)
    assert stats["f_p"] == pytest.approx(fit.f_pvalue, rel=1e-8)
    assert stats["sigma"] == pytest.approx(np.sqrt(fit.scale), rel=1e-8)
    assert stats["loglik"] == pytest.approx(fit.llf, rel=1e-8)
    # statsmodels does not count the error variance as a parameter.
    assert stats["aic"] == pytest.approx(fit.aic + 2, rel=1e-8)
    assert stats["bic"] == pytest.approx(fit.bic + np.log(fit.nobs), rel=1e-8)


@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_equals_statsmodels(solver):
    X, y, _ = table()
    model = LinearRegression(solver=solver).fit(X, y)
    assert_equals_statsmodels(model.summary(), sm.OLS(y, sm.add_constant(X)).fit())


def test_weighted_equals_statsmodels():
    X, y, w = table()
    model = LinearRegression().fit(X, y, sample_weight=w)
    assert_equals_statsmodels(model.summary(), sm.WLS(y, sm.add_constant(X), weights=w).fit())


def test_without_intercept_equals_statsmodels():
    X, y, _ = table()
    model = LinearRegression(fit_intercept=False).fit(X, y)
    assert model.summary().names == ["x0", "x1", "x2"]
    assert_equals_statsmodels(model.summary(), sm.OLS(y, X).fit())


def test_rows_without_weight_do_not_count():
    X, y, w = table()
    w[::3] = 0.0
    kept = w > 0
    with_zeros, without = LinearRegression().fit(X, y, w), LinearRegression().fit(X[kept], y[kept], w[kept])
    assert with_zeros.summary().stats["n"] == kept.sum()
    np.testing.assert_allclose(with_zeros.summary().se, without.summary().se, rtol=1e-11)
    assert with_zeros.summary().stats == pytest.approx(without.summary().stats, rel=1e-11)


@pytest.mark.parametrize("factor", [1e-48, 1e-3, 1e48])
def test_the_unit_of_weights_changes_no_standard_error(factor):
    X, y, w = table()
    found, plain = LinearRegression().fit(X, y, w * factor).summary(), LinearRegression().fit(X, y, w).summary()
    np.testing.assert_allclose(found.se, plain.se, rtol=1e-12)
    assert found.stats["f"] == pytest.approx(plain.stats["f"], rel=1e-12)
    assert found.stats["loglik"] == pytest.approx(plain.stats["loglik"], rel=1e-9)


@pytest.mark.parametrize("scale", [1e95, 1e-95])
def test_the_unit_of_a_column_scales_its_standard_error(scale):
    X, y, _ = table()
    found, plain = LinearRegression().fit(X * scale, y).summary(), LinearRegression().fit(X, y).summary()
    np.testing.assert_allclose(found.se[1:] * scale, plain.se[1:], rtol=1e-11)
    np.testing.assert_allclose(found.statistic, plain.statistic, rtol=1e-10)


def test_ridge_freedom_is_the_trace_of_its_hat_matrix():
    X, y, w = table()
    X = np.column_stack([X, np.full(len(X), 7.0)])  # a column that does not vary has no freedom
    root = np.sqrt(w)[:, None]
    centred = root * (X - np.average(X, axis=0, weights=w))
    hat = centred @ np.linalg.solve(centred.T @ centred + 3.0 * np.eye(4), centred.T)
    found = Ridge(alpha=3.0).fit(X, y, w).summary()
    assert found.stats["effective_df"] == pytest.approx(np.trace(hat) + 1, rel=1e-9)
    inverse = np.linalg.inv(centred.T @ centred + 3.0 * np.eye(4))
    spread = inverse @ centred.T @ centred @ inverse * found.stats["sigma"] ** 2
    np.testing.assert_allclose(found.covariance[1:, 1:], spread, rtol=1e-8, atol=1e-14)
    assert np.isnan(found.p).all()
    assert "penalised" in found.notes[0]
    assert "f" not in found.stats


def test_coefficients_held_at_zero_have_no_tests():
    X, y, _ = table()
    found = LinearRegression(positive=True).fit(X, -y).summary()
    assert np.isnan(found.p).all()
    assert "f" not in found.stats
    assert "held at 0" in found.notes[0]


def test_a_constant_target_is_explained_by_nothing():
    X, _, _ = table()
    found = LinearRegression().fit(X, np.full(len(X), 2.5)).summary()
    np.testing.assert_array_equal(found.coef, [2.5, 0, 0, 0])
    assert found.stats["r2"] == 0.0
    assert found.stats["f"] == 0.0
    assert found.stats["f_p"] == 1.0


def test_several_targets_are_one_table_each():
    X, y, _ = table()
    both = LinearRegression().fit(X, np.column_stack([y, y**2]))
    found = both.summary()
    assert found.blocks == ["target 0", "target 1"]
    for k, target in enumerate([y, y**2]):
        single = LinearRegression().fit(X, target).summary()
        np.testing.assert_allclose(found.coef[k], single.coef, rtol=1e-12)
        np.testing.assert_allclose(found.se[k], single.se, rtol=1e-11)
        assert found.stats["aic"][k] == pytest.approx(single.stats["aic"], rel=1e-12)
    frame = found.to_pandas()
    assert frame.loc[("target 1", "x2"), "coef"] == found.coef[1, 3]
    assert found.to_polars()["block"].to_list() == ["target 0"] * 4 + ["target 1"] * 4


def test_names_come_from_the_table():
    X, y, _ = table()
    frame = pd.DataFrame(X, columns=["age", "income", "debt ratio"])
    found = LinearRegression().fit(frame, y).summary()
    assert found.names == ["intercept", "age", "income", "debt ratio"]
    assert list(found.to_pandas().index) == found.names
    assert isinstance(found.to_polars(), pl.DataFrame)
    assert found.to_polars()["name"].to_list() == found.names
    assert list(found.to_pandas().columns) == ["coef", "se", "t", "p", "low", "high"]


def test_text_holds_what_the_arrays_hold():
    X, y, _ = table()
    found = LinearRegression().fit(X, y).summary(0.9)
    text = str(found)
    assert text.splitlines()[0] == "LinearRegression: 80 rows, classical standard errors"
    assert "low 90%" in text
    for name, coef in zip(found.names, found.coef, strict=True):
        (line,) = [line for line in text.splitlines() if line.startswith(name)]
        assert f"{coef:.5g}" in line.split()
    assert f"r2 = {found.stats['r2']:.6g}" in text


def test_html_escapes_names():
    X, y, _ = table()
    frame = pd.DataFrame(X, columns=["a<b>", "c&d", "e"])
    html = LinearRegression().fit(frame, y).summary()._repr_html_()
    assert "<th>a&lt;b&gt;</th>" in html
    assert "c&amp;d" in html
    assert html.count("<tr>") == 5


@pytest.mark.parametrize("level", [0.0, -0.5, 1.5, np.nan, "95%", None])
def test_levels_outside_their_range_are_refused(level):
    X, y, _ = table()
    with pytest.raises(InvalidParameter, match="level"):
        LinearRegression().fit(X, y).summary(level)


def test_no_standard_errors_where_there_are_none():
    X, y, _ = table()
    with pytest.raises(NotAvailable, match="4 rows leave 0 degrees of freedom"):
        LinearRegression().fit(X[:4], y[:4]).summary()
    with pytest.raises(NotAvailable, match="conjugate gradients"):
        LinearRegression(solver="cg").fit(X, y).summary()
    with pytest.raises(NotAvailable, match="different penalties"):
        Ridge(alpha=[1.0, 2.0]).fit(X, np.column_stack([y, y])).summary()


def test_a_table_shows_itself():
    X, y, _ = table()
    model = LinearRegression().fit(X, y)
    assert repr(model.summary()) == str(model.summary())
    odds = LogisticRegression().fit(X, y > np.median(y)).summary()
    assert repr(odds) == str(odds)
    assert model.solution_.status in repr(model.solution_)
    assert "rank=3" in repr(model.solution_)
    assert f"<p>{model.solution_.status}</p>" in model.solution_._repr_html_()


def test_a_column_has_one_style():
    assert column_text("coef", np.array([523991.2, 73738.4, 0.79632, -12.0])) == ["523991", "73738", "0.79632", "-12"]
    assert column_text("coef", np.array([2.5e7, 3.0, 0.0])) == ["2.5000e+07", "3.0000e+00", "0"]
    assert column_text("se", np.array([1.2e-5, 0.5, np.nan])) == ["1.2000e-05", "5.0000e-01", "–"]
    assert column_text("coef", np.array([np.inf, 1.0])) == ["inf", "1"]
