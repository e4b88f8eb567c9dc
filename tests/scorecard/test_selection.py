"""Selection step by step against statsmodels, and coefficients of one sign against SciPy."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

from hiperplano.data.validate import wrap
from hiperplano.errors import InvalidParameter
from hiperplano.scorecard.stepwise import Selection, steps_table
from hiperplano.solvers.likelihood.subsets import Subsets


def table(seed=0, n=1500, weights=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 5] = X[:, 0] + 0.4 * rng.normal(size=n)
    log_odds = X @ [-1.0, -0.5, 0.2, 0.0, -0.03, 0.3] - 1.0
    y = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    return X, y, rng.integers(1, 4, n).astype(float) if weights else None


def coded(X, y, weight=None):
    return wrap(X, np.where(y, 1.0, -1.0), weight)


def glm(X, y, columns, weight):
    exog = sm.add_constant(X[:, columns], has_constant="add") if len(columns) else np.ones((len(X), 1))
    return sm.GLM(y.astype(float), exog, family=sm.families.Binomial(), freq_weights=weight).fit(tol=1e-12)


@pytest.mark.parametrize("weights", [False, True])
def test_a_fit_on_some_columns_has_the_tests_of_statsmodels(weights):
    X, y, weight = table(weights=weights)
    fit = Subsets(coded(X, y, weight)).fit(np.arange(6) < 2)
    ones = np.ones(len(y)) if weight is None else weight
    reference = glm(X, y, [0, 1], ones)
    np.testing.assert_allclose(fit.deviance, reference.deviance, rtol=1e-10)
    np.testing.assert_allclose(fit.wald[:2], reference.tvalues[1:] ** 2, rtol=1e-6)
    for j in range(2, 6):
        repeated = np.repeat(np.arange(len(y)), ones.astype(int))
        plain = glm(X[repeated], y[repeated], [0, 1], None)
        np.testing.assert_allclose(fit.score[j], plain.score_test(X[repeated][:, [j]]).statistic[0], rtol=1e-6)
    assert np.isnan(fit.score[:2]).all()
    assert np.isnan(fit.wald[2:]).all()


def best_by_criterion(X, y, direction, price):
    """Stepwise selection by fitting every candidate, as R's `step` does."""
    d, inside = X.shape[1], [] if direction == "forward" else list(range(X.shape[1]))

    def value(columns):
        return glm(X, y, columns, None).deviance + price * (1 + len(columns))

    order, now = [], value(inside)
    while True:
        around = [j for j in range(d) if (j in inside) == (direction == "backward")]
        tried = {j: value(sorted(set(inside) ^ {j})) for j in around}
        if not tried or min(tried.values()) >= now:
            return inside, order
        j = min(tried, key=tried.get)
        inside, now = sorted(set(inside) ^ {j}), tried[j]
        order.append((j, now))


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_selection_takes_the_steps_of_fitting_every_candidate(direction, criterion):
    X, y, _ = table(seed=1, n=800)
    price = 2.0 if criterion == "aic" else np.log(len(y))
    expected, order = best_by_criterion(X, y, direction, price)
    selection = Selection(coded(X, y), [str(j) for j in range(6)], criterion, 0.05, 0.05)
    chosen = selection.run(direction, np.ones(6, dtype=bool))
    assert np.flatnonzero(chosen).tolist() == expected
    assert [int(step.variable) for step in selection.steps[1:]] == [j for j, _ in order]
    np.testing.assert_allclose([getattr(step, criterion) for step in selection.steps[1:]], [v for _, v in order])
    assert steps_table(selection.steps)["action"][0] == "start"


@pytest.mark.parametrize("direction", ["forward", "backward", "stepwise"])
def test_selection_by_p_values_ends_where_no_step_is_left(direction):
    X, y, _ = table(seed=2)
    selection = Selection(coded(X, y), list("abcdef"), "p_value", 0.05, 0.1)
    chosen = selection.run(direction, np.ones(6, dtype=bool))
    inside = np.flatnonzero(chosen).tolist()
    found = glm(X, y, inside, None)
    if direction != "forward":
        assert found.pvalues[1:].max() <= 0.1
    if direction != "backward":
        outside = [j for j in range(6) if j not in inside]
        assert all(found.score_test(X[:, [j]]).pvalue[0] >= 0.05 for j in outside)
    for step in selection.steps[1:]:
        assert step.p < 0.05 if step.action == "entered" else step.p > 0.1


def test_stepwise_refuses_to_run_in_circles():
    X, y, _ = table()
    with pytest.raises(InvalidParameter, match="p_remove"):
        Selection(coded(X, y), list("abcdef"), "p_value", 0.1, 0.05).run("stepwise", np.ones(6, dtype=bool))


def test_repeated_columns_enter_once():
    X, y, _ = table()
    X = np.column_stack([X[:, :2], X[:, :2], np.zeros(len(y))])
    selection = Selection(coded(X, y), list("abcde"), "aic", 0.05, 0.05)
    assert selection.run("forward", np.ones(5, dtype=bool)).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sign", [1, -1])
def test_coefficients_of_one_sign_are_those_of_the_constrained_maximum(seed, sign):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5)) @ (np.eye(5) + 0.7 * rng.normal(size=(5, 5)))
    y = np.where(rng.random(300) < 1 / (1 + np.exp(-X @ rng.normal(size=5))), 1.0, -1.0)

    def loss(theta):
        margin = y * (theta[0] + X @ theta[1:])
        slope = -y / (1 + np.exp(margin))
        return np.logaddexp(0, -margin).sum(), np.append(slope.sum(), slope @ X)

    bounds = [(None, None)] + [(0, None) if sign > 0 else (None, 0)] * 5
    expected = minimize(loss, np.zeros(6), jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15}).x[1:]
    kept = Subsets(wrap(X, y, None)).of_one_sign(np.ones(5, dtype=bool), sign)
    assert kept.tolist() == (np.abs(expected) > 1e-5).tolist()
    selection = Selection(wrap(X, y, None), list("abcde"), "aic", 0.05, 0.05)
    assert selection.keep_one_sign(np.ones(5, dtype=bool), sign).tolist() == kept.tolist()
    assert [step.variable for step in selection.steps] == [name for name, k in zip("abcde", kept, strict=True) if not k]


def test_no_variable_enters_with_the_wrong_sign():
    X, y, _ = table(seed=3)
    selection = Selection(coded(X, y), list("abcdef"), "aic", 0.05, 0.05, sign=-1)
    chosen = selection.run("forward", np.ones(6, dtype=bool))
    assert selection.steps[1].variable == "a"
    assert not chosen[2]  # its coefficient is 0.2
