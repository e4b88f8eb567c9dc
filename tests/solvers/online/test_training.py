"""What a pass notices, and which planes are judged after it."""

import numpy as np
import pytest

from hiperplano import PassiveAggressiveClassifier, Perceptron, SGDClassifier, SGDRegressor
from hiperplano.errors import InvalidData
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.training import run_passes, train


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


@pytest.mark.parametrize(
    "model",
    [
        SGDRegressor(random_state=1),
        SGDRegressor(learning_rate="adaptive", random_state=1),
        SGDRegressor(max_iter=3, shuffle=False),
        SGDRegressor(learning_rate="constant", eta0=10.0, random_state=1),
        SGDClassifier("log_loss", random_state=1),
        Perceptron(tol=None, max_iter=40, random_state=1),
        PassiveAggressiveClassifier(random_state=1),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_in_one_call_are_those_that_are_looked_at(model, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = X @ [1.0, -1.0, 2.0, 0.5] + rng.normal(size=90)
    y = y if isinstance(model, SGDRegressor) else y > 0
    weight = rng.uniform(0.3, 2.5, size=90) if weighted else None
    (_, (task,), control), (_, (looked_at,), _) = (model._plan(X, y, None, None, weight) for _ in range(2))
    found = train(task, control)
    *_, expected = run_passes(looked_at, control)
    assert (found.mistakes, found.ended) == (expected.mistakes, expected.ended)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-12)
    ours, theirs = task.trainer.learner, looked_at.trainer.learner
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-12)
    np.testing.assert_allclose(ours.states, theirs.states, rtol=1e-12)
