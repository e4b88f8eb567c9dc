"""What a pass notices, and which planes are judged after it."""

import numpy as np
import pytest

from hiperplano import Perceptron
from hiperplano.errors import InvalidData
from hiperplano.solvers.online.learner import Learner


def test_a_mean_beyond_the_range_of_floats_is_refused():
    # Rows of zeros move the intercept alone: it is 1e308 after the first, and the sum of two of it is infinite.
    X, y = np.zeros((4, 1)), np.array([1, 1, 1, 0])
    assert np.isfinite(Perceptron(eta0=1e308, shuffle=False, max_iter=1, tol=None).fit(X[:3], y[[0, 1, 3]]).intercept_)
    with pytest.raises(InvalidData, match="beyond the range of float64"):
        Perceptron(eta0=1e308, average=True, shuffle=False, max_iter=1, tol=None).fit(X, y)


def test_a_pocket_gives_the_planes_to_predict_with():
    learner = Learner.start(np.array([[1.0, 2.0]]), np.array([3.0]), pocket=True)
    learner.weights[0] = [-5.0, 7.0]  # where the walk went on to
    coef, intercept = learner.coefficients(0)
    np.testing.assert_array_equal(coef, [1.0, 2.0])
    assert intercept == 3.0
