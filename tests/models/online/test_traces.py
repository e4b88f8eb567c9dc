"""The first ten updates of every algorithm, worked out by hand."""

import numpy as np
import pytest

from hiperplano import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Pegasos,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    replay,
)

PLAIN = {"shuffle": False, "tol": None}
SLOPE_ONLY = {**PLAIN, "fit_intercept": False}
HALF = {**SLOPE_ONLY, "penalty": None, "learning_rate": "constant", "eta0": 0.5}
APART, AGAINST = ([[1.0], [2.0]], [1, 0]), ([[1.0], [1.0]], [1, 0])
"""x = 1 positive and x = 2 negative; x = 1 once positive and once negative, so that no fit comes to rest."""


def updates(model, X, y, many=10):
    found = [step for step in replay(model.set_params(max_iter=20), X, y) if step.updated]
    assert len(found) >= many
    return found[:many]


def test_averaged_perceptron():
    # Steps 1 to 10, the sixth of them right: w = 1 −1 0 −2 −1 −1 0 −2 −1 −3, b = 1 0 1 0 1 1 2 1 2 1.
    model = Perceptron(average=True, max_iter=5, **PLAIN).fit(*APART)
    np.testing.assert_allclose(model.coef_, [[-10 / 10]], rtol=1e-15)
    np.testing.assert_allclose(model.intercept_, [10 / 10], rtol=1e-15)
    # From the seventh step on: (0 − 2 − 1 − 3)/4 and (2 + 1 + 2 + 1)/4.
    late = Perceptron(average=7, max_iter=5, **PLAIN).fit(*APART)
    assert (late.coef_.item(), late.intercept_.item()) == (-1.5, 1.5)


def test_pocket():
    # Through the origin, x = 2 is noise. w = 1 answers −1 and 3 rightly, a run of 2, before x = 2 undoes it: it is
    # judged (3 of 4 right, where w = 0 has 2) and kept. Later runs are of one right answer and are not judged.
    X, y = [[1.0], [-1.0], [3.0], [2.0]], [1, 0, 1, 0]
    model = Perceptron(pocket=True, **SLOPE_ONLY)
    assert [step.coef[0] for step in updates(model, X, y)] == [1, -1, 0, 1, -1, 0, 1, -1, 0, 1]
    fitted = model.set_params(max_iter=4).fit(X, y)
    assert fitted.coef_.item() == 1.0
    assert fitted._learner_.weights.item() == -1.0


def test_batch_perceptron():
    # Both are wrong at 0; then one of them is in every pass.
    expected = [(-1, 0), (0, 1), (-2, 0), (-1, 1), (0, 2), (-2, 1), (-1, 2), (-3, 1), (-2, 2), (-1, 3)]
    steps = updates(Perceptron(update="batch", **PLAIN), *APART)
    assert [(step.coef[0], step.intercept) for step in steps] == expected


def test_multinomial_perceptron():
    # x = 1, 2, 3 of classes a, b, c; a tie at 0 is a mistake, and b the first of the rivals. Rows: (w, b) of a, b, c.
    expected = [
        [(1, 1), (-1, -1), (0, 0)],  # scores 0 0 0: a up, b down
        [(-1, 0), (1, 0), (0, 0)],  # 3 −3 0: b up, a down
        [(-1, 0), (-2, -1), (3, 1)],  # −3 3 0: c up, b down
        [(0, 1), (-2, -1), (2, 0)],  # −1 −3 4: a up, c down
        [(0, 1), (0, 0), (0, -1)],  # 1 −5 4: b up, c down
        [(-3, 0), (0, 0), (3, 0)],  # 1 0 −1: c up, a down
        [(-2, 1), (0, 0), (2, -1)],  # −3 0 3: a up, c down
        [(-2, 1), (2, 1), (0, -2)],  # −3 0 3: b up, c down
        [(-2, 1), (-1, 0), (3, -1)],  # −5 7 −2: c up, b down
        [(-1, 2), (-1, 0), (2, -2)],  # −1 −1 2: a up, c down
    ]
    steps = updates(Perceptron(multi_class="multinomial", **PLAIN), [[1.0], [2.0], [3.0]], ["a", "b", "c"])
    for step, planes in zip(steps, expected, strict=True):
        np.testing.assert_array_equal(np.column_stack([step.coef[:, 0], step.intercept]), planes)


def test_second_passive_aggressive_classifier():
    # C = ½ and x = 1: τ = (1 − y·w)/2, so that w ← (w + y)/2, for y = ±1 in turn.
    expected = [1 / 2, -1 / 4, 3 / 8, -5 / 16, 11 / 32, -21 / 64, 43 / 128, -85 / 256, 171 / 512, -341 / 1024]
    model = PassiveAggressiveClassifier(C=0.5, loss="squared_hinge", **SLOPE_ONLY)
    assert [step.coef[0] for step in updates(model, *AGAINST)] == expected


def test_uncapped_passive_aggressive_classifier_with_intercept():
    # x = 2 positive, x = 1 negative, C = ∞: τ = ℓ/4 or ℓ, which the intercept counts a second time.
    # (w, b): τ = ¼ → (½, ¼); ℓ = 7/4 → (−5/4, −3/2); ℓ = 1 + 4 = 5, τ = 5/4 → (5/4, −¼); ℓ = 2 → (−¾, −9/4);
    # ℓ = 1 + 15/4, τ = 19/16 → (13/8, −17/16); ℓ = 25/16 → (1/16, −42/16); ℓ = 7/2, τ = 7/8 → (29/16, −28/16);
    # ℓ = 17/16 → (12/16, −45/16); ℓ = 37/16, τ = 37/64 → (122/64, −143/64); ℓ = 43/64 → (79/64, −186/64).
    expected = [(1 / 2, 1 / 4), (-5 / 4, -3 / 2), (5 / 4, -1 / 4), (-3 / 4, -9 / 4), (13 / 8, -17 / 16)]
    expected += [(1 / 16, -21 / 8), (29 / 16, -7 / 4), (3 / 4, -45 / 16), (61 / 32, -143 / 64), (79 / 64, -93 / 32)]
    model = PassiveAggressiveClassifier(C=np.inf, **PLAIN)
    assert [(s.coef[0], s.intercept) for s in updates(model, [[2.0], [1.0]], [1, 0])] == expected


def test_passive_aggressive_regressor():
    # (1, 3) and (2, 0), epsilon = C = 1: the first row is capped each time, the second goes as far as it needs.
    steps = updates(PassiveAggressiveRegressor(epsilon=1.0, **SLOPE_ONLY), [[1.0], [2.0]], [3.0, 0.0])
    assert [float(step.score) for step in steps] == [0, 2, 0.5, 3, 0.5, 3, 0.5, 3, 0.5, 3]
    assert [step.coef[0] for step in steps] == [1, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5]


def test_second_passive_aggressive_regressor():
    # (1, 2) and (1, 0), epsilon = 0, C = ½: half of what is missing, w ← (w + 2)/2 or w/2.
    model = PassiveAggressiveRegressor(C=0.5, epsilon=0.0, loss="squared_epsilon_insensitive", **SLOPE_ONLY)
    expected = [1, 1 / 2, 5 / 4, 5 / 8, 21 / 16, 21 / 32, 85 / 64, 85 / 128, 341 / 256, 341 / 512]
    assert [step.coef[0] for step in updates(model, [[1.0], [1.0]], [2.0, 0.0])] == expected


def test_projected_pegasos():
    # alpha = ¼, so that w is at most 2 and η = 4/t: 4, brought back to 2 | 2/2 + 1 | 2 is enough, so ⅔·2
    # | ¾·4/3 + ½ | ⅘·3/2 | ⅚·6/5 + ⅓ | 6/7·4/3 | ⅞·8/7 + ¼ | 8/9·5/4 | 9/10·10/9 + ⅕
    model = Pegasos(alpha=0.25, project=True, max_iter=5, **SLOPE_ONLY)
    steps = list(replay(model, [[1.0], [-0.5]], [1, 0]))
    expected = [2, 2, 4 / 3, 3 / 2, 6 / 5, 4 / 3, 8 / 7, 5 / 4, 10 / 9, 6 / 5]
    np.testing.assert_allclose([step.coef[0] for step in steps], expected, rtol=1e-12)


def test_averaged_pegasos():
    # alpha = ½ as in the plain trace, 2 6/5 4/5 7/10 24/25 13/15 36/35 19/20 16/15 1, step t weighing t of 55.
    model = Pegasos(alpha=0.5, average=True, max_iter=5, **SLOPE_ONLY).fit([[1.0], [-0.2]], [1, 0])
    total = 2 + 12 / 5 + 12 / 5 + 14 / 5 + 24 / 5 + 26 / 5 + 36 / 5 + 38 / 5 + 48 / 5 + 10
    np.testing.assert_allclose(model.coef_, [[total / 55]], rtol=1e-12)


def test_mini_batches_of_pegasos():
    # alpha = 1, η = 1/t, two rows in a step, (1, +) with (−1, −) and (2, +) with (2, −), which cancel:
    # w ← (1 − 1/t)·w + (1/t)·(1 if w ≤ 1), or (1 − 1/t)·w while |2w| ≤ 1, else with (1/t)·½·(∓2).
    # 1 | ½·1, and 2 > 1 has only the negative row: −½ → 0 | ⅔·0 + ⅓ | ¾·⅓ | ⅘·¼ + ⅕ | ⅚·⅖ | 6/7·⅓ + 1/7 | ⅞·3/7
    # | 8/9·⅜ + 1/9 | 9/10·4/9
    X, y = [[1.0], [-1.0], [2.0], [2.0]], [1, 0, 1, 0]
    model = Pegasos(alpha=1.0, batch_size=2, max_iter=5, **SLOPE_ONLY)
    expected = [1, 0, 1 / 3, 1 / 4, 2 / 5, 1 / 3, 3 / 7, 3 / 8, 4 / 9, 2 / 5]
    np.testing.assert_allclose([step.coef[0] for step in replay(model, X, y)], expected, rtol=1e-12, atol=1e-15)


def test_hinge():
    # η = ½: w + ½ for x = 1, w − 1 for x = 2, as long as y·w·x ≤ 1; at −1 and at 1 itself it still is.
    steps = updates(SGDClassifier("hinge", **HALF), *APART)
    assert [step.coef[0] for step in steps] == [0.5, -0.5, 0, -1, -0.5, -1.5, -1, -0.5, -1.5, -1]


def test_squared_hinge():
    # η = ⅛ and x = 1: w ← ¾·w ± ¼.
    model = SGDClassifier("squared_hinge", **{**HALF, "eta0": 0.125})
    up = [1, -1, 13, -25, 181, -481, 2653, -8425, 40261, -141361]
    expected = [top / 4**power for power, top in enumerate(up, start=1)]
    assert [step.coef[0] for step in updates(model, *AGAINST)] == expected


def test_logistic():
    # η = 1 and x = 1: w ± 1/(1 + e^(±w)), six decimals.
    expected = [0.5, -0.122459, 0.408117, -0.192519, 0.355463, -0.232479, 0.325380, -0.255255, 0.308215, -0.268235]
    model = SGDClassifier("log_loss", **{**HALF, "eta0": 1.0})
    np.testing.assert_allclose([step.coef[0] for step in updates(model, *AGAINST)], expected, atol=6e-7)


def test_perceptron_loss_with_penalty():
    # η = ½, alpha = 1: w ← w/2 + ½ for x = 1, w/2 − 1 for x = 2; the plane never gets one of them right.
    model = SGDClassifier("perceptron", alpha=1.0, **{**HALF, "penalty": "l2"})
    tiny = [2.0**-power for power in (1, 3, 5, 7, 9)]
    expected = [w for t in tiny for w in (t, t / 2 - 1)]
    assert [step.coef[0] for step in updates(model, *APART)] == expected


def test_huber():
    # epsilon = 1, η = ½, targets 4 and 0: + ½, as the miss is more than 1, then half of what is there goes.
    expected = [0.5, 0.25, 0.75, 0.375, 0.875, 0.4375, 0.9375, 0.46875, 0.96875, 0.484375]
    steps = updates(SGDRegressor("huber", epsilon=1.0, **HALF), [[1.0], [1.0]], [4.0, 0.0])
    assert [step.coef[0] for step in steps] == expected


def test_epsilon_insensitive():
    # epsilon = 1, η = ½, targets 4 and 0: 0 is missed by 1 at most until w = 1½.
    steps = updates(SGDRegressor("epsilon_insensitive", epsilon=1.0, **HALF), [[1.0], [1.0]], [4.0, 0.0])
    assert [step.coef[0] for step in steps] == [0.5, 1, 1.5, 1, 1.5, 1, 1.5, 1, 1.5, 1]


def test_mini_batches_and_whole_batches_of_least_squares():
    # η = ½. On (1, 2), (2, 2) the mean slope is (5w − 6)/2: w ← 3/2 − w/4. On (1, 0), (2, 1): w ← 1/2 − w/4.
    X, y = [[1.0], [2.0], [1.0], [2.0]], [2.0, 2.0, 0.0, 1.0]
    parts = [1.5, 0.125, 1.46875, 0.1328125, 1.466796875, 0.13330078125, 1.4666748046875, 0.133331298828125]
    parts += [1.46666717529296875, 0.1333332061767578125]
    model = SGDRegressor(batch_size=2, **HALF)
    assert [step.coef[0] for step in updates(model, X, y, 10)] == parts
    whole = [1.5, 1.125, 1.21875, 1.1953125, 1.201171875, 1.19970703125, 1.2000732421875, 1.199981689453125]
    whole += [1.20000457763671875, 1.1999988555908203125]
    assert [s.coef[0] for s in updates(SGDRegressor(batch_size=None, **HALF), X[:2], y[:2])] == whole


def test_inverse_steps_of_least_squares_are_a_running_mean():
    # x = 1, η = 1/t: w ← w + (y − w)/t.
    y = [4.0, 0.0, 5.0, 3.0, 8.0, 4.0, 4.0, 4.0, 13.0, 5.0]
    model = SGDRegressor(**{**HALF, "learning_rate": "inverse", "eta0": 1.0}, max_iter=1)
    steps = list(replay(model, np.ones((10, 1)), y))
    np.testing.assert_allclose([step.coef[0] for step in steps], [4, 2, 3, 3, 4, 4, 4, 4, 5, 5], rtol=1e-14)


@pytest.mark.parametrize(
    ("given", "rates"),
    [
        ({"learning_rate": "invscaling", "eta0": 1.0, "power_t": 0.5}, [1, 2**-0.5, 3**-0.5, 1 / 2]),
        ({"learning_rate": "optimal", "alpha": 1 / 16, "penalty": "l2"}, [16 / 8, 16 / 9, 16 / 10, 16 / 11]),
        ({"learning_rate": "adaptive", "eta0": 0.25}, [1 / 4] * 4),
    ],
)
def test_lengths_of_steps(given, rates):
    # The intercept is not shrunk, and moves by η where the miss is more than epsilon = 0; x = 0 leaves it alone.
    model = SGDRegressor("epsilon_insensitive", epsilon=0.0, max_iter=1, **{**PLAIN, "penalty": None, **given})
    steps = list(replay(model, np.zeros((4, 1)), np.full(4, 100.0)))
    np.testing.assert_allclose([step.intercept - step.intercept_before for step in steps], rates, rtol=1e-12)
