"""R's glm, nnet::multinom and brglm2 on data everybody knows, and 40-digit arithmetic where R is not exact.

R takes the covariance of a glm from the weights of its last step but one, so that it is right to about 1e-7; with
40 digits one sees that ours is right to 1e-9 and better.
"""

from functools import cache

import numpy as np
import pandas
import pytest
from scipy.special import chdtri
from sklearn.datasets import load_iris

from hiperplano import LogisticRegression, inference, likelihood_ratio
from tests.exact_logistic import maximum_likelihood
from tests.golden import logistf, r_glm

GLMS = ["glm_mtcars", "glm_birthwt"]
SOLVERS = ["auto", "newton", "lbfgs"]


def fit(name, **parameters):
    data = r_glm(name)
    return data, LogisticRegression(C=np.inf, **parameters).fit(pandas.DataFrame(data.x, columns=data.columns), data.y)


@cache
def exact(name):
    data = r_glm(name)
    return maximum_likelihood(data.x, data.y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", GLMS)
def test_summary_of_a_glm(name, solver):
    data, model = fit(name, solver=solver)
    found, said = model.summary(), data.said
    assert found.names == ["intercept", *data.columns]
    np.testing.assert_allclose(found.coef, said["coef"], rtol=1e-8)
    for ours, theirs in (("se", "se"), ("statistic", "z"), ("p", "p"), ("odds_ratio", "odds_ratio")):
        np.testing.assert_allclose(getattr(found, ours), said[theirs], rtol=2e-6)
    np.testing.assert_allclose(found.covariance, said["vcov"], rtol=5e-6)
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), said["confint95_wald"], rtol=2e-6)
    np.testing.assert_allclose(found.odds_low, np.exp(found.low), rtol=1e-15)
    np.testing.assert_allclose(found.odds_high, np.exp(found.high), rtol=1e-15)
    names = {"loglik": "loglik", "deviance": "deviance", "null_deviance": "null_deviance", "aic": "AIC", "bic": "BIC"}
    names |= {"lr": "LR_chi2", "lr_p": "LR_p", "mcfadden_r2": "mcfadden_r2"}
    for ours, theirs in names.items():
        np.testing.assert_allclose(found.stats[ours], said[theirs], rtol=1e-9)
    assert found.statistic_name == "z"
    assert not found.notes


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", GLMS)
def test_against_forty_digits(name, solver):
    data, model = fit(name, solver=solver)
    coef, covariance, sandwich, loglik = exact(name)
    found = model.summary()
    np.testing.assert_allclose(found.coef, coef, rtol=1e-10)
    np.testing.assert_allclose(found.se, np.sqrt(np.diag(covariance)), rtol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-8)
    np.testing.assert_allclose(found.stats["loglik"], loglik, rtol=1e-13)
    robust = inference(model, pandas.DataFrame(data.x, columns=data.columns), data.y, cov="HC0")
    np.testing.assert_allclose(robust.se, np.sqrt(np.diag(sandwich)), rtol=1e-9)


@pytest.mark.parametrize("name", GLMS)
def test_where_r_is_not_exact(name):
    """The differences to R's standard errors are R's."""
    data, model = fit(name)
    true = np.sqrt(np.diag(exact(name)[1]))
    ours, theirs = model.summary().se, np.array(data.said["se"])
    assert np.abs(ours / true - 1).max() < 1e-3 * np.abs(theirs / true - 1).max()


@pytest.mark.parametrize("cov", ["HC0", "HC1"])
@pytest.mark.parametrize("name", GLMS)
def test_robust_covariances(name, cov):
    data, model = fit(name)
    found = inference(model, pandas.DataFrame(data.x, columns=data.columns), data.y, cov=cov)
    np.testing.assert_allclose(found.se, data.said["hc"][cov]["se"], rtol=2e-6)
    np.testing.assert_allclose(found.covariance, data.said["hc"][cov]["vcov"], rtol=2e-5)
    assert cov in found.title


@pytest.mark.parametrize("name", GLMS)
def test_dropping_terms(name):
    data, large = fit(name)
    table = pandas.DataFrame(data.x, columns=data.columns)
    said = data.said["drop1"]
    for term, df, statistic, p in zip(said["term"], said["df"], said["LRT"], said["p"], strict=True):
        rest = [column for column in data.columns if column.rstrip("23") != term]
        small = LogisticRegression(C=np.inf).fit(table[rest], data.y)
        found = likelihood_ratio(small, large, table, data.y)
        assert found.df == df
        np.testing.assert_allclose([found.statistic, found.p], [statistic, p], rtol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_summary_of_a_multinomial_model(solver):
    data, model = fit("multinom_birthwt", solver=solver)
    found, said = model.summary(), data.said
    assert found.blocks == ["2 against 1", "3 against 1"]
    np.testing.assert_allclose(found.coef, said["coef"], rtol=1e-8)
    for ours, theirs in (("se", "se"), ("statistic", "z"), ("p", "p")):
        np.testing.assert_allclose(getattr(found, ours), said[theirs], rtol=1e-7)
    np.testing.assert_allclose(found.covariance, said["vcov"], rtol=1e-7)
    expected = {"loglik": "loglik", "deviance": "deviance", "aic": "AIC", "lr": "LR"}
    for ours, theirs in expected.items():
        np.testing.assert_allclose(found.stats[ours], said[theirs], rtol=1e-10)
    np.testing.assert_allclose(found.stats["null_deviance"], -2 * said["null_loglik"], rtol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(pandas.DataFrame(data.x[:10], columns=data.columns)), said["prob_first10"], rtol=1e-7
    )
    coef, covariance, _, loglik = exact("multinom_birthwt")
    np.testing.assert_allclose(found.coef.ravel(), coef, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-8)
    np.testing.assert_allclose(found.stats["loglik"], loglik, rtol=1e-13)


def test_iris_made_overlapping():
    """By 40 digits: every seventh flower has the name of the next species, so that no two are separated."""
    X, y = load_iris(return_X_y=True)
    y[::7] = (y[::7] + 1) % 3
    coef, covariance, _, loglik = maximum_likelihood(X, y)
    found = LogisticRegression(C=np.inf).fit(X, y).summary()
    np.testing.assert_allclose(found.coef.ravel(), coef, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-7)
    np.testing.assert_allclose(found.stats["loglik"], loglik, rtol=1e-13)


@pytest.mark.parametrize("name", ["firth_endometrial", "firth_separated_2d"])
def test_firth(name):
    data = r_glm(name)
    model = LogisticRegression(firth=True).fit(data.x, data.y)
    found, said = model.summary(), data.said
    np.testing.assert_allclose(found.coef, said["coef"], rtol=1e-7)
    np.testing.assert_allclose(found.se, said["se"], rtol=1e-6)
    np.testing.assert_allclose(found.statistic, said["z"], rtol=1e-6)
    np.testing.assert_allclose(found.covariance, said["vcov"], rtol=2e-6)
    np.testing.assert_allclose(model.predict_proba(data.x)[:, 1], said["fitted"], rtol=1e-6)
    np.testing.assert_allclose(model.solution_.penalised_loglik, said["penalized_loglik"], rtol=1e-9)


@pytest.mark.parametrize("name", ["sex2", "endometrial"])
def test_profile_intervals_of_logistf(name):
    data = logistf(name)
    found = LogisticRegression(firth=True).fit(data.x, data.y, data.said.get("count")).summary()
    for ours, theirs in (("coef", "coef"), ("low", "low"), ("high", "high")):
        np.testing.assert_allclose(getattr(found, ours), data.said[theirs], rtol=2e-7, atol=2e-8)  # 7 digits recorded
    if "chi_square" in data.said:
        np.testing.assert_allclose(chdtri(1, found.p), data.said["chi_square"], atol=0.005)
