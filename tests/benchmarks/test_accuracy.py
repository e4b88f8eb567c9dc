"""The race's judges: they must see what is wrong, and agree with sums done in the plainest way."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from benchmarks.accuracy import (
    chosen_penalty_accuracy,
    classical_errors,
    fold_scores,
    least_squares_accuracy,
    leave_one_out_scores,
    slope,
)
from benchmarks.problems import regression
from benchmarks.rivals import sklearn
from benchmarks.workload import Answer, Request
from benchmarks.workloads import ill_scaled_credit, ridge_cv_folds, ridge_cv_loo

ALPHAS = np.logspace(-2, 2, 5)


def exact(X, y, alpha):
    """Ridge by a solve with the intercept as a column of its own."""
    full = np.column_stack([np.ones(len(X)), X])
    penalty = alpha * np.eye(full.shape[1])
    penalty[0, 0] = 0.0
    both = np.linalg.solve(full.T @ full + penalty, full.T @ y)
    return Answer(both[1:], both[0])


@pytest.mark.parametrize("alpha", [0.0, 10.0])
def test_slope_vanishes_at_the_minimum_only(alpha):
    X, y = regression(300, 4)
    best = exact(X, y, alpha)
    assert slope(X, y, best, alpha) < 1e-12
    assert slope(X, y, Answer(best.coef + np.array([0, 0, 1e-6, 0]), best.intercept), alpha) > 1e-7
    assert slope(X, y, Answer(best.coef, best.intercept + 1e-6), alpha) > 1e-7
    assert slope(X, y, best, alpha + 1.0) > 1e-4


def test_slope_is_the_cosine_in_any_unit():
    X, y = regression(300, 1)
    wrong = Answer(np.zeros(1), y.mean())
    expected = abs(np.corrcoef(X[:, 0], y)[0, 1])
    assert slope(X, y, wrong) == pytest.approx(expected, rel=1e-12)
    assert slope(1e-9 * X, 1e5 * y, Answer(np.zeros(1), 1e5 * y.mean())) == pytest.approx(expected, rel=1e-12)


def test_slope_over_several_blocks_and_of_constant_columns():
    X, y = regression(70_000, 2)
    X[:, 1] = 7.0
    best = exact(X[:, :1], y, 0.0)
    assert slope(X, y, Answer(np.array([best.coef[0], 0.0]), best.intercept)) < 1e-12


def test_an_exact_fit_has_no_slope():
    X = np.arange(4.0)[:, None]
    assert slope(X, 2 * X[:, 0], Answer(np.array([2.0]), 0.0)) == 0.0


def test_classical_errors():
    X, y = regression(200, 3)
    fit = sm.OLS(y, sm.add_constant(X)).fit()
    coef, se = classical_errors(X, y)
    np.testing.assert_allclose(coef, fit.params, rtol=1e-11)
    np.testing.assert_allclose(se, fit.bse, rtol=1e-11)


def test_leave_one_out_scores():
    X, y = regression(30, 3)
    expected = []
    for alpha in ALPHAS:
        errors = []
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            fit = exact(X[rest], y[rest], alpha)
            errors.append(y[i] - X[i] @ fit.coef - fit.intercept)
        expected.append(-np.mean(np.square(errors)))
    np.testing.assert_allclose(leave_one_out_scores(X, y, ALPHAS), expected, rtol=1e-11)


def test_fold_scores():
    X, y = regression(33, 3)  # folds of unequal length
    expected = [cross_val_score(Ridge(alpha), X, y, cv=5).mean() for alpha in ALPHAS]
    np.testing.assert_allclose(fold_scores(X, y, ALPHAS, 5), expected, rtol=1e-11)


@pytest.mark.parametrize(("workload", "cv"), [(ridge_cv_loo, None), (ridge_cv_folds, 5)])
def test_the_chosen_penalty_is_judged(workload, cv):
    problem = workload.WORKLOAD.make(Request(quick=True))
    right = sklearn.ridge_cv(problem.X, problem.y, problem.alphas, cv)
    place = int(np.flatnonzero(problem.alphas == right.figures["alpha"])[0])
    assert 0 < place < len(problem.alphas) - 1, "the best penalty lies inside the grid"
    boastful = Answer(figures=right.figures | {"score": right.figures["score"] * (1 + 1e-7)})
    other = Answer(figures=right.figures | {"alpha": problem.alphas[place + 1]})
    accuracy = workload.WORKLOAD.accuracy
    distances = accuracy.distances(problem, [right, boastful, other])
    assert distances[0] < 1e-10
    assert distances[1] == pytest.approx(1e-7, rel=1e-2)
    assert distances[2] == np.inf
    assert distances[0] < accuracy.equal < distances[1]


def test_scores_of_the_problem_itself_are_used():
    problem = ridge_cv_loo.PenaltyChoice(np.empty(0), np.empty(0), ALPHAS)
    accuracy = chosen_penalty_accuracy(lambda p: -np.abs(np.log(p.alphas)) - 1)
    assert accuracy.distances(problem, [Answer(figures={"alpha": 1.0, "score": -1.0})]) == [0.0]


def test_unscaled_columns_that_a_solver_drops_are_seen():
    problem = ill_scaled_credit.make(Request(quick=True))
    accuracy = least_squares_accuracy()
    unit = problem.X.std(axis=0)
    scaled = exact((problem.X - problem.X.mean(axis=0)) / unit, problem.y, 0.0)
    coef = scaled.coef / unit
    good = Answer(coef, scaled.intercept - coef @ problem.X.mean(axis=0))
    dropped = sklearn.linear_regression(problem.X, problem.y)
    distances = accuracy.distances(problem, [good, dropped])
    assert distances[0] < accuracy.equal
    assert distances[1] > 0.1
