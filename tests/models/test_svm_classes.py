"""More than two classes: one against the rest, and all at once."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC as Rival

from hiperplano import LinearSVC
from hiperplano.errors import ConvergenceWarning
from tests import quadratic


def problem(n=70, d=3, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    score = X @ rng.normal(size=(d, classes)) + rng.normal(size=(n, classes))
    y = score.argmax(axis=1)
    y[:classes] = range(classes)
    return X, y


def machine(**settings):
    return LinearSVC(loss="hinge", multi_class="crammer_singer", max_iter=100_000, **settings)


def test_one_against_the_rest_is_one_machine_for_each_class():
    X, y = problem(classes=4)
    names = np.array(["d", "a", "c", "b"])[y]
    model = LinearSVC(tol=1e-9).fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    for k, name in enumerate(model.classes_):
        alone = LinearSVC(tol=1e-9).fit(X, names == name)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-12)
        np.testing.assert_allclose(model.intercept_[k], alone.intercept_[0], rtol=1e-12)
    assert model.solution_.gap <= 1e-9
    assert model.solution_.multipliers.shape == (4, len(y))


@pytest.mark.parametrize("solver", ["newton", "dual"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("classes", "C", "seed"), [(3, 1.0, 0), (4, 0.05, 1), (5, 3.0, 2)])
def test_all_at_once_solves_the_quadratic_program(solver, fit_intercept, classes, C, seed):
    X, y = problem(classes=classes, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.2, 2, len(y))
    coef, intercept, value = quadratic.crammer_singer(X, y, C * weight, classes, fit_intercept=fit_intercept)
    model = machine(C=C, solver=solver, fit_intercept=fit_intercept, tol=1e-9).fit(X, y, sample_weight=weight)
    assert model.solution_.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, intercept, atol=1e-3)


@pytest.mark.parametrize("solver", ["newton", "dual"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_gap_of_all_at_once_is_proved_by_the_multipliers(solver, fit_intercept):
    X, y = problem(n=300, d=4, classes=4)
    model = machine(C=0.3, solver=solver, fit_intercept=fit_intercept).fit(X, y)
    alpha = model.solution_.multipliers
    np.testing.assert_allclose(alpha.sum(axis=0), 0.0, atol=1e-12)
    assert (alpha <= 0.3 * (y == np.arange(4)[:, None]) + 1e-12).all()
    if fit_intercept:
        np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-10)
    here = np.arange(len(y))
    bound = alpha[y, here].sum() - 0.5 * np.sum((alpha @ X) ** 2)
    assert bound == pytest.approx(model.solution_.dual_objective, rel=1e-9)
    scores = model.decision_function(X)
    rivals = scores + (y[:, None] != np.arange(4))
    value = 0.5 * np.sum(model.coef_**2) + 0.3 * np.sum(rivals.max(axis=1) - scores[here, y])
    assert value == pytest.approx(model.solution_.objective)
    assert value - bound == pytest.approx(model.solution_.gap * value, rel=1e-6)
    assert value - bound <= 1e-4 * value


def test_all_at_once_without_intercept_is_liblinears():
    X, y = problem(n=200)
    rival = Rival(C=0.5, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=100_000).fit(X, y)
    model = machine(C=0.5, fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_two_classes_at_once_are_the_hinge_with_twice_the_strength(fit_intercept):
    X, y = problem(classes=2)
    coef, intercept, value = quadratic.crammer_singer(X, y, 0.4, 2, fit_intercept=fit_intercept)
    model = machine(C=0.4, fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
    assert model.coef_.shape == (1, 3)
    np.testing.assert_allclose(model.coef_[0], coef[1] - coef[0], atol=1e-4)
    np.testing.assert_allclose(model.intercept_[0], intercept[1] - intercept[0], atol=1e-4)
    assert model.solution_.objective == pytest.approx(value, rel=1e-6)
    assert model.solution_.dual_objective == pytest.approx(value, rel=1e-6)
    hinge = LinearSVC(C=0.8, loss="hinge", fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, hinge.coef_, atol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_weights_of_all_at_once_equal_repetition(kind):
    X, y = problem(n=120, classes=4)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weight[:4] = 1
    model = machine(C=0.1, tol=1e-11).fit(kind(X), y, sample_weight=weight)
    repeated = machine(C=0.1, tol=1e-11).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(model.coef_, repeated.coef_, atol=1e-4)
    assert model.solution_.objective == pytest.approx(repeated.solution_.objective, rel=1e-9)
    assert not model.solution_.multipliers[:, weight == 0].any()


def test_all_at_once_says_when_it_fails_its_goal():
    X, y = problem(n=120, classes=4)
    for solver, name in (("dual", "Dual ascent over all classes"), ("newton", "Newton's method")):
        hasty = LinearSVC(C=10.0, loss="hinge", multi_class="crammer_singer", solver=solver, tol=1e-9, max_iter=4)
        with pytest.warns(ConvergenceWarning, match=f"{name} ended after . passes"):
            hasty.fit(X, y)
        assert hasty.solution_.gap > 1e-9


def test_all_at_once_is_made_of_the_hinge_whatever_the_loss():
    X, y = problem()
    models = [LinearSVC(loss=loss, multi_class="crammer_singer").fit(X, y) for loss in ("hinge", "squared_hinge")]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
