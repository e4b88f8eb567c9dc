"""When preconditioners are bought."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression as ScikitLearn

from hiperplano import LogisticRegression
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.likelihood import preconditioners
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.passes import curvature_sums
from hiperplano.solvers.likelihood.passes.curvature_sums import ClassBlockSums
from hiperplano.solvers.likelihood.preconditioned_lbfgs import PreconditionedLBFGS
from hiperplano.solvers.likelihood.preconditioners import at_discriminant


@pytest.fixture
def bought(monkeypatch):
    """Number of passes before each Hessian of all rows, and whether it was bought before the first step."""
    when, buy = [], preconditioners._AllRows.buy

    def noted(offer, theta, first):
        when.append((offer._problem.passes, first))
        return buy(offer, theta, first)

    monkeypatch.setattr(preconditioners._AllRows, "buy", noted)
    return when


@pytest.mark.parametrize(("n_rows", "passes"), [(1_000, 2), (8_000, 1)])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_a_hessian_comes_first_where_columns_depend_on_each_other(bought, correlation, n_rows, passes):
    """One step by a diagonal tells, or some of many rows; where columns have little in common, it is as good."""
    rng = np.random.default_rng(0)
    X = np.sqrt(1 - correlation) * rng.normal(size=(n_rows, 60)) + np.sqrt(correlation) * rng.normal(size=(n_rows, 1))
    y = X[:, :9].sum(axis=1) + rng.logistic(size=n_rows) > 0
    model = LogisticRegression().fit(X, y)
    if correlation > 0:
        assert bought[0] == (passes, True)
    else:
        assert not any(first for _, first in bought)
    exact = LogisticRegression(solver="newton", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0, atol=1e-9)


def test_many_columns_with_a_common_factor_need_no_hessian(bought):
    """Conjugate gradients take a step or two for the factor, and unrelated columns few for the rest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9_600, 1_200)) + rng.normal(size=(9_600, 1))
    y = X @ rng.normal(size=1_200) / 50 + rng.logistic(size=9_600) > 0
    model = LogisticRegression().fit(X, y)
    assert model.solution_.method == "Newton with conjugate gradients"
    assert not bought
    slope = expit(model.decision_function(X)) - y  # the gradient is zero
    np.testing.assert_allclose(slope @ X + model.coef_[0], 0.0, atol=1e-7 * len(X))
    np.testing.assert_allclose(slope.sum(), 0.0, atol=1e-7 * len(X))


def test_hessians_that_float32_cannot_tell_are_not_made_twice(bought, monkeypatch):
    made, hessian = [], preconditioners.SinglePrecision.hessian

    def noted(passes, theta):
        made.append(hessian(passes, theta))
        return made[-1]

    monkeypatch.setattr(preconditioners.SinglePrecision, "hessian", noted)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4_000, 80))
    X[:, 40:] = X[:, :40] + 1e-5 * X[:, 40:]
    y = X[:, :40] @ rng.normal(size=40) + rng.logistic(size=4_000) > 0
    LogisticRegression(C=1e8).fit(X, y)
    assert len(bought) > 1
    assert sum(found is not None for found in made) == 1


def test_hessians_of_many_columns_are_made_in_float32(bought, monkeypatch):
    """Their smallest eigenvalue counts, not the condition number in the 1-norm, which grows with the columns."""
    in_double = []
    monkeypatch.setattr(Likelihood, "evaluate_with_hessian", lambda problem, theta: in_double.append(theta))
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1_200, 600))
    y = X @ rng.normal(size=600) / 12 + rng.logistic(size=1_200) > 0
    model = LogisticRegression(C=10.0).fit(X, y)
    assert bought
    assert not in_double
    slope = expit(model.decision_function(X)) - y  # the gradient is zero
    np.testing.assert_allclose(10.0 * slope @ X, -model.coef_[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("strength", "within"), [(1e-12, 1e-8), (1.0, 0.5)])
def test_classes_of_about_the_same_size_share_a_block(strength, within):
    """Blocks at the prior differ by a factor, and only a strong penalty makes that approximate."""
    rng = np.random.default_rng(4)
    codes = rng.choice(5, size=900, p=[0.05, 0.1, 0.12, 0.13, 0.6]).astype(float)
    design = InMemory(rng.normal(size=(900, 12)) + rng.normal(size=(900, 1)), codes[:, None])
    problem = Likelihood(design, ColumnScale.exact(design, True), 5, strength)
    start = at_discriminant(problem)
    assert len(start.curvature.matrices) < 5
    share = problem.class_shares
    vector = problem.balanced(rng.normal(size=start.theta.shape))
    moments = problem.discriminant()[3]
    curved = [s * (1 - s) * moments + np.diag(problem.penalty.strength) for s in share]
    exact = problem.balanced(np.stack([np.linalg.solve(*each) for each in zip(curved, vector, strict=True)]))
    np.testing.assert_allclose(np.vdot(vector, start.precondition(vector)), np.vdot(vector, exact), rtol=within)


@pytest.mark.parametrize("spread", [0.1, 1.0])
def test_a_second_hessian_is_bought_at_the_discriminant_where_scores_differ(monkeypatch, spread):
    """One step from the first; where curvatures of all rows are about the same, that is as good as any other."""
    passes, buy = [], preconditioners._AllRows.buy

    def noted(offer, theta, first):
        passes.append(offer._problem.passes)
        found = buy(offer, theta, first)
        passes.append(offer._problem.passes)
        return found

    monkeypatch.setattr(preconditioners._AllRows, "buy", noted)
    rng = np.random.default_rng(2)
    X = np.sqrt(0.1) * rng.normal(size=(1_200, 60)) + np.sqrt(0.9) * rng.normal(size=(1_200, 1))
    y = X @ rng.normal(size=60) * spread / 3 + rng.logistic(size=1_200) > 0
    model = LogisticRegression().fit(X, y)
    if spread < 1:
        assert len(passes) == 2
    else:
        assert passes[2] - passes[1] == 1
    exact = ScikitLearn(solver="newton-cholesky", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", [(5_000, 60), (9_000, 40)])
def test_standard_errors_mostly_take_one_hessian_in_float64(monkeypatch, shape):
    made, evaluate = [], Likelihood.evaluate_with_hessian
    monkeypatch.setattr(
        Likelihood, "evaluate_with_hessian", lambda problem, theta: made.append(theta) or evaluate(problem, theta)
    )
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=shape)
        y = X[:, :4].sum(axis=1) + rng.logistic(size=shape[0]) > 0
        model = LogisticRegression(C=np.inf).fit(X, y)
    # L-BFGS sometimes ends one step too early, by an estimate of its error, and Newton's method takes a second Hessian:
    # in 4 of 24 fits.
    assert len(made) <= 9
    score = X @ model.coef_[0] + model.intercept_[0]
    rows = np.column_stack([np.ones(shape[0]), X]) / (2 * np.cosh(score / 2))[:, None]
    exact = np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)))
    np.testing.assert_allclose(model.summary().se, exact, rtol=1e-11)


def test_the_first_step_of_two_classes_goes_on_to_the_discriminant():
    """Columns have nothing to do with each other: a step by a diagonal is least squares, whose scores are too small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 30))
    y = X[:, :9].sum(axis=1) + rng.logistic(size=3_000) > 0.5
    design = InMemory(X, np.where(y, 1.0, -1.0)[:, None])
    problem = Likelihood(design, ColumnScale.exact(design, True), 1, 1e-4)
    states = []
    problem.watch = states.append
    PreconditionedLBFGS(problem, [], 1e-8, 100, 1e-10).minimise(None)
    prior, first, *_ = states
    plain = prior.theta - DiagonalPreconditioner(problem)(prior.gradient)
    assert first.value < problem.evaluate(plain)[0]
    assert first.largest < 0.7 * np.abs(problem.evaluate(plain)[1]).max()


def test_products_with_clearly_separated_rows_have_no_subnormal_numbers(monkeypatch):
    """Processors compute with subnormal numbers up to thirty times as slowly."""
    factors = []

    def product(left, right):
        factors.extend([left, right])
        return left @ right

    monkeypatch.setattr(curvature_sums, "matrix_product", product)
    rng = np.random.default_rng(0)
    design = InMemory(rng.normal(size=(500, 4)), rng.integers(3, size=(500, 1)).astype(float))
    scale, theta = ColumnScale.exact(design, fit_intercept=True), 80.0 * rng.normal(size=(3, 5))
    (blocks,) = design.fold(ClassBlockSums(scale, theta, 500.0, np.float32))
    for factor in factors:
        assert not np.any((factor != 0) & (np.abs(factor) < np.finfo(np.float32).tiny))
    (exact,) = design.fold(ClassBlockSums(scale, theta, 500.0, np.float64))
    np.testing.assert_allclose(blocks, exact, rtol=0, atol=1e-5 * np.abs(exact).max())
    assert len(factors) == 12
