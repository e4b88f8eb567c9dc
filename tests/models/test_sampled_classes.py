"""Rows drawn from fitted discriminants."""

import numpy as np
import pytest

from hiperplano import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from hiperplano.errors import InvalidParameter


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    turn = np.array([[2.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.3, -1.0, 1.5]])
    y = np.array(["a", "b", "c"])[rng.choice(3, size=3000, p=[0.5, 0.3, 0.2])]
    means = {"a": [0.0, 0.0, 0.0], "b": [3.0, 1.0, 0.0], "c": [-2.0, 4.0, 9.0]}
    X = rng.normal(size=(3000, 3)) @ turn + np.array([means[label] for label in y])
    X[y == "b"] *= 0.5
    return X, y


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_draws_have_the_moments_of_the_fit(kind, data):
    """Within five standard errors of 200,000 draws."""
    model = kind().fit(*data)
    X, y = model.sample(200_000, random_state=1)
    assert X.shape == (200_000, 3)
    for k, label in enumerate(model.classes_):
        rows = X[y == label]
        assert abs(len(rows) / len(X) - model.priors_[k]) < 5 * 0.5 / np.sqrt(len(X))
        covariance = model.covariance_ if kind is LinearDiscriminantAnalysis else model.covariance_[k]
        spread = np.sqrt(np.diag(covariance))
        assert (np.abs(rows.mean(axis=0) - model.means_[k]) < 5 * spread / np.sqrt(len(rows))).all()
        found = np.cov(rows.T)
        assert (np.abs(found - covariance) < 8 * np.outer(spread, spread) / np.sqrt(len(rows))).all()


def test_a_model_of_its_own_draws_is_the_model(data):
    model = LinearDiscriminantAnalysis().fit(*data)
    again = LinearDiscriminantAnalysis().fit(*model.sample(100_000, random_state=0))
    np.testing.assert_allclose(again.means_, model.means_, atol=0.1)
    assert (again.predict(data[0]) == model.predict(data[0])).mean() > 0.99


def test_seeds_and_singular_covariances(data):
    X, y = data
    model = LinearDiscriminantAnalysis().fit(np.column_stack([X, X[:, 0] + X[:, 1]]), y)
    drawn, labels = model.sample(500, random_state=3)
    np.testing.assert_allclose(drawn[:, 3], drawn[:, 0] + drawn[:, 1], atol=1e-6)
    np.testing.assert_array_equal(drawn, model.sample(500, random_state=3)[0])
    assert not np.array_equal(drawn, model.sample(500, random_state=4)[0])
    assert set(labels) <= set(model.classes_)
    with pytest.raises(InvalidParameter, match="n_samples"):
        model.sample(0)
