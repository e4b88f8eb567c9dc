"""The kernel perceptron makes the mistakes of the perceptron on its features."""

import numpy as np
import pytest

from hiperplano import KernelPerceptron, Perceptron
from hiperplano.kernels import FeatureMap, Linear, Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = (X @ [1.0, 2.0, -1.0] + 0.2 + 0.3 * RNG.normal(size=150) > 0).astype(int)


def squares(rows):
    return np.column_stack([rows, np.square(rows)])


@pytest.mark.parametrize(
    "parameters",
    [
        {"shuffle": False},
        {"random_state": 3},
        {"tol": None, "max_iter": 12, "average": True},
        {"fit_intercept": False, "tol": None, "max_iter": 7},
    ],
    ids=str,
)
def test_mistake_for_mistake(parameters):
    for labels in (Y, np.digitize(X[:, 0], [-0.5, 0.5])):
        plane = Perceptron(**parameters).fit(X, labels)
        counts = KernelPerceptron(kernel=Linear(), **parameters).fit(X, labels)
        assert counts.solution_.mistakes_by_pass == plane.solution_.mistakes_by_pass
        scale = np.abs(plane.decision_function(X)).max()
        np.testing.assert_allclose(counts.decision_function(X), plane.decision_function(X), atol=1e-10 * scale)


def test_features_and_kernel_are_one_machine():
    plane = Perceptron(shuffle=False).fit(squares(X), Y)
    counts = KernelPerceptron(kernel=FeatureMap(squares), shuffle=False).fit(X, Y)
    assert counts.solution_.mistakes_by_pass == plane.solution_.mistakes_by_pass
    np.testing.assert_allclose(counts.decision_function(X), plane.decision_function(squares(X)), atol=1e-9)
    again = np.bincount(counts.history_[0], minlength=len(X))[counts.support_]
    np.testing.assert_array_equal(again, np.abs(counts.dual_coef_[0]))


def test_a_circle_is_separated_and_a_budget_is_kept():
    inside = (np.square(X[:, :2]).sum(axis=1) < 1).astype(int)
    model = KernelPerceptron(kernel=Polynomial(2), tol=None).fit(X[:, :2], inside)
    assert model.solution_.clean
    assert model.score(X[:, :2], inside) == 1.0
    small = KernelPerceptron(kernel="rbf", budget=10, tol=None, max_iter=5).fit(X[:, :2], inside)
    assert len(small.support_) <= 10


def test_rows_of_the_gram_matrix_are_cached():
    rows = np.random.default_rng(2).normal(size=(1100, 3))
    labels = rows[:, 0] + 0.1 * rows[:, 1] > 0
    one, other = (KernelPerceptron(gamma=0.5, cache_size=size).fit(rows, labels) for size in (200, 0.05))
    np.testing.assert_allclose(one.decision_function(rows), other.decision_function(rows), atol=1e-9)
