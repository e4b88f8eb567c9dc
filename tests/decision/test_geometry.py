"""Distances, projections and margins, by elementary geometry."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Rival

from hiperplano import LeastSquaresClassifier, LinearRegression, LinearSVC, margin, project, signed_distance
from hiperplano.errors import InvalidTarget, NotAvailable

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3)) * [1.0, 10.0, 0.1] + 5
y = np.where(X[:, 0] + 0.05 * X[:, 1] > 5.5, "yes", "no")


@pytest.fixture(scope="module")
def model():
    return LinearSVC().fit(X, y)


@pytest.mark.parametrize(
    "kind", [LinearSVC(), LeastSquaresClassifier(), Rival()], ids=lambda kind: type(kind).__module__
)
def test_projections_lie_on_the_plane_and_rows_right_above_them(kind):
    model = clone(kind).fit(X, y)
    feet, distance = project(model, X), signed_distance(model, X)
    np.testing.assert_allclose(model.decision_function(feet), 0.0, atol=1e-9)
    unit = model.coef_[0] / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(X - feet, np.outer(distance, unit), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(X - feet, axis=1), np.abs(distance))
    np.testing.assert_allclose(project(model, feet), feet, atol=1e-9)
    assert ((distance > 0) == (model.predict(X) == "yes")).all()


def test_no_point_of_the_plane_is_nearer(model):
    feet, distance = project(model, X), np.abs(signed_distance(model, X))
    along = np.random.default_rng(1).normal(size=(200, 3))
    along -= np.outer(along @ model.coef_[0], model.coef_[0]) / np.sum(model.coef_**2)
    for foot, row, least in zip(feet, X, distance, strict=True):
        assert (np.linalg.norm(foot + along - row, axis=1) >= least - 1e-9).all()


def test_margins_are_negative_on_the_wrong_side(model):
    right = model.predict(X) == y
    assert ((margin(model, X, y) > 0) == right).all()
    np.testing.assert_allclose(np.abs(margin(model, X, y)), np.abs(signed_distance(model, X)))
    np.testing.assert_allclose(margin(model, X, np.where(y == "yes", "no", "yes")), -margin(model, X, y))


def test_margin_planes_are_one_over_the_length_away():
    model = LinearSVC(loss="hinge").fit(X, y)
    alpha = np.abs(model.solution_.multipliers[0])
    on_margin = X[(alpha > 1e-3) & (alpha < 1 - 1e-3)]
    assert len(on_margin)
    np.testing.assert_allclose(np.abs(signed_distance(model, on_margin)), 1 / np.linalg.norm(model.coef_), rtol=1e-2)


def test_many_classes_have_a_plane_each_and_one_between_each_two():
    labels = np.digitize(X[:, 0], [4.5, 5.5])
    model = LinearSVC().fit(X, labels)
    scores, length = model.decision_function(X), np.linalg.norm(model.coef_, axis=1)
    np.testing.assert_allclose(signed_distance(model, X), scores / length)
    for row, score, label, found in zip(X, scores, labels, margin(model, X, labels), strict=True):
        others = [k for k in range(3) if k != label]
        between = [(score[label] - score[k]) / np.linalg.norm(model.coef_[label] - model.coef_[k]) for k in others]
        assert found == pytest.approx(min(between))
        # That far, and no less, the row must move to be called something else.
        nearest = others[int(np.argmin(between))]
        way = model.coef_[nearest] - model.coef_[label]
        moved = row + found * way / np.linalg.norm(way)
        at = model.decision_function(moved[None])[0]
        assert at[label] == pytest.approx(at[nearest], abs=1e-9)
    with pytest.raises(NotAvailable, match="3 planes"):
        project(model, X)


def test_sparse_rows_and_lists_will_do(model):
    np.testing.assert_allclose(project(model, sparse.csr_array(X)), project(model, X))
    np.testing.assert_allclose(signed_distance(model, X.tolist()), signed_distance(model, X))
    np.testing.assert_allclose(margin(model, sparse.csr_array(X), y.tolist()), margin(model, X, y))


def test_what_cannot_be_measured_is_refused(model):
    with pytest.raises(NotAvailable, match="not a linear classifier"):
        signed_distance(LinearRegression().fit(X, X[:, 0]), X)
    flat = LeastSquaresClassifier().fit(np.zeros((4, 2)), [0, 1, 0, 1])
    with pytest.raises(NotAvailable, match="All coefficients"):
        signed_distance(flat, np.zeros((1, 2)))
    with pytest.raises(InvalidTarget, match=r"'maybe' \(row 1\)"):
        margin(model, X[:2], ["yes", "maybe"])
