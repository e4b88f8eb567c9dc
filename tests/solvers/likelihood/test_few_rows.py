"""Several classes with no more rows than columns: separated, and solved by products with Hessians."""

import numpy as np
import pytest
import sklearn.linear_model

from hiperplano import LogisticRegression
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.in_memory import InMemory
from hiperplano.losses.softmax import shares
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood


def table(n, d, classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.argmax(X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize(("n", "d", "classes"), [(40, 80, 9), (100, 120, 9), (100, 500, 4), (60, 70, 12)])
def test_coefficients_have_nine_digits(n, d, classes, C):
    """Coefficients are −C·Xᵀ(p − y), where y holds a 1 for the class of a row: the penalty's slope at the minimum."""
    X, y = table(n, d, classes)
    model = LogisticRegression(C=C, max_iter=1_000).fit(X, y)
    errors = shares(model.decision_function(X)) - np.eye(classes)[y]
    atol = 1e-9 * max(1.0, C) * np.abs(model.coef_).max()
    np.testing.assert_allclose(model.coef_, -C * errors.T @ X, rtol=0, atol=atol)
    np.testing.assert_allclose(errors.sum(axis=0), 0.0, atol=1e-8)


def test_many_classes_on_correlated_columns_converge_with_a_weak_penalty():
    """There are too many parameters for a full Hessian, and L-BFGS with one Hessian for each class does not end."""
    X, y = table(400, 150, 28)
    rng = np.random.default_rng(1)
    X = (X + 3.0 * rng.normal(size=(400, 1))) * 1e3 ** rng.uniform(-0.5, 0.5, 150)
    model = LogisticRegression(C=100.0).fit(X, y)
    assert model.solution_.converged, model.solution_
    errors = shares(model.decision_function(X)) - np.eye(28)[y]
    gradient = (errors.T @ (X - X.mean(axis=0)) + model.coef_ / 100.0) / (400 * X.std(axis=0))
    np.testing.assert_allclose(gradient, 0.0, atol=2e-8)


@pytest.mark.filterwarnings("ignore")  # the reference warns that it cannot do better
def test_nine_digits_for_weak_penalties_and_correlated_columns():
    """The reference has the principal components of the rows as columns, which change neither scores nor penalty."""
    rng = np.random.default_rng(2)
    X = np.sqrt(0.1) * rng.normal(size=(75, 300)) + np.sqrt(0.9) * rng.normal(size=(75, 1))
    y = np.arange(75) % 6
    left, singular, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = singular > 1e-9 * singular[0]
    reference = sklearn.linear_model.LogisticRegression(C=1e3, solver="newton-cholesky", tol=1e-13, max_iter=1_000)
    expected = reference.fit(left[:, kept] * singular[kept], y).coef_ @ right[kept]
    model = LogisticRegression(C=1e3).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("n", "d", "classes"), [(100, 900, 5), (100, 100, 3), (60, 600, 1), (2_000, 20, 4)])
@pytest.mark.parametrize("strength", [1e-4, 1.0])
def test_the_first_step_by_a_diagonal_is_about_as_long_as_curvature_allows(n, d, classes, strength):
    """The minimum of the parabola along the step, by products with the Hessian, is at 1 of it."""
    X, y = table(n, d, max(classes, 2))
    design = InMemory(X, (2.0 * y - 1.0 if classes == 1 else y.astype(float))[:, None])
    problem = Likelihood(design, ColumnScale.exact(design, True), classes, strength)
    prior = problem.prior()
    gradient = problem.evaluate(prior)[1]
    step = -DiagonalPreconditioner(problem)(gradient)
    curved = float(np.vdot(step, problem.curvature_at(prior).product(step)))
    assert 0.5 < -float(np.vdot(gradient, step)) / curved < 2.0
