"""Passes in float32 about a point whose sums are known in float64."""

import numpy as np
import pytest

from hiperplano import LogisticRegression
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.validate import design as make_design
from hiperplano.solvers.lbfgs import State, _whole_step, drive, line_search
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision


@pytest.mark.parametrize("n_scores", [1, 4])
@pytest.mark.parametrize(("orders", "dtype"), [(20, np.float64), (3, np.float64), (3, np.float32)])
def test_steps_are_as_good_as_in_float64(n_scores, orders, dtype):
    """Value, gradient and products with the Hessian; near the base they lose a share of the step, no more.

    Of columns that are standardised, cast, and multiplied as they are.
    """
    rng = np.random.default_rng(0)
    rows, sizes = rng.normal(size=(1_500, 200)), 10.0 ** rng.uniform(-orders, orders, size=200)
    X = (rows * sizes + (5.0 if orders == 20 else sizes)).astype(dtype)
    y = np.where(rng.random(1_500) < 0.3, 1.0, -1.0) if n_scores == 1 else rng.integers(4, size=1_500).astype(float)
    rows = make_design(X, y, rng.uniform(0.5, 2.0, size=1_500))
    problem = Likelihood(rows, ColumnScale.exact(rows, fit_intercept=True), n_scores, 1e-3)
    passes = SinglePrecision(problem, 1e-8)
    passes._history = [1.0] * 1_000  # so many passes that a copy is worth its time
    base, step = rng.normal(size=problem.shape) / 100, rng.normal(size=problem.shape)
    passes.evaluate(base)
    for length in (1e-2, 1e-5, 1e-8):
        theta = base + length * step
        value, gradient = passes.evaluate(theta)
        exact, slope = problem.evaluate(theta)
        assert abs(value - exact) <= 1e-15 + 1e-6 * length**2
        np.testing.assert_allclose(gradient, slope, rtol=1e-15, atol=1e-16 + 1e-6 * length)
    hessian = passes.hessian(base)
    if hessian is not None:  # one score, of columns as they are
        assert n_scores == 1
        assert orders == 3
        exact = problem.evaluate_with_hessian(base)[2]
        np.testing.assert_allclose(hessian, exact, rtol=0, atol=1e-4 * exact.diagonal().max())
    image = passes.curvature_at(base).product(step)
    np.testing.assert_allclose(image, problem.curvature_at(base).product(step), rtol=0, atol=1e-5 * np.abs(image).max())


def test_a_fit_with_float32_passes_has_all_digits():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 700))
    y = X[:, :5].sum(axis=1) + rng.logistic(size=900) > 0
    model = LogisticRegression(C=0.01).fit(X, y)
    assert model.solution_.method == "L-BFGS"
    exact = LogisticRegression(C=0.01, solver="newton").fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0, atol=1e-9)


def test_a_last_step_that_is_too_long_is_shortened():
    """From a gradient within `tol`: what is left would otherwise be of the order of the step."""
    theta = np.array([[1e-6, -1e-7]])
    found = drive(_whole_step(State(theta, 0.5 * np.vdot(theta, theta), theta), -4.0 * theta), _half_square)
    assert found is not None
    np.testing.assert_allclose(found.theta, 0.0, atol=1e-20)


@pytest.mark.parametrize("search", [_whole_step, line_search])
def test_slopes_tell_where_rounded_values_do_not(search):
    """A value in float32 that is too low must not keep the next one, in float64, from being accepted."""
    theta, rounding = np.array([[1e-7, -1e-8]]), 1e-11
    state = State(theta, 0.5 * np.vdot(theta, theta) - rounding, theta)
    found = drive(search(state, -1.5 * theta), _half_square)
    assert found is not None
    np.testing.assert_allclose(found.theta, -0.5 * theta)  # the whole step, which is too long but goes downhill
    shortened = drive(search(state, -4.0 * theta), _half_square)
    assert shortened is None or np.vdot(shortened.theta, shortened.theta) < np.vdot(theta, theta)


def _half_square(theta):
    return 0.5 * np.vdot(theta, theta), theta
