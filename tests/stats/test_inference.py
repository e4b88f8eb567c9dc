"""Standard errors against statsmodels and R."""

import numpy as np
import pytest
import statsmodels.api as sm

from hiperplano import LeastSquaresClassifier, LinearRegression, Ridge, inference
from hiperplano.errors import InvalidParameter, NotAvailable

KINDS = ["classical", "HC0", "HC1", "HC2", "HC3"]


def table(n=80, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.arange(d) + 3.0
    y = X @ (1.0 / 10.0 ** np.arange(d)) + rng.normal(size=n) * np.abs(X[:, 0])
    return X, y


@pytest.mark.parametrize("cov", KINDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_statsmodels(cov, fit_intercept, weighted):
    X, y = table()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    ours = inference(
        LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight), X, y, cov=cov, sample_weight=weight
    )
    kind = "nonrobust" if cov == "classical" else cov
    columns = sm.add_constant(X) if fit_intercept else X
    theirs = sm.WLS(y, columns, weights=1.0 if weight is None else weight).fit(cov_type=kind, use_t=True)
    np.testing.assert_allclose(ours.coef, theirs.params, rtol=1e-8)
    np.testing.assert_allclose(ours.se, theirs.bse, rtol=1e-8)
    np.testing.assert_allclose(ours.statistic, theirs.tvalues, rtol=1e-8)
    np.testing.assert_allclose(ours.p, theirs.pvalues, rtol=1e-7)
    np.testing.assert_allclose(np.column_stack([ours.low, ours.high]), theirs.conf_int(), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=1e-7)
    np.testing.assert_allclose(ours.stats["f"], theirs.fvalue, rtol=1e-8)
    np.testing.assert_allclose(ours.stats["f_p"], theirs.f_pvalue, rtol=1e-6)
    for name, value in {"r2": theirs.rsquared, "adj_r2": theirs.rsquared_adj, "loglik": theirs.llf}.items():
        np.testing.assert_allclose(ours.stats[name], value, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_classical_inference_is_the_summary(weighted):
    X, y = table()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    model = LinearRegression().fit(X, y, weight)
    here, there = inference(model, X, y, sample_weight=weight), model.summary()
    np.testing.assert_allclose(here.se, there.se, rtol=1e-12)
    np.testing.assert_allclose(here.p, there.p, rtol=1e-10)


def test_several_targets_stand_in_blocks():
    X, y = table()
    both = np.column_stack([y, -2 * y + X[:, 1]])
    model = LinearRegression().fit(X, both)
    together = inference(model, X, both, cov="HC3")
    assert together.coef.shape == (2, 5)
    for k in range(2):
        alone = inference(LinearRegression().fit(X, both[:, k]), X, both[:, k], cov="HC3")
        np.testing.assert_allclose(together.se[k], alone.se, rtol=1e-10)
        np.testing.assert_allclose(together.stats["f"][k], alone.stats["f"], rtol=1e-9)


def test_heteroscedastic_errors_are_covered_by_robust_intervals_only():
    rng = np.random.default_rng(0)
    covered = dict.fromkeys(("classical", "HC3"), 0)
    for _ in range(300):
        x = rng.exponential(size=60)
        y = 1.0 + 2.0 * x + x**1.5 * rng.normal(size=60)
        model = LinearRegression().fit(x[:, None], y)
        for kind in covered:
            table_ = inference(model, x[:, None], y, cov=kind)
            covered[kind] += table_.low[1] < 2.0 < table_.high[1]
    # 149 ± 9 and 276 ± 4 over 24 seeds.
    assert covered["classical"] < 200
    assert covered["HC3"] > 255


def test_a_penalised_fit_says_that_its_p_values_do_not_hold():
    X, y = table()
    found = inference(Ridge(10.0).fit(X, y), X, y)
    assert np.isnan(found.p).all()
    assert "penalised" in found.notes[0]
    assert 0 < found.stats["effective_df"] < 5


def test_ridge_standard_errors_are_the_spread_over_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    coefs = []
    for _ in range(1500):
        y = X @ [1.0, 0.5, -1.0] + rng.normal(size=40)
        model = Ridge(20.0).fit(X, y)
        coefs.append(model.coef_)
    found = model.summary()
    np.testing.assert_allclose(np.std(coefs, axis=0), found.se[1:] / found.stats["sigma"], rtol=0.06)


def test_refusals():
    X, y = table()
    model = LinearRegression().fit(X, y)
    with pytest.raises(InvalidParameter, match="cov='HC9'"):
        inference(model, X, y, cov="HC9")
    with pytest.raises(ValueError, match="features"):
        inference(model, X[:, :2], y)
    with pytest.raises(NotAvailable, match="LeastSquaresClassifier"):
        inference(LeastSquaresClassifier().fit(X, y > 0), X, y > 0)
    doubled = np.column_stack([X, X[:, 1]])
    with pytest.raises(NotAvailable, match="x1"):
        inference(LinearRegression().fit(doubled, y), doubled, y)
    with pytest.raises(NotAvailable, match="degrees of freedom"):
        LinearRegression().fit(X[:5], y[:5]).summary()
