"""Passive-aggressive learning: traces by hand, transcriptions, scikit-learn, and its law."""

import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import given
from hypothesis import strategies as st

from hiperplano import PassiveAggressiveClassifier, PassiveAggressiveRegressor, replay
from hiperplano.errors import InvalidParameter
from tests.models.online import reference
from tests.models.online.test_perceptron import noisy


def regression(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 0.5 + 0.3 * rng.normal(size=n)


def test_ten_updates_by_hand():
    # One column, no intercept, C = 1: w ← w + min(1, (1 − y·w·x)/x²)·y·x. The third and the second row are capped.
    X, y = np.array([[2.0], [0.5], [-1.0], [4.0]]), np.array([1, 1, 1, 0])
    scores = [0.0, 0.25, -1.0, 0.0, -0.5, 0.25, -1.0, 0.0, -0.5, 0.25]
    weights = [0.5, 1.0, 0.0, -0.25, 0.5, 1.0, 0.0, -0.25, 0.5, 1.0]
    model = PassiveAggressiveClassifier(fit_intercept=False, shuffle=False, max_iter=3, tol=None)
    steps = [s for s in replay(model, X, y) if s.updated][:10]
    assert [float(s.score) for s in steps] == scores
    assert [s.coef[0] for s in steps] == weights


@pytest.mark.parametrize("second", [False, True], ids=["PA-I", "PA-II"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("C", [0.05, 2.0, 1e9])
def test_transcription(second, average, C):
    X, y = noisy()
    expected = reference.passive_aggressive(X, 2 * y - 1, C, second, passes=3, average=average)
    loss = "squared_hinge" if second else "hinge"
    model = PassiveAggressiveClassifier(
        C=C, loss=loss, average=average, shuffle=False, max_iter=3, tol=None, fit_intercept=False
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected, rtol=1e-10)


@pytest.mark.parametrize("second", [False, True], ids=["PA-I", "PA-II"])
def test_regression_transcription(second):
    X, y = regression()
    expected = reference.passive_aggressive_regression(X, y, 0.7, 0.2, second)
    loss = "squared_epsilon_insensitive" if second else "epsilon_insensitive"
    model = PassiveAggressiveRegressor(
        C=0.7, epsilon=0.2, loss=loss, shuffle=False, max_iter=1, tol=None, fit_intercept=False
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-10)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rate", ["pa1", "pa2"])
@pytest.mark.parametrize("classes", [2, 4])
def test_equals_scikit_learn(rate, average, classes):
    X, y = noisy(classes=classes, seed=1)
    given = {"shuffle": False, "max_iter": 4, "tol": None, "average": average}
    theirs = sklearn.linear_model.SGDClassifier(learning_rate=rate, eta0=0.3, penalty=None, **given).fit(X, y)
    loss = "hinge" if rate == "pa1" else "squared_hinge"
    ours = PassiveAggressiveClassifier(C=0.3, loss=loss, **given).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rate", ["pa1", "pa2"])
def test_regression_equals_scikit_learn(rate, average):
    X, y = regression(seed=1)
    given = {"shuffle": False, "max_iter": 4, "tol": None, "average": average, "epsilon": 0.05}
    theirs = sklearn.linear_model.SGDRegressor(
        loss="epsilon_insensitive", learning_rate=rate, eta0=0.3, penalty=None, **given
    ).fit(X, y)
    loss = "epsilon_insensitive" if rate == "pa1" else "squared_epsilon_insensitive"
    ours = PassiveAggressiveRegressor(C=0.3, loss=loss, **given).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-12, atol=1e-12)


@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 1.0, np.inf]), bias=st.booleans())
def test_an_update_sets_its_example_right_unless_capped(seed, C, bias):
    X, y = noisy(n=30, d=3, seed=seed)
    model = PassiveAggressiveClassifier(C=C, fit_intercept=bias, max_iter=2, tol=None, random_state=seed)
    for step in replay(model, X, y):
        t, x = 2 * y[step.row] - 1, X[step.row]
        before = max(0.0, 1 - t * float(step.score))
        after = max(0.0, 1 - t * float(step.coef @ x + step.intercept))
        length = np.linalg.norm(step.coef - step.coef_before) / np.linalg.norm(x)
        assert step.updated == (before > 0)
        if length < C * (1 - 1e-9):
            assert after <= 1e-9 * (1 + before)
        else:
            assert length <= C * (1 + 1e-9)
            assert after < before


@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.05, 1.0, 20.0]))
def test_a_second_update_leaves_a_loss_in_proportion_to_its_step(seed, C):
    """min ½‖w′ − w‖² + C·ℓ² has ℓ′ = τ/(2C), for classes and for numbers; and no other step costs less."""
    X, y = noisy(n=30, d=3, seed=seed)
    numbers = X @ [1.0, -2.0, 0.5] + y
    same = {"C": C, "fit_intercept": False, "max_iter": 2, "tol": None, "random_state": seed}

    def classes_loss(coef, row):
        return max(0.0, 1 - (2 * y[row] - 1) * float(coef @ X[row]))

    def numbers_loss(coef, row):
        return max(0.0, abs(numbers[row] - float(coef @ X[row])) - 0.1)

    second = "squared_epsilon_insensitive"
    for model, target, loss in (
        (PassiveAggressiveClassifier(loss="squared_hinge", **same), y, classes_loss),
        (PassiveAggressiveRegressor(loss=second, **same), numbers, numbers_loss),
    ):
        for step in replay(model, X, target):
            change, x = step.coef - step.coef_before, X[step.row]
            tau = np.linalg.norm(change) / np.linalg.norm(x)
            assert loss(step.coef, step.row) == pytest.approx(tau / (2 * C), rel=1e-7, abs=1e-9)
            if step.updated:
                cost = [
                    0.5 * (k * change) @ (k * change) + C * loss(step.coef_before + k * change, step.row) ** 2
                    for k in (0.98, 1.0, 1.02)
                ]
                assert cost[1] <= min(cost) * (1 + 1e-12) + 1e-15


@given(seed=st.integers(0, 10**6))
def test_a_regression_update_brings_its_example_within_epsilon(seed):
    X, y = regression(n=30, d=3, seed=seed)
    model = PassiveAggressiveRegressor(C=np.inf, epsilon=0.1, fit_intercept=False, max_iter=2, tol=None, random_state=0)
    for step in replay(model, X, y):
        assert abs(y[step.row] - step.coef @ X[step.row]) <= max(0.1, abs(y[step.row] - float(step.score))) + 1e-9
        if step.updated:
            np.testing.assert_allclose(abs(y[step.row] - step.coef @ X[step.row]), 0.1, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_class_weight_is_a_price(loss):
    X, y = noisy(seed=3)
    same = {"loss": loss, "shuffle": False, "max_iter": 3, "tol": None}
    weighted = PassiveAggressiveClassifier(class_weight={0: 0.02, 1: 0.02}, **same).fit(X, y)
    np.testing.assert_allclose(weighted.coef_, PassiveAggressiveClassifier(C=0.02, **same).fit(X, y).coef_, rtol=1e-12)
    # A weight of 1000 leads no further than the example needs, the intercept apart; one of 0 nowhere.
    for step in replay(PassiveAggressiveClassifier(class_weight={0: 0.0, 1: 1000.0}, **same), X, y):
        assert step.updated == bool(y[step.row] == 1 and step.score < 1)
        assert X[step.row] @ step.coef + step.intercept_before <= max(1.0, step.score) + 1e-9


def test_a_row_of_zeros_changes_nothing_but_the_intercept_of_the_second_rule():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.5]]), [1, 1, 0]
    for more in ({}, {"C": np.inf}, {"C": np.inf, "loss": "squared_hinge"}):
        first = next(replay(PassiveAggressiveClassifier(shuffle=False, **more), X, y))
        assert not first.updated
        assert first.intercept == 0.0
    second = next(replay(PassiveAggressiveClassifier(shuffle=False, C=0.3, loss="squared_hinge"), X, y))
    assert second.intercept == pytest.approx(2 * 0.3 * 1.0)
    assert not second.coef.any()


def test_parameters_are_checked():
    with pytest.raises(InvalidParameter, match="C=0"):
        PassiveAggressiveClassifier(C=0).fit(*noisy())
    with pytest.raises(InvalidParameter, match="loss='log'"):
        PassiveAggressiveClassifier(loss="log").fit(*noisy())
    with pytest.raises(InvalidParameter, match="epsilon=-1"):
        PassiveAggressiveRegressor(epsilon=-1).fit(*regression())


@pytest.mark.parametrize("model", [PassiveAggressiveClassifier, PassiveAggressiveRegressor])
def test_the_signature_is_the_one_that_goes_away(model):
    import inspect

    theirs = inspect.signature(getattr(sklearn.linear_model, model.__name__).__init__)
    ours = inspect.signature(model.__init__)
    assert list(ours.parameters) == list(theirs.parameters)
    assert [p.default for p in ours.parameters.values()] == [p.default for p in theirs.parameters.values()]
