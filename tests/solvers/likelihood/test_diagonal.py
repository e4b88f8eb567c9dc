"""The diagonal preconditioner that follows the loss, and how far fits to nearly separated classes go."""

import numpy as np
from sklearn.linear_model import LogisticRegression as ScikitLearn

from hiperplano import LogisticRegression
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.lbfgs import State, drive, lbfgs
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood


def separated(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Nearly separated classes, by columns on scales from 1 to 10⁴."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 0.1 * rng.logistic(size=n) > 0
    return X * 10.0 ** rng.uniform(0, 4, d), y


def objective(model, X, y) -> float:
    margin = np.where(y, 1.0, -1.0) * model.decision_function(X)
    return float(model.C * np.logaddexp(0.0, -margin).sum() + 0.5 * (model.coef_**2).sum())


def test_it_follows_the_hessian_where_classes_are_nearly_separated():
    """Columns that the penalty holds back need other steps once the loss has hardly any curvature."""
    X, y = separated(500, 1_000, 0)
    design = InMemory(X, np.where(y, 1.0, -1.0)[:, None])
    problem = Likelihood(design, ColumnScale.exact(design, True), 1, 1.0)
    precondition = DiagonalPreconditioner(problem)

    def spread() -> float:
        """Largest over smallest ratio of the Hessian's diagonal at the minimum to that of the preconditioner."""
        ratio = problem.curvature_at(found.theta).diagonal * precondition(np.ones_like(found.theta))
        return float(ratio.max() / ratio.min())

    passes = problem.passes
    found = drive(lbfgs(State(problem.prior(), *problem.at_prior), precondition, 1e-9, 5_000), problem.evaluate)
    assert problem.passes - passes < 700  # 330; with the diagonal at the prior 5,000 are not enough
    followed = spread()
    precondition = DiagonalPreconditioner(problem)
    assert followed < 20.0 < 1e-2 * spread()


def test_preconditioners_of_several_classes_are_symmetric():
    """Also for gradients that do not quite sum to zero over the classes, such as those of float32."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [1.0, 1e-3, 1e3, 1.0]
    design = InMemory(X, rng.integers(3, size=60)[:, None].astype(float))
    problem = Likelihood(design, ColumnScale.exact(design, True), 3, 1.0)
    a, b = rng.normal(size=(2, *problem.shape))
    for precondition in (DiagonalPreconditioner(problem), problem.curvature_at(problem.prior()).precondition):
        np.testing.assert_allclose(np.vdot(a, precondition(b)), np.vdot(b, precondition(a)), rtol=1e-12)
        np.testing.assert_allclose(precondition(a).sum(axis=0), 0.0, atol=1e-12 * np.abs(precondition(a)).max())


def test_the_objective_is_as_close_to_its_minimum_as_tol_says():
    X, y = separated(400, 150, 2)
    least = objective(ScikitLearn(C=1e4, solver="newton-cholesky", tol=1e-12).fit(X, y), X, y)
    models = [LogisticRegression(C=1e4, tol=tol).fit(X, y) for tol in (1e-8, 1e-4)]
    for model in models:
        above = objective(model, X, y) / least - 1.0
        assert -1e-9 <= above < 300.0 * model.tol  # the distance is estimated
    assert models[1].solution_.passes < 0.9 * models[0].solution_.passes
