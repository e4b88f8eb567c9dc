"""What must hold for every loss: slope is the derivative of value, curvature that of slope, values are convex."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hiperplano import losses
from hiperplano.errors import InvalidTarget
from hiperplano.losses import scalar

BINARY = [
    losses.EpsilonInsensitive(0.3),
    losses.Hinge(),
    losses.Huber(0.7),
    losses.Logistic(),
    losses.Perceptron(),
    losses.SquaredEpsilonInsensitive(0.3),
    losses.SquaredHinge(),
    losses.ModifiedHuber(),
    losses.Squared(),
]
# Where y·score has a kink; for regressions, with y = ±1, the same as where score − y has one.
KINKS = {
    losses.EpsilonInsensitive: (0.7, 1.3),
    losses.Hinge: (1.0,),
    losses.Huber: (0.3, 1.7),
    losses.Perceptron: (0.0,),
    losses.SquaredEpsilonInsensitive: (0.7, 1.3),
    losses.SquaredHinge: (1.0,),
    losses.ModifiedHuber: (-1.0, 1.0),
}
NAMES = [type(loss).__name__ for loss in BINARY]
STEP = 1e-6


def smooth_scores(loss, y):
    """Scores away from the loss's kink, where derivatives exist."""
    score = np.linspace(-4.0, 4.0, 161) + 0.0123
    for kink in KINKS.get(type(loss), ()):
        score = score[np.abs(y * score - kink) > 10 * STEP]
    return score


@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("loss", BINARY, ids=NAMES)
def test_slope_is_the_derivative_of_value(loss, y):
    score = smooth_scores(loss, y)
    target = np.full_like(score, y)
    numeric = (loss.value(target, score + STEP) - loss.value(target, score - STEP)) / (2 * STEP)
    np.testing.assert_allclose(loss.slope(target, score), numeric, atol=1e-7)


@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("loss", BINARY, ids=NAMES)
def test_curvature_is_the_derivative_of_slope(loss, y):
    score = smooth_scores(loss, y)
    target = np.full_like(score, y)
    numeric = (loss.slope(target, score + STEP) - loss.slope(target, score - STEP)) / (2 * STEP)
    np.testing.assert_allclose(loss.curvature(target, score), numeric, atol=1e-6)


@pytest.mark.parametrize("loss", BINARY, ids=NAMES)
@given(y=st.sampled_from([-1.0, 1.0]), a=st.floats(-30, 30), b=st.floats(-30, 30), share=st.floats(0, 1))
def test_losses_are_convex_and_slopes_are_subgradients(loss, y, a, b, share):
    target = np.array([y])
    left, right = np.array([a]), np.array([b])
    between = share * left + (1 - share) * right
    chord = share * loss.value(target, left) + (1 - share) * loss.value(target, right)
    assert loss.value(target, between) <= chord + 1e-9
    assert loss.value(target, right) >= loss.value(target, left) + loss.slope(target, left) * (right - left) - 1e-9


@given(y=st.sampled_from([-1.0, 1.0]), score=st.floats(-50, 50))
def test_surrogates_bound_the_zero_one_loss(y, score):
    assume(score != 0)
    target, at = np.array([y]), np.array([score])
    mistakes = losses.ZeroOne().value(target, at)
    assert losses.Hinge().value(target, at) >= mistakes
    assert losses.SquaredHinge().value(target, at) >= mistakes
    assert losses.ModifiedHuber().value(target, at) >= mistakes
    assert losses.Logistic().value(target, at) / np.log(2) >= mistakes - 1e-12


def test_a_score_of_zero_is_the_negative_class():
    y, score = np.array([-1.0, 1.0]), np.zeros(2)
    np.testing.assert_array_equal(losses.ZeroOne().value(y, score), [0.0, 1.0])


def test_value_and_slope_at_once_are_those_one_by_one():
    score = np.array([-1e308, -2000.0, -701.0, -700.0, -30.0, -1e-9, 0.0, 0.3, 40.0, 745.0, 1e308])
    for y in (-1.0, 1.0):
        target = np.full_like(score, y)
        value, slope = losses.Logistic().value_and_slope(target, score)
        np.testing.assert_allclose(value, losses.Logistic().value(target, score), rtol=1e-15)
        np.testing.assert_allclose(slope, losses.Logistic().slope(target, score), rtol=1e-15)
    several = np.random.default_rng(0).normal(size=(50, 4)) * np.logspace(0, 3, 50)[:, None]
    target = np.arange(50.0) % 4
    value, slope = losses.Softmax().value_and_slope(target, several)
    np.testing.assert_allclose(value, losses.Softmax().value(target, several), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(slope, losses.Softmax().slope(target, several), rtol=1e-13, atol=1e-15)


def test_logistic_keeps_digits_far_out():
    y = np.array([1.0, 1.0])
    score = np.array([800.0, -800.0])
    np.testing.assert_allclose(losses.Logistic().value(y, score), [0.0, 800.0])
    assert (losses.Logistic().curvature(y, np.array([40.0, -40.0])) > 0).all()


def test_softmax_slope_and_curvature_are_derivatives():
    rng = np.random.default_rng(0)
    score, y = rng.normal(size=(7, 4)), rng.integers(0, 4, 7)
    loss = losses.Softmax()
    slope, curvature = loss.slope(y, score), loss.curvature(y, score)
    for k in range(4):
        shift = np.zeros(4)
        shift[k] = STEP
        value = (loss.value(y, score + shift) - loss.value(y, score - shift)) / (2 * STEP)
        np.testing.assert_allclose(slope[:, k], value, atol=1e-8)
        change = (loss.slope(y, score + shift) - loss.slope(y, score - shift)) / (2 * STEP)
        np.testing.assert_allclose(curvature[:, :, k], change, atol=1e-8)


def test_softmax_of_two_classes_is_logistic():
    score = np.linspace(-5, 5, 11)
    both = np.column_stack([np.zeros_like(score), score])
    np.testing.assert_allclose(
        losses.Softmax().value(np.ones(11, dtype=int), both), losses.Logistic().value(np.ones(11), score)
    )


def test_every_loss_joins_the_laws():
    tested = {type(loss).__name__ for loss in BINARY} | {"Softmax", "ZeroOne"}
    assert tested == set(losses.__all__)


@pytest.mark.parametrize("number", sorted(scalar.LOSSES))
@given(y=st.sampled_from([-1.0, 1.0]), score=st.floats(-30, 30), epsilon=st.floats(0.01, 2.0))
def test_compiled_loops_read_the_same_formulas(number, y, score, epsilon):
    """`scalar.value` and `scalar.slope` of a number are those of its class, except for slopes at kinks."""
    loss = scalar.loss_of(number, epsilon)
    at = np.array([y]), np.array([score])
    np.testing.assert_allclose(scalar.value(number, y, score, epsilon), loss.value(*at)[0], rtol=1e-13, atol=1e-15)
    kinks = [abs(y * score), abs(y * score - 1.0), abs(abs(score - y) - epsilon)]
    assume(min(kinks) > 1e-12)
    np.testing.assert_allclose(scalar.slope(number, y, score, epsilon), loss.slope(*at)[0], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    "loss", [losses.Hinge(), losses.SquaredHinge(), losses.Perceptron(), losses.ZeroOne(), losses.Logistic()]
)
@pytest.mark.parametrize("labels", [[0.0, 1.0], [1.0, 2.0], [1.0, np.nan]])
def test_losses_of_two_classes_refuse_other_labels_than_signs(loss, labels):
    with pytest.raises(InvalidTarget, match=r"takes the labels −1 and \+1. Pass numpy.where"):
        loss.value(np.array(labels), np.zeros(2))


@pytest.mark.parametrize("n", [5, 2048, 2051, 4099])
def test_one_logarithm_for_several_rows(n):
    rng = np.random.default_rng(n)
    y, score = rng.choice([-1.0, 1.0], n), rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3, n)
    for far in (score, np.abs(score) * y + 40.0 * y):  # the other way round: all values next to nothing
        total, slope = losses.Logistic().total_and_slope(y, far)
        np.testing.assert_allclose(total, math.fsum(losses.Logistic().value(y, far)), rtol=1e-14)
        np.testing.assert_allclose(slope, losses.Logistic().slope(y, far), rtol=1e-13)
        again = losses.Logistic().total_slope_and_curvature(y, far)
        assert again[0] == total
        np.testing.assert_array_equal(again[1], slope)
        np.testing.assert_allclose(again[2], losses.Logistic().curvature(y, far), rtol=1e-13, atol=1e-37)
        weight = rng.uniform(0.5, 2.0, n)
        weighted = losses.Logistic().total_slope_and_curvature(y, far, weight)
        np.testing.assert_allclose(weighted[0], math.fsum(weight * losses.Logistic().value(y, far)), rtol=1e-14)
        np.testing.assert_array_equal(weighted[1], weight * slope)
        np.testing.assert_array_equal(weighted[2], weight * again[2])
