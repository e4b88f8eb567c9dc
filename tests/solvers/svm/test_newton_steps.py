"""Newton steps on dense rows: by conjugate gradients, or by a factor where those take as long."""

import numpy as np
import pytest
from numba import njit
from scipy.optimize import minimize

from hiperplano import LinearSVC
from hiperplano.solvers.svm.compiled.step_loops import conjugate_step, newton_step


@njit
def by_conjugate_gradients(x, free, stiffness, offset, mass, grad, fit_intercept, enough, most, step):
    return conjugate_step(x, free, len(free), stiffness, offset, mass, grad, fit_intercept, enough, most, step)


@njit
def by_factor(x, free, stiffness, offset, mass, grad, fit_intercept, step):
    newton_step(x, free, len(free), stiffness, offset, mass, grad, fit_intercept, step)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n", [9, 42])
def test_a_step_solves_with_the_curvature_of_the_free_rows(n, fit_intercept):
    rng = np.random.default_rng(n)
    d = 12
    x, free = rng.normal(size=(n, d)) + 1.0, np.flatnonzero(rng.uniform(size=n) < 0.8)
    stiffness, grad = rng.uniform(1, 3, len(free)), rng.normal(size=d + 1)
    mass, ones = stiffness.sum(), np.column_stack([x[free], np.ones(len(free))])
    curvature = (ones.T * stiffness) @ ones + np.diag([1.0] * d + [0.0])
    if not fit_intercept:
        grad[-1] = 0.0
        curvature[-1], curvature[:, -1], curvature[-1, -1] = 0.0, 0.0, 1.0
    expected = np.linalg.solve(curvature, -grad)
    offset = stiffness @ x[free] / mass
    given = stiffness, offset, mass, grad, fit_intercept
    exact, step = np.empty(d + 1), np.empty(d + 1)
    by_factor(x, free, *given, exact)
    np.testing.assert_allclose(exact, expected, rtol=1e-9, atol=1e-9)
    assert not by_conjugate_gradients(x, free, *given, 0.0, 1, step)
    assert by_conjugate_gradients(x, free, *given, 0.0, 40, step)
    assert np.linalg.norm(curvature @ step + grad) < 0.5 * np.linalg.norm(grad)
    assert step @ grad < 0


def objective(parameters, X, sign, C):
    """½‖coef‖² + C·Σ max(0, 1 − margin)², and its slope."""
    coef, level = parameters[:-1], parameters[-1]
    short = np.maximum(0.0, 1.0 - sign * (X @ coef + level))
    pull = -2.0 * C * sign * short
    return 0.5 * coef @ coef + C * short @ short, np.append(coef + X.T @ pull, pull.sum())


@pytest.mark.parametrize("columns", ["apart", "dependent"])
@pytest.mark.parametrize("C", [1e-2, 10.0])
def test_the_squared_hinge_on_dense_rows_is_least(columns, C):
    """Conjugate gradients alone serve columns that are far from each other; others need the factor on the way."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 120))
    if columns == "dependent":
        X = X @ (rng.normal(size=(120, 120)) * np.logspace(0, -3, 120))
        X /= X.std(axis=0)
    y = X @ rng.normal(size=120) / np.sqrt(120) + 0.5 * rng.logistic(size=len(X)) > 0
    sign = np.where(y, 1.0, -1.0)
    model = LinearSVC(C=C).fit(X, y)
    reference = minimize(
        objective,
        np.zeros(121),
        (X, sign, C),
        "L-BFGS-B",
        True,
        options={"maxiter": 50_000, "maxfun": 100_000, "ftol": 0, "gtol": 1e-9},
    )
    mine, _ = objective(np.append(model.coef_, model.intercept_), X, sign, C)
    assert str(model.solution_.method) == "Newton's method"
    assert model.solution_.converged
    assert mine <= reference.fun * (1 + 1e-4)
    assert mine >= reference.fun * (1 - 1e-7)
    assert mine == pytest.approx(model.solution_.objective, rel=1e-10)
    closer = LinearSVC(C=C, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        objective(np.append(closer.coef_, closer.intercept_), X, sign, C)[0], reference.fun, rtol=1e-7
    )
