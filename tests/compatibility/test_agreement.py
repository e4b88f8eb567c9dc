"""The same numbers as scikit-learn's classes, where both follow the same definition."""

import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
from sklearn.covariance import LedoitWolf, ShrunkCovariance
from sklearn.datasets import load_iris

import hiperplano

IRIS, KIND = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=50)
TWO, THREE = (Y > 0).astype(int), np.digitize(Y, [-2, 2])
SEVERAL = np.column_stack([KIND == 0, KIND == 1]).astype(int)
MARGINS = ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"]
ERRORS = ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"]
STEADY = {"learning_rate": "constant", "class_weight": {0: 2.0, 1: 0.5}}
PA = {"penalty": None, "eta0": 0.5}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "parameters", "y"),
    [
        *[("SGDClassifier", {"loss": loss, **STEADY}, TWO) for loss in MARGINS + ERRORS],
        ("SGDClassifier", {"loss": "modified_huber"}, THREE),
        ("SGDClassifier", {"learning_rate": "pa1", **PA}, TWO),
        ("SGDClassifier", {"learning_rate": "pa2", **PA}, TWO),
        *[("SGDRegressor", {"loss": loss, "average": True}, Y) for loss in ERRORS],
        ("SGDRegressor", {"loss": "epsilon_insensitive", "learning_rate": "pa1", **PA}, Y),
        ("Perceptron", {"penalty": "l2", "alpha": 0.05}, THREE),
    ],
    ids=str,
)
def test_steps_over_rows_in_their_order(name, parameters, y):
    plain = {"shuffle": False, "max_iter": 4, "tol": None}
    ours, theirs = (getattr(module, name)(**plain, **parameters) for module in (hiperplano, sklearn.linear_model))
    ours.fit(X, y), theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)
    assert (ours.t_, ours.n_iter_) == (theirs.t_, theirs.n_iter_)
    if hasattr(theirs, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("labels", [KIND, np.where(KIND == 0, "a", "b"), SEVERAL], ids=["three", "two", "several"])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_classifiers(labels, weighted):
    weight = RNG.uniform(0.5, 2.0, 150) if weighted else None
    ours = hiperplano.RidgeClassifier(2.0).fit(IRIS, labels, weight)
    theirs = sklearn.linear_model.RidgeClassifier(2.0).fit(IRIS, labels, weight)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(IRIS), theirs.predict(IRIS))
    np.testing.assert_allclose(ours.decision_function(IRIS), theirs.decision_function(IRIS), rtol=1e-7, atol=1e-9)
    for options in ({}, {"cv": 3}, {"scoring": "accuracy"}) if labels.ndim == 1 and not weighted else ({},):
        choices = {"alphas": [1e-2, 1.0, 100.0], **options}
        search = hiperplano.RidgeClassifierCV(**choices).fit(IRIS, labels, weight)
        other = sklearn.linear_model.RidgeClassifierCV(**choices).fit(IRIS, labels, weight)
        assert search.alpha_ == other.alpha_
        if not weighted:  # theirs divides by the number of rows, not by their weight
            assert search.best_score_ == pytest.approx(other.best_score_, rel=1e-6)
        np.testing.assert_allclose(search.coef_, np.atleast_2d(other.coef_), rtol=1e-6)


@pytest.mark.parametrize("estimator", [LedoitWolf(), ShrunkCovariance(shrinkage=0.3)], ids=str)
def test_covariances_by_an_estimator(estimator):
    module = sklearn.discriminant_analysis
    ours = hiperplano.LinearDiscriminantAnalysis(covariance_estimator=estimator).fit(IRIS, KIND)
    theirs = module.LinearDiscriminantAnalysis("lsqr", covariance_estimator=estimator).fit(IRIS, KIND)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-9)
    ours = hiperplano.QuadraticDiscriminantAnalysis(covariance_estimator=estimator).fit(IRIS, KIND)
    theirs = module.QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=estimator).fit(IRIS, KIND)
    np.testing.assert_allclose(ours.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-9)
    with pytest.raises(ValueError, match=r"Only one of the two can be set"):
        hiperplano.LinearDiscriminantAnalysis(shrinkage=0.1, covariance_estimator=estimator).fit(IRIS, KIND)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_singular_values(fit_intercept):
    ours = hiperplano.LinearRegression(fit_intercept=fit_intercept).fit(IRIS, KIND)
    theirs = sklearn.linear_model.LinearRegression(fit_intercept=fit_intercept).fit(IRIS, KIND)
    np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-9)
    assert ours.rank_ == theirs.rank_


@pytest.mark.filterwarnings("ignore:l1_ratios parameter is only used", "ignore:.*was deprecated:FutureWarning")
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("labels", [KIND, KIND > 1], ids=["three", "two"])
def test_paths_of_a_search(labels, legacy):
    options = {"Cs": [0.1, 1.0], "cv": 3, "scoring": "accuracy", "l1_ratios": (0,), "use_legacy_attributes": legacy}
    ours = hiperplano.LogisticRegressionCV(**options, tol=1e-8).fit(IRIS, labels)
    theirs = sklearn.linear_model.LogisticRegressionCV(**options, tol=1e-9, max_iter=10_000).fit(IRIS, labels)
    pairs = [(ours.scores_, theirs.scores_, 1e-12), (ours.coefs_paths_, theirs.coefs_paths_, 1e-4)]
    for mine, other, rtol in pairs:
        if legacy:
            assert list(mine) == list(other)
            mine, other = ([one[key] for key in one] for one in (mine, other))
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=1e-5)
    assert np.shape(ours.n_iter_) == np.shape(theirs.n_iter_)
    assert np.shape(ours.C_) == np.shape(theirs.C_)
    np.testing.assert_allclose(np.ravel(ours.l1_ratio_), np.ravel(theirs.l1_ratio_))
