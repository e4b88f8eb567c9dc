"""Columns with a few common factors."""

import numpy as np
import pytest
from scipy.linalg import eigvalsh

from hiperplano import LogisticRegression
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.validate import design as make_design
from hiperplano.solvers.likelihood import preconditioned_lbfgs
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.sampling.factors import factor_preconditioner


def _columns(rng, n, d, n_factors):
    return rng.normal(size=(n, n_factors)) @ rng.normal(size=(n_factors, d)) + rng.normal(size=(n, d))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_factors", [0, 3])
def test_common_factors_do_not_make_the_hessian_ill_conditioned(n_factors, weighted):
    rng = np.random.default_rng(0)
    X = _columns(rng, 4_000, 100, n_factors)
    # Half of the rows have another scale and hardly any weight.
    X[::2] *= 3.0 if weighted else 1.0
    weight = np.where(np.arange(4_000) % 2, 1.0, 1e-3) if weighted else None
    rows = make_design(X, np.where(X[:, 0] + rng.logistic(size=4_000) > 0, 1.0, -1.0), weight)
    problem = Likelihood(rows, ColumnScale.exact(rows, fit_intercept=True), 1, 1e-3)
    hessian = problem.evaluate_with_hessian(problem.prior())[2]

    def condition(precondition):
        inverse = np.array([precondition(each[None])[0] for each in np.eye(101)])
        np.testing.assert_allclose(inverse, inverse.T, atol=1e-9)
        values = eigvalsh(hessian, np.linalg.inv(inverse))
        return values[-1] / values[0]

    found = condition(factor_preconditioner(problem, rows.some_rows(512)))
    plain = condition(DiagonalPreconditioner(problem))
    if n_factors:
        assert 20.0 * found < plain, (found, plain)
    else:
        np.testing.assert_allclose(found, plain, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_looks_for_factors_where_a_hessian_is_dear_and_columns_are_correlated(monkeypatch, n_classes):
    looked = []

    def noted(problem, some):
        looked.append(some.n_rows)
        return factor_preconditioner(problem, some)

    monkeypatch.setattr(preconditioned_lbfgs, "factor_preconditioner", noted)
    rng = np.random.default_rng(1)
    for n_factors in (0, 2):
        X = _columns(rng, 4_500, 320, n_factors)
        score = X[:, :9] @ rng.normal(size=(9, n_classes)) / (1 + n_factors)
        y = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
        model = LogisticRegression(C=0.1).fit(X, y)
        assert len(looked) == (n_factors > 0)
        chance = model.predict_proba(X)
        chance[np.arange(len(y)), y] -= 1.0  # the gradient is zero
        slope = chance[:, -len(model.coef_) :]
        np.testing.assert_allclose(slope.T @ X + model.coef_ / 0.1, 0.0, atol=1e-8 * len(X))
        np.testing.assert_allclose(slope.sum(axis=0), 0.0, atol=1e-8 * len(X))
