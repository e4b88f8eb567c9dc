"""Newton's first step from the shares of the classes leads to the linear discriminant."""

import numpy as np
import pytest
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
    step = problem.step_to_discriminant(gradient, -SymmetricSolver(hessian).precondition(gradient))
    coef, intercept = problem.scale.coefficients(theta + step)
    expected = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)  # whose covariance is divided by n, as ours
    np.testing.assert_allclose(coef, expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(intercept, expected.intercept_, rtol=1e-9)
