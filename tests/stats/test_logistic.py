"""Standard errors and tests of logistic models, and where there are none."""

import numpy as np
import pandas
import pytest
import statsmodels.api as sm
from scipy.sparse import csr_array
from scipy.stats import chi2

from hiperplano import LinearRegression, LogisticRegression, LogisticRegressionCV, inference, likelihood_ratio
from hiperplano.errors import (
    ConvergenceWarning,
    InvalidData,
    InvalidParameter,
    InvalidTarget,
    NotAvailable,
    SeparationWarning,
)
from hiperplano.stats.summary import Summary


def sample(n=400, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, classes)) * 0.6 + rng.gumbel(size=(n, classes))).argmax(axis=1)


@pytest.mark.parametrize("cov", ["HC0", "HC1"])
def test_robust_covariances_equal_statsmodels(cov):
    X, y = sample()
    model = LogisticRegression(C=np.inf).fit(X, y)
    theirs = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit(cov_type=cov, tol=1e-14)
    found = inference(model, X, y, cov=cov)
    scale = len(y) / (len(y) - 5) if cov == "HC1" else 1.0
    bread, score = np.linalg.inv(-sm.Logit(y, sm.add_constant(X)).hessian(found.coef)), None
    score = sm.Logit(y, sm.add_constant(X)).score_obs(found.coef)
    np.testing.assert_allclose(found.covariance, scale * bread @ score.T @ score @ bread, rtol=1e-9)
    if cov == "HC0":
        np.testing.assert_allclose(found.se, theirs.bse, rtol=1e-6)


@pytest.mark.parametrize("cov", ["classical", "HC0", "HC1"])
def test_robust_covariance_of_three_classes(cov):
    X, y = sample(classes=3)
    rows = sm.add_constant(X)
    model = LogisticRegression(C=np.inf).fit(X, y)
    found = inference(model, X, y, cov=cov)
    theirs = sm.MNLogit(y, rows)
    params = found.coef.T
    bread = np.linalg.inv(-theirs.hessian(params))
    score = theirs.score_obs(params)
    expected = bread if cov == "classical" else bread @ score.T @ score @ bread
    expected = expected * (len(y) / (len(y) - 10) if cov == "HC1" else 1.0)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.se.ravel(), np.sqrt(np.diag(expected)), rtol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_inference_on_the_rows_of_the_fit_is_the_summary(classes):
    X, y = sample(classes=classes)
    model = LogisticRegression(C=np.inf).fit(X, y)
    for rows in (X, csr_array(X)):
        left, right = inference(model, rows, y), model.summary()
        np.testing.assert_allclose(left.covariance, right.covariance, rtol=1e-9, atol=1e-14)
        for key, value in right.stats.items():
            np.testing.assert_allclose(left.stats[key], value, rtol=1e-11)
        assert left.names == right.names


def test_the_reference_class_does_not_change_the_model():
    """Any contrast has the same coefficient and standard error, whichever class comes first."""
    X, y = sample(classes=3)
    first = LogisticRegression(C=np.inf).fit(X, y).summary()  # 1 and 2 against 0
    other = LogisticRegression(C=np.inf).fit(X, np.array([1, 0, 2])[y]).summary()  # 0 and 2 against 1
    np.testing.assert_allclose(other.coef[0], -first.coef[0], rtol=1e-7)
    np.testing.assert_allclose(other.se[0], first.se[0], rtol=1e-8)
    k = first.coef.shape[1]
    contrast = np.hstack([-np.eye(k), np.eye(k)])
    np.testing.assert_allclose(other.coef[1], contrast @ first.coef.ravel(), rtol=1e-6)
    np.testing.assert_allclose(other.se[1] ** 2, np.diag(contrast @ first.covariance @ contrast.T), rtol=1e-7)


def test_a_penalised_fit_is_labelled():
    X, y = sample()
    model = LogisticRegression(C=0.5).fit(X, y)
    found = model.summary()
    assert np.isnan(found.p).all()
    assert np.isnan(found.low).all()
    assert np.isnan(found.stats["lr_p"])
    assert "penalised (C=0.5)" in found.notes[0]
    assert "do not hold" in str(found)
    # The spread of the estimates: (H + λ)⁻¹·H·(H + λ)⁻¹.
    rows = sm.add_constant(X)
    hessian = -sm.Logit(y, rows).hessian(found.coef)
    inverse = np.linalg.inv(hessian + np.diag([0.0, *[1 / 0.5] * 4]))
    # Of a penalised fit the Hessian is that of a point within 1e-5 of the end: over 30 seeds, 6e-6 away at most.
    expected = inverse @ hessian @ inverse
    spread = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    np.testing.assert_allclose(found.covariance / spread, expected / spread, atol=3e-5, rtol=0)


def test_every_form_of_the_table():
    X, y = sample(classes=3)
    found = LogisticRegression(C=np.inf).fit(pandas.DataFrame(X, columns=list("abcd")), y).summary()
    table = found.to_pandas()
    assert table.shape == (10, 9)
    assert ("1 against 0", "a") in table.index
    assert found.to_polars().shape == (10, 11)
    assert "odds ratio" in str(found)
    assert "odds ratio" in found._repr_html_()
    np.testing.assert_allclose(table["odds ratio"], np.exp(found.coef).ravel())


def test_many_coefficients_ask_for_the_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 520))
    y = rng.integers(0, 2, 1500)
    model = LogisticRegression(C=0.01).fit(X, y)
    with pytest.raises(NotAvailable, match=r"521 × 521.*inference\(model, X, y\)"):
        model.summary()
    assert inference(model, X, y).se.shape == (521,)


def test_inference_refuses():
    X, y = sample()
    model = LogisticRegression(C=np.inf).fit(X, y)
    with pytest.raises(InvalidParameter, match=r"cov='HC3'.*'classical', 'HC0', 'HC1'"):
        inference(model, X, y, cov="HC3")
    with pytest.raises(InvalidTarget, match="y holds 2, a class the model has not seen"):
        inference(model, X, np.where(y == 1, 2, 0))
    with pytest.raises(InvalidParameter, match=r"level=1\.5"):
        inference(model, X, y, level=1.5)
    with pytest.raises(InvalidData, match="features"):
        inference(model, X[:, :2], y)


def test_inference_with_class_weights():
    X, y = sample()
    model = LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(inference(model, X, y).se, model.summary().se, rtol=1e-9)


def test_a_chosen_penalty_has_a_summary_too():
    X, y = sample()
    assert "penalised" in LogisticRegressionCV(Cs=[0.1, 1.0]).fit(X, y).summary().notes[0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_likelihood_ratio_equals_statsmodels(classes, weighted):
    X, y = sample(classes=classes)
    weight = np.random.default_rng(2).integers(1, 4, len(y)) if weighted else None
    small = LogisticRegression(C=np.inf).fit(X[:, :2], y, weight)
    large = LogisticRegression(C=np.inf).fit(X, y, weight)
    found = likelihood_ratio(small, large, (X[:, :2], X), y, sample_weight=weight)
    times = np.ones(len(y), dtype=int) if weight is None else weight
    rows, target = np.repeat(sm.add_constant(X), times, axis=0), np.repeat(y, times)
    fits = [sm.MNLogit(target, rows[:, :k]).fit(disp=0, method="newton", tol=1e-13) for k in (3, 5)]
    statistic = 2 * (fits[1].llf - fits[0].llf)
    assert found.df == 2 * (classes - 1)
    np.testing.assert_allclose(found.statistic, statistic, rtol=1e-8)
    np.testing.assert_allclose(found.p, chi2.sf(statistic, found.df), rtol=1e-7)


def test_likelihood_ratio_of_an_intercept():
    X, y = sample()
    small = LogisticRegression(C=np.inf, fit_intercept=False).fit(X, y)
    large = LogisticRegression(C=np.inf).fit(X, y)
    assert likelihood_ratio(small, large, (X, X), y).df == 1


def test_likelihood_ratio_refuses():
    X, y = sample()
    table = pandas.DataFrame(X, columns=list("abcd"))
    large = LogisticRegression(C=np.inf).fit(table, y)
    small = LogisticRegression(C=np.inf).fit(table[["a", "b"]], y)
    with pytest.raises(InvalidParameter, match=r"`large` has -2 coefficients more.*Swap"):
        likelihood_ratio(large, small, (table, table[["a", "b"]]), y)
    for other in (LogisticRegression().fit(table[["a"]], y), LogisticRegression(firth=True).fit(table[["a"]], y)):
        with pytest.raises(NotAvailable, match="not a maximum of the likelihood"):
            likelihood_ratio(other, large, table, y)
    with pytest.raises(NotAvailable, match="not a maximum"):
        likelihood_ratio(LinearRegression().fit(table[["a"]], y), large, table, y)
    renamed = table.rename(columns={"d": "e"})
    stranger = LogisticRegression(C=np.inf).fit(renamed[["a", "e"]], y)
    with pytest.raises(InvalidParameter, match="'e' of `small` are not among the columns of `large`"):
        likelihood_ratio(stranger, large, renamed, y)
    with pytest.raises(InvalidData, match="not at the maximum of the likelihood of these rows"):
        likelihood_ratio(small, large, table[::-1].reset_index(drop=True), y)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    with pytest.raises(InvalidData, match=r"without column names.*pair"):
        likelihood_ratio(plain, plain, X, y)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fit_that_ended_early_claims_nothing(classes):
    X, y = sample(classes=classes)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=np.inf, max_iter=1).fit(X, y)
    for found in (model.summary(), inference(model, X, y, cov="HC0")):
        for values in (found.p, found.low, found.high, found.stats["lr_p"]):
            assert np.isnan(values).all()
        assert "ended early" in found.notes[0]
        assert "lr_p = –" in str(found)
    large = LogisticRegression(C=np.inf).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        small = LogisticRegression(C=np.inf, max_iter=1).fit(X[:, :2], y)
    with pytest.raises(NotAvailable, match=r"not a maximum of the likelihood.*to its end"):
        likelihood_ratio(small, large, (X[:, :2], X), y)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_shapes_and_names(classes, fit_intercept):
    X, y = sample(classes=classes)
    model = LogisticRegression(C=np.inf, fit_intercept=fit_intercept).fit(X, y)
    found = model.summary()
    k = 4 + fit_intercept
    for key in ("coef", "se", "statistic", "p", "low", "high", "odds_ratio", "odds_low", "odds_high"):
        assert getattr(found, key).shape == ((k,) if classes == 2 else (classes - 1, k))
    assert found.covariance.shape == (k * (classes - 1),) * 2
    assert len(found.blocks) == (0 if classes == 2 else classes - 1)
    assert len(found.names) == k
    assert set(found.stats) == {
        *("loglik", "deviance", "null_deviance", "lr", "lr_p", "mcfadden_r2", "aic", "bic", "n", "df")
    }
    assert isinstance(found, Summary)
    if classes > 2:  # differences of the symmetric coefficients
        own = np.column_stack([model.intercept_, model.coef_]) if fit_intercept else model.coef_
        np.testing.assert_allclose(found.coef, own[1:] - own[0], rtol=1e-12)


def test_gradient_steps_have_a_summary_too():
    X, y = sample()
    found = LogisticRegression(C=np.inf, solver="gradient").fit(X, y).summary()
    np.testing.assert_allclose(found.se, LogisticRegression(C=np.inf).fit(X, y).summary().se, rtol=1e-6)


@pytest.mark.parametrize("cov", ["classical", "HC0", "HC1"])
def test_rows_without_weight_are_no_rows(cov):
    X, y = sample()
    X[:50], weight = 1e300, np.r_[np.zeros(50), np.ones(350)]
    model = LogisticRegression(C=np.inf).fit(X, y, weight)
    found = inference(model, X, y, cov=cov, sample_weight=weight)
    np.testing.assert_allclose(found.se, inference(model, X[50:], y[50:], cov=cov).se, rtol=1e-12)


def test_hc1_needs_more_rows_than_coefficients():
    X, y = sample(20, 30)
    model = LogisticRegression().fit(X, y)
    assert np.isfinite(inference(model, X, y, cov="HC0").se).all()
    with pytest.raises(NotAvailable, match=r"n = 20 rows and k = 31 coefficients.*cov='HC0'"):
        inference(model, X, y, cov="HC1")


def test_class_weights_are_noted():
    X, y = sample()
    model = LogisticRegression(C=np.inf, class_weight={0: 1.0, 1: 5.0}).fit(X, y)
    assert "classes are weighted" in model.summary().notes[0]
    # The spread of the estimates, by drawing samples: the sandwich has it, the classical error does not.
    rng = np.random.default_rng(0)
    drawn = [model.fit(X[rows], y[rows]).coef_[0] for rows in rng.integers(0, len(y), (300, len(y)))]
    model.fit(X, y)
    robust, classical = inference(model, X, y, cov="HC0").se[1:], model.summary().se[1:]
    spread = np.std(drawn, axis=0)
    assert (classical < spread).all()
    assert (np.abs(robust - spread) < 0.5 * np.abs(classical - spread)).all()


def test_large_counts_are_written_out():
    X, y = sample()
    found = LogisticRegression(C=np.inf).fit(X, y, np.full(len(y), 5000)).summary()
    assert found.title.startswith("LogisticRegression: 2000000 rows")
    assert "n = 2000000  df = 1999995" in str(found)


def test_ways_out_of_three_separated_classes():
    X = np.arange(30.0)[:, None]
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(X, np.arange(30) // 10)
    for words in (str(model.solution_), model.summary().notes[0]):
        assert words.endswith("Set a finite C.")
        assert "firth" not in words
