"""Where logistic fits begin, and products with their Hessian."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.likelihood.likelihood import Likelihood


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_the_first_step_is_that_of_scikit_learns_discriminant(share):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(500) < share, 1.0, -1.0)
    X = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4)) * [1.0, 100.0, 0.01, 1.0] + 5.0
    X[:, 0] += 1.5 * (y > 0)
    design = InMemory(X, y[:, None])
    problem = Likelihood(design, ColumnScale.exact(design, True), 1, 0.0)
    theta = problem.prior()
    _, gradient, hessian = problem.evaluate_with_hessian(theta)
    step, _spread = problem.step_to_discriminant(gradient, -SymmetricSolver(hessian).precondition(gradient))
    coef, intercept = problem.scale.coefficients(theta + step)
    expected = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)  # whose covariance is divided by n, as ours
    np.testing.assert_allclose(coef, expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(intercept, expected.intercept_, rtol=1e-9)


@pytest.mark.parametrize("strength", [0.0, 0.1, 100.0])
def test_the_discriminant_of_several_classes_is_close_to_the_end(strength):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)) @ rng.normal(size=(3, 3)) + 5.0, rng.integers(0, 4, 600)
    X[:, 0] += y
    design = InMemory(X, y[:, None].astype(float))
    problem = Likelihood(design, ColumnScale.exact(design, True), 4, strength)
    first, last = problem.evaluate(problem.prior())[0], problem.newton(None, 1e-8, 50, 1e-8).state.value
    found = problem.discriminant()
    assert problem.evaluate(found.theta)[0] == found.value
    assert found.value - last < 0.05 * (first - last)


@pytest.mark.parametrize("n_scores", [1, 4])
@pytest.mark.parametrize("rows", ["one block", "sparse"])
def test_products_with_the_hessian_are_those_of_the_matrix(n_scores, rows):
    rng = np.random.default_rng(0)
    X = (
        rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.08)
        if rows == "sparse"
        else rng.normal(size=(300, 5)) + 2.0
    )
    y = rng.integers(0, 4, 300).astype(float) if n_scores > 1 else rng.choice([-1.0, 1.0], 300)
    design = InMemory(csr_array(X) if rows == "sparse" else X, y[:, None], rng.random(300))
    problem = Likelihood(design, ColumnScale.exact(design, True), n_scores, 0.1)
    theta, change = problem.balanced(rng.normal(size=(2, *problem.shape)).transpose(1, 0, 2)).transpose(1, 0, 2)
    curvature, hessian = problem.curvature_at(theta), problem.evaluate_with_hessian(theta)[2]
    expected = (hessian @ change.ravel()).reshape(change.shape)  # balanced, so that no common curvature is in it
    np.testing.assert_allclose(curvature.product(change), expected, rtol=1e-9, atol=1e-12)
    step = curvature.precondition(change)
    assert np.vdot(step, change) > 0
    if n_scores == 1:
        np.testing.assert_allclose(curvature.diagonal.ravel(), hessian.diagonal(), rtol=1e-9)
        np.testing.assert_allclose(step * curvature.diagonal, change, rtol=1e-9)
    else:  # the same for all classes changes no score, so that only the penalty would determine it
        np.testing.assert_allclose(step.sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("score", [10.0, 28.0])
def test_far_out_on_separated_rows_the_maximum_is_still_at_infinity(score):
    """A single row of a category: its slope at the start looks like a rounding error, but shrinks in each step."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=2_000), np.zeros(2_000)])
    y = np.where(X[:, 0] + rng.logistic(size=2_000) > 0, 1.0, -1.0)
    X[0, 1], y[0] = 1.0, 1.0
    design = InMemory(X, y[:, None])
    problem = Likelihood(design, ColumnScale.exact(design, True), 1, 0.0)
    theta = problem.scale.parameters(np.array([[1.0, 0.0]]), np.zeros(1))
    rest = problem.newton(theta, 1e-8, 3, 1e-8).state.theta  # the other parameters are settled
    coef, intercept = problem.scale.coefficients(rest)
    coef[0, 1] = score
    assert problem.newton(problem.scale.parameters(coef, intercept), 1e-8, 100, 1e-7).unbounded
