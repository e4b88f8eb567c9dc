"""The active set method against the textbook's quadratic program, and what it does when it fails."""

import numpy as np
import pytest

from hiperplano import LinearSVC, LinearSVR
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.svm.active_set import active_set
from hiperplano.solvers.svm.compiled.costs import passes_before_active_set
from hiperplano.solvers.svm.compiled.problem import LoopRows, control, dual_box
from hiperplano.solvers.svm.compiled.search import Search
from hiperplano.solvers.svm.dual_losses import DualLoss
from tests.quadratic import hinge

LOSSES = {
    "hinge": DualLoss.hinge(0.7, False),
    "squared hinge": DualLoss.hinge(0.7, True),
    "insensitive": DualLoss.epsilon_insensitive(0.1, 0.02, False),
    "absolute": DualLoss.epsilon_insensitive(0.0, 0.02, False),
    "squared insensitive": DualLoss.epsilon_insensitive(0.3, 0.7, True),
}


def table(n=60, d=80, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, x[:, 0] + rng.normal(size=n), rng.integers(1, 4, n).astype(float)


def box_of(loss, x, y, weight):
    sign = np.where(y > 0, 1.0, -1.0)
    target = sign if loss.classifies else y
    return dual_box(InMemory(x, target[:, None], weight, vectors={"sign": sign}), loss)


def violation(x, box, beta, coef, level):
    """Largest violation of the optimality conditions, from their definition: the slopes of the dual objective."""
    slope = box.target - x @ coef - level - box.soft * beta
    up = np.where(beta < 0, slope + box.epsilon, slope - box.epsilon)
    down = np.where(beta > 0, slope - box.epsilon, slope + box.epsilon)
    return max(up[beta < box.high].max(initial=0.0), -down[beta > box.low].min(initial=0.0))


def after_ascent(loss, x, box, fit_intercept):
    """Dual variables and level after twenty passes of the ascent, which are far from an optimum."""
    search = Search(LoopRows.dense(x, False), box, control(box, loss, fit_intercept, 1e-12, 20))
    search.ascend()
    return search.beta, search.coef[-1]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_the_optimum_meets_the_optimality_conditions(name, fit_intercept):
    solved = 0
    for seed in range(10):
        x, y, weight = table(seed=seed)
        box = box_of(LOSSES[name], x, y, weight)
        best, rounds = active_set(x, box, fit_intercept, *after_ascent(LOSSES[name], x, box, fit_intercept))
        assert rounds > 0
        if best is not None:
            solved += 1
            assert ((best.beta >= box.low) & (best.beta <= box.high)).all()
            np.testing.assert_allclose(best.coef, best.beta @ x, atol=1e-10)
            assert violation(x, box, *best) <= 1e-8
            assert not fit_intercept or abs(best.beta.sum()) <= 1e-9
    assert solved >= 7


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_plane_is_that_of_the_quadratic_program(squared, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(220, 160)) + 2.0 * rng.normal(size=(220, 1))
    y = np.where(X[:, 0] - X[:, 1] + rng.logistic(size=220) > 0, 1.0, -1.0)
    loss = "squared_hinge" if squared else "hinge"
    model = LinearSVC(C=10.0, loss=loss).fit(X, y)
    assert "active set" in str(model.solution_.method)
    coef, intercept, objective = hinge(X, y, 10.0, squared=squared)
    assert model.solution_.objective == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(model.coef_[0], coef, atol=1e-5 * np.abs(coef).max())
    assert model.intercept_[0] == pytest.approx(intercept, abs=1e-4)
    assert "active set" in str(model.solution_.status)
    assert model.solution_.converged


def test_more_free_rows_than_columns_are_left_to_other_methods():
    x, y, weight = table(n=60, d=10)
    box = box_of(LOSSES["hinge"], x, y, weight)
    beta = 0.5 * (box.low + box.high)
    assert active_set(x, box, True, beta, 0.0) == (None, 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    assert "active set" not in str(LinearSVR(C=100.0).fit(X, X[:, 0] + rng.normal(size=300)).solution_.method)


def test_equal_rows_are_no_obstacle():
    x, y, weight = (np.repeat(each, 2, axis=0) for each in table(n=30))
    box = box_of(LOSSES["hinge"], x, y, weight)
    best, _ = active_set(x, box, True, *after_ascent(LOSSES["hinge"], x, box, True))
    assert best is not None
    assert violation(x, box, *best) <= 1e-6


def test_targets_are_met_exactly_by_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 310))
    y = X[:, 0] + rng.normal(size=300)
    model = LinearSVR(C=100.0).fit(X, y)
    assert "active set" in str(model.solution_.method)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    # Without a bound that binds, the plane is the shortest one through all points, at the level that makes it so.
    ones = np.linalg.solve(X @ X.T, np.ones(300))
    level = (ones @ y) / ones.sum()
    np.testing.assert_allclose(model.intercept_, level, rtol=1e-6)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(X) @ (y - level), atol=1e-7)


def test_equal_rows_count_twice():
    x, y, _ = table(n=150, d=240)
    y = np.where(y > 0, 1, -1)
    twice = LinearSVC(C=1.0, loss="hinge", tol=1e-8).fit(np.repeat(x, 2, axis=0), np.repeat(y, 2))
    once = LinearSVC(C=2.0, loss="hinge", tol=1e-8).fit(x, y)
    assert twice.solution_.converged
    np.testing.assert_allclose(twice.coef_, once.coef_, atol=1e-4 * np.abs(once.coef_).max())


def test_a_failed_try_keeps_the_result_of_the_ascent(monkeypatch):
    monkeypatch.setattr("hiperplano.solvers.svm.compiled.search.active_set", lambda *args: (None, 1))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(220, 160)) + 2.0 * rng.normal(size=(220, 1))
    y = np.where(X[:, 0] - X[:, 1] + rng.logistic(size=220) > 0, 1.0, -1.0)
    found = LinearSVC(C=10.0, loss="hinge").fit(X, y).solution_
    assert found.converged
    assert "active set" not in str(found.method)


def test_more_free_rows_cost_more_and_memory_limits_them(monkeypatch):
    rows = LoopRows.dense(np.zeros((50, 40)), True)
    passes = passes_before_active_set(rows)
    assert len(passes) == 40
    assert (np.diff(passes) > 0).all()
    assert len(passes_before_active_set(LoopRows.dense(np.zeros((20, 40)), True))) == 21
    monkeypatch.setattr("hiperplano.solvers.svm.compiled.costs.memory_limit", lambda: 100)
    assert len(passes_before_active_set(rows)) == 0
