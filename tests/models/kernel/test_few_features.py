"""Kernels with few features: machines are solved in these, with the answer that the Gram matrix gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.kernel_ridge
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from hiperplano import (
    SVC,
    SVCCV,
    SVR,
    KernelLogisticRegression,
    KernelRidge,
    KernelRidgeCV,
    LinearSVC,
    LogisticRegression,
    OneClassSVM,
)
from hiperplano.kernels import RBF, Constant, Linear, Polynomial
from hiperplano.kernels.dimension import n_features
from hiperplano.solvers.kernel.ridge.feature_path import leave_one_out_in_features
from hiperplano.solvers.kernel.svm.fit import Control
from hiperplano.solvers.kernel.svm.folds.scores import fold_scores

KERNELS = [Linear(), Polynomial(degree=2, gamma=0.5, coef0=1.0), Polynomial(degree=2, gamma=0.3) + 0.5 * Linear()]

CONTROL = Control(tol=1e-9, max_steps=10_000_000, n_bytes=2**28)


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    score = x[:, 0] - x[:, 1] + 0.5 * x[:, 2] ** 2
    return x, score + rng.normal(size=n), rng.uniform(0.2, 2.0, size=n)


def money(n, scale, seed=0):
    """Columns as people have them: long tails, and no common scale."""
    rng = np.random.default_rng(seed)
    x = np.exp(rng.normal(size=(n, 5)))
    score = np.log(x).sum(axis=1)
    return x * scale * [1.0, 1.0, 1.0, 0.01, 1e-4], score + rng.normal(size=n)


@pytest.mark.parametrize(
    "kernel",
    [*KERNELS, Polynomial(degree=3, gamma=1.0), Constant(2.0) * Linear(), Linear().scaled(lambda x: 1 + x[:, 0] ** 2)],
    ids=str,
)
def test_number_of_features(kernel):
    x = table(20)[0]
    assert n_features(kernel, x.shape[1]) == kernel.features(x).shape[1]


def test_unknown_number_of_features():
    assert n_features(RBF(gamma=1.0) + Linear(), 3) == np.inf
    assert n_features(Polynomial(degree=2.5, gamma=1.0), 3) == np.inf


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_classifier_agrees_with_smo_on_the_gram_matrix(kernel):
    x, target, weight = table()
    y = target > np.median(target)
    model = SVC(kernel=kernel, C=2.0, class_weight={False: 1.0, True: 3.0}, tol=1e-9).fit(x, y, sample_weight=weight)
    other = SVC(kernel="precomputed", C=2.0, class_weight={False: 1.0, True: 3.0}, tol=1e-9)
    other.fit(kernel(x), y, sample_weight=weight)
    assert "features" in str(model.solution_.method)
    assert "SMO" in str(other.solution_.method)
    np.testing.assert_allclose(model.decision_function(x), other.decision_function(kernel(x)), atol=1e-6)
    np.testing.assert_allclose(model.solution_.objective, other.solution_.objective, rtol=1e-9)
    np.testing.assert_allclose(model.solution_.gap, 0.0, atol=1e-9)


@pytest.mark.parametrize("n", [300, 800])
def test_easy_and_hard_pairs_of_classes_agree_with_the_gram_matrix(n):
    """Pairs of distant classes take SMO few steps; those of two that overlap are solved as planes."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 5
    centres = 30.0 * rng.normal(size=(5, 4))
    centres[4] = centres[3] + 0.3
    x = centres[y] + rng.normal(size=(n, 4))
    model = SVC(kernel="linear", C=10.0, tol=1e-7, decision_function_shape="ovo").fit(x, y)
    other = SVC(kernel="precomputed", C=10.0, tol=1e-7, decision_function_shape="ovo").fit(x @ x.T, y)
    np.testing.assert_allclose(model.decision_function(x), other.decision_function(x @ x.T), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.solution_.objective, other.solution_.objective, rtol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_regressor_agrees_with_smo_on_the_gram_matrix(kernel):
    x, target, weight = table()
    target = 1e4 + target
    model = SVR(kernel=kernel, C=0.5, epsilon=0.2, tol=1e-9).fit(x, target, sample_weight=weight)
    other = SVR(kernel="precomputed", C=0.5, epsilon=0.2, tol=1e-9).fit(kernel(x), target, sample_weight=weight)
    assert "features" in str(model.solution_.method)
    assert "SMO" in str(other.solution_.method)
    np.testing.assert_allclose(model.predict(x), other.predict(kernel(x)), atol=1e-6)
    np.testing.assert_allclose(model.solution_.objective, other.solution_.objective, rtol=1e-9)


def test_several_classes_agree_with_smo_on_the_gram_matrix():
    x, y = make_blobs(1200, 3, centers=4, cluster_std=4.0, random_state=0)
    model, other = SVC(kernel="linear", tol=1e-9).fit(x, y), SVC(kernel="precomputed", tol=1e-9).fit(x @ x.T, y)
    assert "features" in str(model.solution_.method)
    np.testing.assert_allclose(model.decision_function(x), other.decision_function(x @ x.T), atol=1e-6)
    np.testing.assert_array_equal(model.support_, other.support_)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_columns_of_any_scale(scale):
    """The optimality conditions hold, by hand, after a few passes; SMO takes millions of steps here."""
    x, target = money(1500, scale)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVR(kernel="linear", epsilon=0.1).fit(x, target)
    assert model.n_iter_ < 1000
    missed = target - (x @ (model.dual_coef_[0] @ x[model.support_]) + model.intercept_)
    beta = np.zeros(len(x))
    beta[model.support_] = model.dual_coef_[0]
    assert (np.abs(beta) <= 1.0).all()
    np.testing.assert_allclose(beta.sum(), 0.0, atol=1e-9)
    assert (missed[beta < 1.0] <= 0.1 + 1e-3).all()
    assert (missed[beta > -1.0] >= -0.1 - 1e-3).all()
    inside = np.abs(missed) < 0.1 - 1e-3
    assert (beta[inside] == 0.0).all()


def test_planes_that_dual_variables_cannot_express():
    """Kernel values of 1e15: the digits of float64 do not reach, which is said soon."""
    x, target = money(400, 1e7)
    with pytest.warns(ConvergenceWarning, match="Standardise the columns"):
        model = SVC(kernel="linear").fit(x, target > np.median(target))
    assert model.n_iter_[0] <= 200 * len(x)


@pytest.mark.parametrize("scale", [1e5, 1e13, 1e30])
@pytest.mark.parametrize("n", [300, 1100])
@pytest.mark.parametrize("model", [SVC, SVR, OneClassSVM])
def test_kernel_values_beyond_float32_end_soon_and_only_with_the_reason(model, n, scale):
    """Kernel values up to 1e185, of rows that no plane in the features separates."""
    x, target, _ = table(n)
    machine = model(kernel="poly", degree=3, gamma=1.0, coef0=1.0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        machine.fit(scale * x, target > 0 if model is SVC else target)
    assert ["rounding" in str(each.message) for each in told] == [True]
    assert np.max(machine.n_iter_) <= 110 * n


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_ridge_agrees_with_the_gram_matrix(kernel, intercept):
    x, target, weight = table()
    targets = np.column_stack([target, np.sin(target), target**2])
    model, other = (
        KernelRidge(alpha=[0.1, 3.0, 0.1], kernel=each, fit_intercept=intercept) for each in (kernel, "precomputed")
    )
    model.fit(x, targets, sample_weight=weight)
    other.fit(kernel(x), targets, sample_weight=weight)
    assert "features" in str(model.solution_.method)
    assert "features" not in str(other.solution_.method)
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, atol=1e-9 * np.abs(other.dual_coef_).max())
    np.testing.assert_allclose(model.predict(x), other.predict(kernel(x)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.solution_.objective, other.solution_.objective, rtol=1e-9)


def test_ridge_agrees_with_scikit_learn():
    x, target, weight = table()
    model, other = KernelRidge(alpha=0.5), sklearn.kernel_ridge.KernelRidge(alpha=0.5)
    model.fit(x, target, sample_weight=weight)
    other.fit(x, target, sample_weight=weight)
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, rtol=1e-8, atol=1e-10)


def test_ridge_with_a_penalty_that_rounding_hides_is_least_squares():
    x, target, _ = table()
    model = KernelRidge(alpha=1e-9).fit(1e6 * x, target)
    assert "shortest" in str(model.solution_.status)
    coef = np.linalg.lstsq(x, target, rcond=None)[0]
    np.testing.assert_allclose(model.predict(1e6 * x), x @ coef, rtol=1e-9)


@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_ridge_scores_agree_with_the_gram_matrix(kernel, intercept, cv):
    x, target, weight = table(300)
    targets, alphas = np.column_stack([target, np.sin(target)]), np.logspace(-3, 3, 5)
    model, other = (
        KernelRidgeCV(alphas, kernel=each, fit_intercept=intercept, cv=cv) for each in (kernel, "precomputed")
    )
    model.fit(x, targets, sample_weight=weight)
    other.fit(kernel(x), targets, sample_weight=weight)
    np.testing.assert_allclose(model.scores_, other.scores_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(x), other.predict(kernel(x)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cv", [None, [(np.arange(4000), np.arange(4000, 5000)), (np.arange(1000, 5000), [0, 7])]])
def test_ridge_scores_of_many_rows_need_no_gram_matrix(cv, monkeypatch):
    """The Gram matrix of these rows takes 200 MB. A row is left out, or a fold, by another fit."""
    monkeypatch.setattr("hiperplano.kernels.KernelMatrix.rows", None)
    x, target, _ = table(5000)
    model = KernelRidgeCV([0.3], cv=cv, scoring="neg_mean_squared_error").fit(x, target)
    splits = [(np.delete(np.arange(5000), row), [row]) for row in range(3)] if cv is None else cv
    errors = []
    for train, test in splits:
        coef = np.linalg.solve(x[train].T @ x[train] + 0.3 * np.eye(4), x[train].T @ target[train])
        errors.append(target[test] - x[test] @ coef)
    if cv is not None:
        np.testing.assert_allclose(model.best_score_, -np.mean([np.mean(np.square(each)) for each in errors]))
        return
    found = leave_one_out_in_features(model._problem(x, target[:, None], None, np.ones(1)), np.array([0.3]))
    np.testing.assert_allclose(found[:3, 0, 0], np.concatenate(errors))
    np.testing.assert_allclose(model.best_score_, -np.mean(np.square(found)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_logistic_regression_agrees_with_the_gram_matrix(kernel, n_classes):
    x, target, weight = table(300)
    x[:, 3] = x[:, 0] + x[:, 1]  # columns and monomials are dependent
    y = np.digitize(target, np.quantile(target, np.arange(1, n_classes) / n_classes))
    model, other = (KernelLogisticRegression(kernel=each, C=2.0, tol=1e-10) for each in (kernel, "precomputed"))
    model.fit(x, y, sample_weight=weight)
    other.fit(kernel(x), y, sample_weight=weight)
    assert len(model.X_fit_) <= n_features(kernel, 3)
    np.testing.assert_allclose(model.solution_.objective, other.solution_.objective, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(x), other.decision_function(kernel(x)), atol=1e-7)


def test_logistic_regression_of_many_rows_is_exact():
    """With more than 3,000 rows, kernels with many features take some of the rows as centres."""
    x, target, _ = table(4000)
    y = target > 0
    model, other = KernelLogisticRegression(kernel="linear"), LogisticRegression()
    model.fit(x, y)
    other.fit(x, y)
    assert "exact" in str(model.solution_.status)
    np.testing.assert_allclose(model.decision_function(x), other.decision_function(x), atol=1e-7)


@pytest.mark.parametrize("n", [300, 1500])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_folds_of_machines_agree_with_single_fits(n, n_classes):
    """Each fold and C by SMO on the precomputed Gram matrix; some of the machines take SMO few steps, others many."""
    x, target, weight = table(n)
    x[:, 1] *= 30.0
    y = np.digitize(target, np.quantile(target, np.arange(1, n_classes) / n_classes))
    train, test, Cs = np.arange(n // 5, n), np.arange(n // 5), [0.01, 1.0]
    found = fold_scores(
        [Linear()], x, [(y != 2, np.where(y == 0, 1.0, -1.0))], weight, [(train, test)], np.array(Cs), CONTROL
    )[0][0]
    own = train[y[train] != 2]
    for C, scores in zip(Cs, found[:, 0], strict=True):
        model = SVC(kernel="precomputed", C=C, tol=1e-9).fit(x[own] @ x[own].T, -(y[own] == 0).astype(int), weight[own])
        np.testing.assert_allclose(scores, -model.decision_function(x[test] @ x[own].T), atol=1e-5)


def test_search_on_many_rows_needs_no_gram_matrix(monkeypatch):
    monkeypatch.setattr("hiperplano.solvers.kernel.svm.folds.scores.shared_sources", None)
    x, target, _ = table(3000)
    y = target > 0.5
    model = SVCCV(kernel="linear", Cs=[0.1, 1.0], cv=3).fit(x, y)
    other = GridSearchCV(LinearSVC(loss="hinge"), {"C": [0.1, 1.0]}, cv=3).fit(x, y)
    np.testing.assert_allclose(model.scores_.mean(axis=(0, 1)), other.cv_results_["mean_test_score"], atol=0.002)
