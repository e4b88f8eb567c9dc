"""The objective over any loss: its value is the definition, its gradient and Hessian are the derivatives of that."""

import cloudpickle
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.in_memory import InMemory
from hiperplano.losses import Logistic, Softmax, Squared, SquaredHinge
from hiperplano.solvers.newton import newton
from hiperplano.solvers.objective import GradientSums, Objective

LOSSES = [(Logistic(), 1), (SquaredHinge(), 1), (Squared(), 1), (Softmax(), 3)]


def problem_of(loss, n_scores, make=np.asarray, offset=3.0, fit_intercept=True, strength=0.3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)) * [1.0, 10.0, 0.1] + offset
    y = np.where(rng.random(150) < 0.5, 1.0, -1.0) if n_scores == 1 else rng.integers(0, n_scores, 150).astype(float)
    design = InMemory(make(X), y[:, None], rng.uniform(0.5, 2.0, 150))
    return Objective(design, loss, ColumnScale.exact(design, fit_intercept), n_scores, strength), X, y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("make", "offset"), [(np.asarray, 3.0), (np.asarray, 1e5), (csr_array, 3.0)])
@pytest.mark.parametrize(("loss", "n_scores"), LOSSES, ids=lambda one: str(one)[:8])
def test_derivatives(loss, n_scores, make, fit_intercept, offset):
    problem, X, y = problem_of(loss, n_scores, make, offset, fit_intercept)
    theta = np.random.default_rng(1).normal(size=problem.shape)
    coef, _ = problem.scale.coefficients(theta)
    score = (X - problem.scale.shift) @ coef.T + (theta[:, 0] if fit_intercept else 0.0)
    weight = problem.design.vector("weight")
    value, gradient = problem.evaluate(theta)
    losses = loss.value(y, score[:, 0] if n_scores == 1 else score)
    np.testing.assert_allclose(value, weight @ losses / weight.sum() + 0.15 * np.sum(coef**2), rtol=1e-9)
    again, same, hessian = problem.evaluate_with_hessian(theta)
    np.testing.assert_allclose(again, value, rtol=1e-12)
    np.testing.assert_allclose(same, gradient, rtol=1e-7, atol=1e-9)
    direction = problem.balanced(np.random.default_rng(2).normal(size=problem.shape))
    (high, up), (low, down) = (problem.evaluate(theta + sign * 1e-6 * direction) for sign in (1, -1))
    np.testing.assert_allclose((high - low) / 2e-6, np.vdot(gradient, direction), rtol=1e-6, atol=1e-8)
    if not isinstance(loss, SquaredHinge):  # whose curvature jumps where a row crosses its margin
        curved = problem.balanced((hessian @ direction.ravel()).reshape(direction.shape))
        np.testing.assert_allclose(problem.balanced((up - down) / 2e-6), curved, rtol=1e-5, atol=1e-7)


def test_newton_finds_the_minimum_of_the_squared_hinge():
    problem, _, _ = problem_of(SquaredHinge(), 1)
    found = newton(problem, np.zeros(problem.shape), 1e-10, 100, 1e-8)
    expected = minimize(lambda t: problem.evaluate(t[None])[0], np.zeros(problem.shape[1]), tol=1e-12)
    assert found.state.largest <= 1e-10
    assert found.state.value == pytest.approx(expected.fun, rel=1e-9)
    assert found.state.value <= expected.fun + 1e-12


def test_statistics_are_small_however_many_rows():
    problem, _, _ = problem_of(Logistic(), 1)
    assert len(cloudpickle.dumps(GradientSums(problem.loss, problem.scale.scores(np.zeros(problem.shape))))) < 2000
