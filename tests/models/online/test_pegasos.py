"""Pegasos: transcription, traces, and how near it comes to the exact optimum."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from hiperplano import Pegasos, replay
from hiperplano.errors import InvalidParameter
from tests.models.online import reference
from tests.models.online.test_perceptron import noisy, separable


def objective(X, y, alpha, coef, intercept):
    t = 2 * y - 1
    hinge = np.maximum(0.0, 1 - t * (X @ coef + intercept)).mean()
    return hinge + alpha / 2 * (coef @ coef + intercept**2)


def test_ten_steps_by_hand():
    # alpha = 1/2, one column, no intercept: η = 2/t, w ← (1 − 1/t)·w + (2/t)·y·x where y·w·x ≤ 1.
    X, y = np.array([[1.0], [-0.2]]), [1, 0]
    steps = list(replay(Pegasos(alpha=0.5, fit_intercept=False, shuffle=False, max_iter=5, tol=None), X, y))
    # 2 | 2/2 + 0.2 | 1.2 > 1, so only 2/3·1.2 | 3/4·0.8 + 0.1 | 4/5·0.7 + 2/5 | 5/6·0.96 + 1/15 | 6/7·13/15 + 2/7
    # | 7/8·36/35 + 1/20 | 8/9·0.95 + 2/9 | 9/10·16/15 + 1/25
    expected = [2, 1.2, 0.8, 0.7, 0.96, 13 / 15, 36 / 35, 0.95, 16 / 15, 1.0]
    np.testing.assert_allclose([s.coef[0] for s in steps], expected, rtol=1e-12)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("schedule", ["pegasos", "inverse"])
def test_transcription(average, project, batch, schedule):
    X, y = noisy(n=200, seed=1)
    alpha = 0.05
    expected = reference.pegasos(
        np.column_stack([X, np.ones(200)]),
        2 * y - 1,
        alpha,
        passes=3,
        batch=batch,
        inverse=schedule == "inverse",
        project=project,
        average=average,
    )
    model = Pegasos(
        alpha=alpha,
        batch_size=batch,
        schedule=schedule,
        project=project,
        average=average,
        shuffle=False,
        max_iter=3,
        tol=None,
    ).fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), expected, rtol=1e-10, atol=1e-13)


def test_projection_changes_the_walk():
    X, y = noisy(n=200, seed=1)
    first = next(replay(Pegasos(alpha=1e-4, project=True, shuffle=False), X, y))
    np.testing.assert_allclose(np.sqrt(first.coef @ first.coef + first.intercept**2), 100.0, rtol=1e-9)
    plain = next(replay(Pegasos(alpha=1e-4, shuffle=False), X, y))
    assert np.linalg.norm(plain.coef) > 1000


def test_all_rows_in_a_step():
    X, y = noisy(n=200, seed=2)
    expected = reference.pegasos(np.column_stack([X, np.ones(200)]), 2 * y - 1, 0.1, passes=30, batch=200, project=True)
    model = Pegasos(alpha=0.1, batch_size=None, project=True, max_iter=30, tol=None).fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("make", [noisy, separable])
@pytest.mark.parametrize("given", [{"average": True}, {"project": True, "batch_size": 10}, {}])
def test_within_one_percent_of_the_optimum(make, given):
    """1/(alpha·ε) steps for ε = 1% of the objective, and a factor of 10 for the constant of the bound."""
    X, y = make(n=2000, seed=3)
    alpha = 0.01
    exact = LinearSVC(loss="hinge", C=1 / (alpha * 2000), tol=1e-8, max_iter=10**6, random_state=0).fit(X, y)
    best = objective(X, y, alpha, exact.coef_[0], exact.intercept_[0])
    steps = 10 / (alpha * 0.01 * best)
    passes = int(np.ceil(steps * given.get("batch_size", 1) / 2000))
    model = Pegasos(alpha=alpha, max_iter=passes, tol=None, random_state=0, **given).fit(X, y)
    assert objective(X, y, alpha, model.coef_[0], model.intercept_[0]) <= 1.01 * best


def test_stops_by_itself():
    X, y = noisy(n=1000, seed=4)
    model = Pegasos(alpha=0.01, random_state=0).fit(X, y)
    assert 5 < model.solution_.passes < 200
    assert "tol=0.001" in str(model.solution_)


@pytest.mark.parametrize("given", [{"alpha": 0.0}, {"batch_size": 0}, {"schedule": "optimal"}, {"project": "yes"}])
def test_parameters_are_checked(given):
    with pytest.raises(InvalidParameter, match=next(iter(given))):
        Pegasos(**given).fit(*noisy())
