"""`replay` yields the numbers of the compiled loop, whatever the model, its options, its rows and their weights."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp
from sklearn.base import clone, is_classifier

from hiperplano import (
    LogisticRegression,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Pegasos,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    replay,
)
from tests.models.online.test_online import data, few_passes

OPTIONS = [
    Perceptron(average=True),
    Perceptron(average=100),
    Perceptron(pocket=True),
    Perceptron(update="batch", average=2),
    Perceptron(init="least_squares"),
    Perceptron(multi_class="multinomial"),
    Perceptron(multi_class="multinomial", average=30),
    Perceptron(multi_class="multinomial", pocket=True),
    Perceptron(early_stopping=True),
    Perceptron(early_stopping=True, multi_class="multinomial"),
    PassiveAggressiveClassifier(C=0.1, average=True),
    PassiveAggressiveClassifier(loss="squared_hinge", early_stopping=True),
    Pegasos(alpha=0.01, average=True),
    Pegasos(alpha=0.01, project=True),
    Pegasos(alpha=0.01, project=True, batch_size=7, average=True),
    Pegasos(alpha=0.1, batch_size=None, schedule="inverse"),
    SGDClassifier(average=True, learning_rate="invscaling", eta0=0.1),
    SGDClassifier("log_loss", batch_size=7, early_stopping=True),
    SGDClassifier("squared_hinge", alpha=0.1, batch_size=None, learning_rate="constant"),
    SGDClassifier("perceptron", learning_rate="inverse", eta0=1.0),
    PassiveAggressiveRegressor(average=True),
    PassiveAggressiveRegressor(loss="squared_epsilon_insensitive", early_stopping=True),
    SGDRegressor("huber", average=50),
    SGDRegressor("epsilon_insensitive", batch_size=7),
    SGDRegressor(batch_size=None, eta0=0.1, learning_rate="constant", early_stopping=True),
]
ROWS = pytest.mark.parametrize("rows", [np.asarray, csr_array, np.float32], ids=["dense", "sparse", "short"])


def last_planes(model):
    learner = model._learner_
    return learner.weights * learner.states[:, :1], learner.states[:, 1]


def by_plane(steps):
    groups = {}
    for step in steps:
        groups.setdefault(step.label, []).append(step)
    return list(groups.values())


@ROWS
@pytest.mark.parametrize("weight", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", OPTIONS, ids=str)
def test_every_pass_of_a_replay_is_that_of_the_fit(model, n_classes, weight, rows):
    X, y = data(model, 90, classes=n_classes)
    X = rows(X * (np.random.default_rng(0).random(X.shape) < 0.8))
    sample_weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], 90) if weight else None
    price = {"class_weight": {c: 1.0 + c for c in range(n_classes)}} if weight and is_classifier(model) else {}
    model = few_passes(model, 3, **price)
    groups = by_plane(replay(model, X, y, sample_weight))
    fits = [clone(model).set_params(max_iter=k).fit(X, y, sample_weight=sample_weight) for k in (1, 2, 3)]
    for plane, steps in enumerate(groups):
        length = len(steps) // 3
        for number, fit in enumerate(fits, start=1):
            end = steps[number * length - 1]
            coef, intercept = last_planes(fit)
            if len(groups) > 1:
                coef, intercept = coef[plane], intercept[plane]
            np.testing.assert_array_equal(np.ravel(end.coef), np.ravel(coef))
            np.testing.assert_array_equal(np.ravel(end.intercept), np.ravel(intercept))
        assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    steps = [step for group in groups for step in group]
    if is_classifier(model) and isinstance(steps[0].row, int):
        assert sum(step.mistake for step in steps) == fits[-1].solution_.mistakes
        assert sum(step.updated for step in steps) == fits[-1].solution_.updates
    elif isinstance(steps[0].row, int):
        assert sum(step.updated for step in steps) == fits[-1].solution_.updates


@ROWS
@pytest.mark.parametrize("model", [m for m in OPTIONS if m.get_params().get("average")], ids=str)
def test_the_mean_of_a_replay_is_the_average(model, rows):
    X, y = data(model, 90)
    X = rows(X)
    model = few_passes(model, 3)
    steps, fit = list(replay(model, X, y)), clone(model).fit(X, y)
    first = 1 if model.average is True else model.average
    steps = [step for step in steps if step.number >= first]
    late = [step.number if isinstance(model, Pegasos) else 1 for step in steps]
    mean, intercept = fit._learner_.coefficients()
    np.testing.assert_allclose(np.average([np.ravel(s.coef) for s in steps], axis=0, weights=late), mean[0], rtol=1e-10)
    np.testing.assert_allclose(np.average([s.intercept for s in steps], weights=late), intercept[0], rtol=1e-10)


WHOLE_BATCHES = [m for m in OPTIONS if getattr(m, "update", "") == "batch" or getattr(m, "batch_size", 1) is None]


@ROWS
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", WHOLE_BATCHES, ids=str)
def test_a_pass_over_all_rows_at_once_is_one_step(model, n_classes, rows):
    X, y = data(model, 90, classes=n_classes)
    steps = list(replay(few_passes(model, 2), rows(X), y))
    assert all(step.row is None for step in steps)
    assert len(steps) == 2 * len({step.label for step in steps})


@ROWS
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [m for m in OPTIONS if m not in WHOLE_BATCHES], ids=str)
def test_rows_and_scores_of_a_replay_are_those_of_the_caller(model, n_classes, rows):
    X, y = data(model, 90, classes=n_classes)
    given, X = rows(X), np.asarray(rows(X), dtype=float) if rows is np.float32 else X
    steps = list(replay(few_passes(model, 2), given, y))
    seen = np.unique(np.concatenate([np.atleast_1d(step.row) for step in steps]))
    if getattr(model, "early_stopping", False):
        assert 70 < len(seen) < 90
    else:
        np.testing.assert_array_equal(seen, np.arange(90))
    for step in steps:
        if isinstance(step.row, int):
            score = step.coef_before @ X[step.row] + step.intercept_before
            np.testing.assert_allclose(step.score, score, rtol=1e-9, atol=1e-9)


def test_a_replay_with_tol_ends_where_the_fit_ends():
    for model in (Perceptron(), SGDRegressor(learning_rate="adaptive", eta0=0.1), Perceptron(early_stopping=True)):
        X, y = data(model, 90)
        fit = clone(model).set_params(random_state=0).fit(X, y)
        steps = list(replay(clone(model).set_params(random_state=0), X, y))
        assert fit.solution_.examples == len(steps)
        np.testing.assert_array_equal(steps[-1].coef, last_planes(fit)[0][0])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("solver", "steps"), [("newton", 3), ("gradient", 20)])
def test_steps_of_a_likelihood_end_at_the_fit_and_go_down(solver, steps, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * [1.0, 10.0, 0.1] + 5.0
    y = np.digitize(X[:, 0] - 5.0 + rng.normal(size=120), [0.0] if classes == 2 else [-0.5, 0.5])
    model = LogisticRegression(C=2.0, solver=solver, max_iter=500)
    found = list(replay(model, X, y))
    assert len(found) >= steps
    assert not hasattr(model, "coef_")
    fitted = model.fit(X, y)
    np.testing.assert_allclose(np.atleast_2d(found[-1].coef), fitted.coef_, rtol=1e-6)
    np.testing.assert_allclose(np.ravel(found[-1].intercept), fitted.intercept_, rtol=1e-6, atol=1e-6)
    losses = [step.loss for step in found]
    assert all(after <= before + 1e-12 for before, after in pairwise(losses))
    strength = 1 / (2.0 * 120)
    scores = X @ found[-1].coef.T + found[-1].intercept
    scores = np.column_stack([np.zeros(120), scores]) if classes == 2 else scores
    mean = np.mean(logsumexp(scores, axis=1) - scores[np.arange(120), y])
    np.testing.assert_allclose(losses[-1], mean + strength / 2 * np.sum(found[-1].coef ** 2), rtol=1e-9)
    for before, after in pairwise(found):
        np.testing.assert_array_equal(before.coef, after.coef_before)
        assert after.rate > 0


def test_ridge_by_stochastic_gradient_tells_loss_and_rate():
    """F, algorithm 7, one line after the other."""
    rng = np.random.default_rng(0)
    X, alpha = rng.normal(size=(20, 2)), 0.1
    y = X @ [1.0, -1.0] + rng.normal(size=20)
    model = SGDRegressor(alpha=alpha, eta0=0.1, power_t=0.5, shuffle=False, tol=None, max_iter=2)
    w, b = np.zeros(2), 0.0
    for t, step in enumerate(replay(model, X, y), start=1):
        x, target = X[(t - 1) % 20], y[(t - 1) % 20]
        rate, miss = 0.1 / np.sqrt(t), target - w @ x - b
        assert step.rate == pytest.approx(rate)
        assert step.loss == pytest.approx(miss**2 / 2)
        w, b = (1 - rate * alpha) * w + rate * miss * x, b + rate * miss
        np.testing.assert_allclose(step.coef, w, rtol=1e-9)
        assert step.intercept == pytest.approx(b)
    assert t == 40
