"""The widest margin, against the quadratic program, LIBSVM, and the limit of the soft margin."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from hiperplano import HardMarginSVC, LinearSVC, Overlapping, QuasiSeparable, margin
from hiperplano.errors import InvalidTarget, NotSeparable
from tests import quadratic


def separable(n=80, d=3, gap=0.1, seed=0, offset=2.0):
    """Rows about `offset` on both sides of a plane through it, none nearer than `gap`."""
    rng = np.random.default_rng(seed)
    X, normal = rng.normal(size=(n, d)), rng.normal(size=d)
    score = X @ normal / np.linalg.norm(normal)
    side = np.where(score > 0, 1.0, -1.0)
    X += np.outer(gap * side, normal / np.linalg.norm(normal))
    side[:2] = [1.0, -1.0]
    X[:2] = 4 * np.outer(side[:2], normal / np.linalg.norm(normal))
    return X + offset, side


@pytest.mark.parametrize("fit_intercept", [True, False])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 90), d=st.integers(1, 12))
def test_it_solves_the_quadratic_program(fit_intercept, seed, n, d):
    X, y = separable(n, d, seed=seed, offset=2.0 if fit_intercept else 0.0)
    coef, intercept, value = quadratic.hard_margin(X, y, fit_intercept=fit_intercept)
    model = HardMarginSVC(fit_intercept=fit_intercept).fit(X, y)
    assert model.solution_.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], coef, atol=1e-4 * np.linalg.norm(coef))
    assert model.intercept_[0] == pytest.approx(intercept, abs=1e-3)
    # The proof, by hand.
    alpha = y[model.support_] * model.dual_coef_[0]
    assert (alpha > 0).all()
    if fit_intercept:
        assert abs(model.dual_coef_.sum()) <= 1e-9 * alpha.sum()
    bound = alpha.sum() - 0.5 * np.sum((model.dual_coef_ @ model.support_vectors_) ** 2)
    assert bound == pytest.approx(model.solution_.dual_objective, rel=1e-9)
    assert model.solution_.objective - bound <= 1e-8 * model.solution_.objective
    score = y * (X @ model.coef_[0] + model.intercept_[0])
    assert score.min() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(score[model.support_], 1.0, atol=1e-5)


def test_the_margin_is_that_of_the_closest_rows():
    X, y = separable()
    model = HardMarginSVC().fit(X, y)
    assert margin(model, X, y).min() == pytest.approx(model.margin_)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(model.coef_))
    assert model.margin_ >= 0.1 - 1e-12  # the plane that made the classes has that much
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), y)


def test_it_is_that_of_libsvm():
    X, y = separable(n=400, d=5)
    rival = SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y)
    model = HardMarginSVC().fit(X, y)
    assert set(model.support_) == set(rival.support_)
    assert model.margin_ >= margin(rival, X, y).min()
    assert model.margin_ == pytest.approx(margin(rival, X, y).min(), rel=1e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_the_limit_of_the_soft_margin(fit_intercept):
    X, y = separable(n=60, d=3, offset=2.0 if fit_intercept else 0.0)
    hard = HardMarginSVC(fit_intercept=fit_intercept).fit(X, y)
    largest = np.abs(hard.dual_coef_).max()
    # The hinge gives the very same plane as soon as no multiplier meets its end.
    soft = LinearSVC(C=1.01 * largest, loss="hinge", fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-4)
    below = LinearSVC(C=0.5 * largest, loss="hinge", fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
    assert np.linalg.norm(below.coef_) < np.linalg.norm(hard.coef_) * (1 - 1e-3)
    squared = [
        np.linalg.norm(LinearSVC(C=C, fit_intercept=fit_intercept, tol=1e-10).fit(X, y).coef_ - hard.coef_)
        for C in (1e2, 1e4, 1e6)
    ]
    assert squared[0] > 10 * squared[1] > 100 * squared[2]


def test_two_points_have_the_plane_half_way():
    model = HardMarginSVC().fit([[0.0, 0.0], [3.0, 4.0]], ["b", "a"])
    assert model.margin_ == pytest.approx(2.5)
    np.testing.assert_allclose(model.coef_, [[-0.24, -0.32]])
    assert model.predict([[0.1, 0.0], [3.0, 3.0]]).tolist() == ["b", "a"]


def test_sparse_rows_give_the_same_plane():
    X, _ = separable(n=300, d=20, offset=0.0)
    X[np.abs(X) < 1.0] = 0.0
    score = X @ np.linspace(1, 2, 20) - 0.3
    X, y = X[np.abs(score) > 0.2], np.sign(score[np.abs(score) > 0.2])
    dense, rows = HardMarginSVC().fit(X, y), HardMarginSVC().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(rows.coef_, dense.coef_, rtol=1e-7)
    assert sparse.issparse(rows.support_vectors_)
    np.testing.assert_allclose(rows.dual_coef_ @ rows.support_vectors_, rows.coef_, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_classes_that_overlap_are_refused_with_a_proof(fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    model = HardMarginSVC(fit_intercept=fit_intercept).fit(*separable(offset=0.0))
    before = model.coef_.copy()
    with pytest.raises(NotSeparable, match=r"No plane.*Use LinearSVC") as caught:
        model.fit(X, y)
    assert isinstance(caught.value.certificate, Overlapping)
    assert caught.value.certificate.verify(X, y)
    np.testing.assert_array_equal(model.coef_, before)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.certificate.verify(X, y)


def test_classes_that_touch_are_refused_too():
    with pytest.raises(NotSeparable) as caught:
        HardMarginSVC().fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert isinstance(caught.value.certificate, QuasiSeparable)


def test_classes_on_one_side_of_the_origin_need_an_intercept():
    X, y = np.array([[1.0], [2.0], [5.0], [6.0]]), [0, 0, 1, 1]
    assert HardMarginSVC().fit(X, y).margin_ == pytest.approx(1.5)
    with pytest.raises(NotSeparable, match="through the origin"):
        HardMarginSVC(fit_intercept=False).fit(X, y)


def test_more_than_two_classes_are_refused():
    with pytest.raises(InvalidTarget, match="y holds 3 classes"):
        HardMarginSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 2])


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_scale_the_margin(scale):
    X, y = separable()
    assert HardMarginSVC().fit(X * scale, y).margin_ == pytest.approx(scale * HardMarginSVC().fit(X, y).margin_)


def test_scikit_learn_accepts_it_wherever_its_data_are_separable():
    """Its checks draw labels at random; the only reason to fail one is that no plane exists, and that is proved."""
    results = check_estimator(HardMarginSVC(), on_skip=None, on_fail=None)
    for result in results:
        if result["status"] == "failed":
            assert "No plane" in _whole_story(result["exception"]), result["check_name"]
    assert sum(result["status"] == "passed" for result in results) > 25


def _whole_story(error):
    """What an error and those behind it say."""
    return "" if error is None else f"{error} {_whole_story(error.__cause__ or error.__context__)}"
