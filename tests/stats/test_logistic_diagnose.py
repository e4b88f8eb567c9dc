"""Residual analysis of logistic models, against statsmodels and published numbers."""

import numpy as np
import pandas
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

from hiperplano import LogisticRegression, LogisticRegressionCV, diagnose
from hiperplano.errors import NotAvailable
from hiperplano.stats.logistic.diagnose import goodness_of_fit

# Finney (1947), as in Pregibon (1981) and in SAS/STAT's example "Logistic Regression Diagnostics" of PROC LOGISTIC.
VOLUME = """3.70 3.50 1.25 0.75 0.80 0.70 0.60 1.10 0.90 0.90 0.80 0.55 0.60 1.40 0.75 2.30 3.20 0.85 1.70 1.80
0.40 0.95 1.35 1.50 1.60 0.60 1.80 0.95 1.90 1.60 2.70 2.35 1.10 1.10 1.20 0.80 0.95 0.75 1.30"""
RATE = """0.825 1.09 2.50 1.50 3.20 3.50 0.75 1.70 0.75 0.45 0.57 2.75 3.00 2.33 3.75 1.64 1.60 1.415 1.06 1.80
2.00 1.36 1.35 1.36 1.78 1.50 1.50 1.90 0.95 0.40 0.75 0.03 1.83 2.20 2.00 3.33 1.90 1.90 1.625"""
CONSTRICTED = np.array([int(one) for one in "111111000000011111010000101010100111001"])
ROWS = np.log(np.column_stack([np.array(column.split(), dtype=float) for column in (RATE, VOLUME)]))


@pytest.fixture(scope="module")
def vaso():
    model = LogisticRegression(C=np.inf).fit(ROWS, CONSTRICTED)
    return model, diagnose(model, ROWS, CONSTRICTED)


def test_vasoconstriction(vaso):
    model, found = vaso
    # SAS: intercept, LogRate and LogVolume, and −2 log L.
    np.testing.assert_allclose([model.intercept_[0], *model.coef_[0]], [-2.8754, 4.5617, 5.1793], atol=6e-5)
    assert np.sum(found.deviance**2) == pytest.approx(29.227, abs=6e-4)
    # Pregibon: cases 4 and 18 are not well accounted for, and decide the fit.
    assert sorted(np.argsort(found.cooks)[-2:] + 1) == [4, 18]
    assert sorted(np.argsort(np.abs(found.standardised_deviance))[-2:] + 1) == [4, 18]
    assert "row 3" in str(found) or "row 17" in str(found)


def glm(X, y, weight=None):
    return sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial(), var_weights=weight).fit(tol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_statsmodels(weighted):
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, len(ROWS)) if weighted else None
    found = diagnose(
        LogisticRegression(C=np.inf).fit(ROWS, CONSTRICTED, weight), ROWS, CONSTRICTED, sample_weight=weight
    )
    theirs = glm(ROWS, CONSTRICTED, weight)
    np.testing.assert_allclose(found.probability, theirs.fittedvalues, rtol=1e-6)
    np.testing.assert_allclose(found.pearson, theirs.resid_pearson, rtol=1e-6)
    np.testing.assert_allclose(found.deviance, theirs.resid_deviance, rtol=1e-6)
    influence = theirs.get_influence()
    np.testing.assert_allclose(found.leverage, influence.hat_matrix_diag, rtol=1e-6)
    np.testing.assert_allclose(found.cooks, influence.cooks_distance[0], rtol=1e-5)
    np.testing.assert_allclose(found.standardised_pearson, influence.resid_studentized, rtol=1e-5)


def test_one_step_without_a_row_is_what_newton_makes():
    """Leaving a row out changes the coefficients by one Newton step as Cook's distance says (Pregibon's formula)."""
    X = sm.add_constant(ROWS)
    found = diagnose(LogisticRegression(C=np.inf).fit(ROWS, CONSTRICTED), ROWS, CONSTRICTED)
    p = found.probability
    information = X.T @ (X * (p * (1 - p))[:, None])
    for row in (0, 3, 17, 31):
        rest = np.arange(len(X)) != row
        part = X[rest].T @ (X[rest] * (p * (1 - p))[rest, None])
        step = np.linalg.solve(part, X[rest].T @ (CONSTRICTED - p)[rest])
        assert found.cooks[row] == pytest.approx(step @ information @ step / 3, rel=1e-6)


def test_the_table_of_hosmer_and_lemeshow():
    # R's blorr, whose numbers are SAS's: hsb2, honcomp on female, read and science; 5.8839 with 8 degrees of freedom.
    total = np.array([20, 21, 19, 22, 18, 20, 20, 21, 19, 20])
    observed = np.array([0, 1, 0, 2, 2, 4, 9, 9, 13, 13])
    expected = np.array([0.29, 0.74, 1.05, 2.04, 2.93, 4.47, 6.17, 8.93, 11.16, 15.22])
    assert goodness_of_fit(np.column_stack([total, observed, expected])) == pytest.approx(5.8839, abs=0.02)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.logistic(size=400) > 0).astype(int)
    found = diagnose(LogisticRegression().fit(X, y), X, y)
    table = pandas.DataFrame({"p": found.probability, "y": y, "cut": pandas.qcut(found.probability, 10)})
    sums = table.groupby("cut", observed=True).agg(n=("y", "size"), seen=("y", "sum"), due=("p", "sum"))
    statistic = np.sum((sums.seen - sums.due) ** 2 / (sums.due * (1 - sums.due / sums.n)))
    np.testing.assert_allclose(found.groups, sums.to_numpy(), rtol=1e-9)
    assert found.hosmer_lemeshow == pytest.approx(statistic, rel=1e-9)
    assert found.hosmer_lemeshow_p == pytest.approx(chi2.sf(statistic, 8), rel=1e-9)


def test_rows_without_weight_and_penalties(vaso):
    weight = np.ones(len(ROWS))
    weight[5] = 0.0
    model = LogisticRegressionCV(Cs=[10.0], cv=3).fit(ROWS, CONSTRICTED, weight)
    found = diagnose(model, ROWS, CONSTRICTED, sample_weight=weight)
    assert np.flatnonzero(np.isnan(found.leverage)).tolist() == [5]
    assert np.nansum(found.leverage) < 3.0 - 1e-3  # the penalty takes some of the parameters
    assert "Hosmer-Lemeshow" in found._repr_html_()


def test_refusals(vaso):
    with pytest.raises(NotAvailable, match="residuals of logistic models belong to two"):
        diagnose(LogisticRegression().fit(ROWS, np.arange(39) % 3), ROWS, np.arange(39) % 3)
    twice = np.column_stack([ROWS, ROWS[:, 0]])
    model = LogisticRegression(C=np.inf).fit(twice, CONSTRICTED)
    with pytest.raises(NotAvailable, match="columns are dependent"):
        diagnose(model, twice, CONSTRICTED)
