"""R 4.2.2 on its own tables: lm's summary and MASS::lm.ridge."""

import numpy as np
import pytest

from hiperplano import LinearRegression, Ridge, diagnose, inference
from tests.golden import r_lm, r_ridge

TABLES = ("longley", "mtcars")
R_NAMES = {"r2": "r2", "adj_r2": "adj_r2", "f": "F", "f_p": "F_p", "sigma": "sigma", "loglik": "loglik", "aic": "AIC"}
R_NAMES |= {"bic": "BIC", "df": "df_resid", "n": "n"}


@pytest.fixture(params=TABLES)
def case(request):
    return r_lm(request.param)


@pytest.fixture
def model(case):
    return LinearRegression().fit(case.x, case.y)


@pytest.mark.parametrize(("ours", "theirs"), [("coef", "coef"), ("se", "se"), ("statistic", "t"), ("p", "p")])
def test_coefficients(case, model, ours, theirs):
    np.testing.assert_allclose(getattr(model.summary(), ours), case.said[theirs], rtol=1e-9)


@pytest.mark.parametrize(("ours", "theirs"), R_NAMES.items())
def test_numbers_about_the_fit(case, model, ours, theirs):
    assert model.summary().stats[ours] == pytest.approx(case.said[theirs], rel=1e-9)


def test_sum_of_squares_and_predictions(case, model):
    assert model.solution_.rss == pytest.approx(case.said["rss"], rel=1e-10)
    np.testing.assert_allclose(model.predict(case.x), case.said["fitted"], rtol=1e-11)


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_confidence_intervals(case, model, level):
    found = model.summary(level)
    theirs = np.array(case.said[f"confint{100 * level:.0f}"])
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), theirs, rtol=1e-9)


def test_covariance(case, model):
    np.testing.assert_allclose(model.summary().covariance, case.said["vcov"], rtol=1e-8)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_covariances(case, model, kind):
    """R's own are products of nearly singular matrices: against 60 digits, 2e-8 off on longley (ours 2e-13)."""
    found = inference(model, case.x, case.y, cov=kind)
    np.testing.assert_allclose(found.se, case.said["hc"][kind]["se"], rtol=1e-7)
    np.testing.assert_allclose(found.covariance, case.said["hc"][kind]["vcov"], rtol=1e-6)


def test_residual_analysis(case, model):
    found = diagnose(model, case.x, case.y)
    pairs = {"residuals": "resid", "leverage": "hat", "standardised": "rstandard", "studentised": "rstudent"}
    pairs |= {"cooks": "cooks", "vif": "vif", "durbin_watson": "durbin_watson"}
    for ours, theirs in pairs.items():
        np.testing.assert_allclose(getattr(found, ours), case.said[theirs], rtol=1e-7, atol=1e-12, err_msg=ours)
    said = case.said["breusch_pagan"]
    assert found.breusch_pagan == pytest.approx(said["studentized_stat"], rel=1e-8)
    assert found.breusch_pagan_p == pytest.approx(said["p"], rel=1e-8)


@pytest.mark.parametrize("position", range(8))
def test_ridge(position):
    """lm.ridge scales columns by √mean((x − mean)²), and gives coefficients in both units."""
    case, said = r_lm("longley"), r_ridge()
    scaled = (case.x - case.x.mean(axis=0)) / said["scales"]
    strength = said["lambda"][position]
    model = Ridge(alpha=strength).fit(scaled, case.y)
    np.testing.assert_allclose(model.coef_, said["coef_scaled"][position], rtol=1e-9)
    own = model.coef_ / said["scales"]
    np.testing.assert_allclose(own, said["coef_orig"][position][1:], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_ - own @ case.x.mean(axis=0), said["coef_orig"][position][0], rtol=1e-9)
    freedom = model.summary().stats["effective_df"] if strength else 7
    # GCV counts the intercept's degree of freedom as lm.ridge does: not at all.
    assert said["GCV"][position] == pytest.approx(model.solution_.rss[0] / (16 - (freedom - 1)) ** 2, rel=1e-8)
