"""Costs and savings by hand, and their bootstrap by resampling."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from hiperplano import binary_costs, savings_interval, savings_score
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.metrics import savings_scorer

COSTS = np.array([[0.0, 5.0], [1.0, 0.0]])


def decisions(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return y, np.where(rng.random(n) < 0.8, y, 1 - y)


def test_by_hand():
    # Always 0 costs 2·5, always 1 costs 3·1; the decisions cost 1 + 5.
    assert savings_score([0, 0, 0, 1, 1], [0, 1, 0, 0, 1], COSTS) == 1 - 6 / 3
    assert savings_score([0, 0, 1, 1], [0, 0, 1, 1], COSTS) == 1.0
    assert savings_score([0, 0, 1], [1, 1, 1], COSTS) == 0.0
    assert savings_score([0, 0, 1], [0, 0, 0]) == 0.0  # 0-1 costs: the larger class


def test_costs_of_each_example():
    amount = np.array([10.0, 20.0, 30.0, 40.0])
    costs = binary_costs(false_negative=amount, false_positive=7.0)
    y, decided = [1, 0, 1, 0], [0, 1, 1, 0]
    # Costs 10 + 7; all 0: 10 + 30, all 1: 7 + 7.
    np.testing.assert_allclose(savings_score(y, decided, costs), 1 - 17 / 14)
    np.testing.assert_array_equal(binary_costs(false_negative=5, false_positive=1), COSTS)
    np.testing.assert_array_equal(
        binary_costs(false_negative=1, false_positive=2, true_negative=-3, true_positive=[4, 5])[1], [[-3, 1], [2, 5]]
    )


def test_not_deciding():
    costs = np.vstack([COSTS, [0.5, 0.5]])
    # 0.5 + 0 + 5 against: all 0: 5, all 1: 2, none decided: 1.5.
    np.testing.assert_allclose(savings_score([0, 0, 1], [-1, 0, 0], costs), 1 - 5.5 / 1.5)
    np.testing.assert_allclose(savings_score(["b", "b", "g"], ["?", "b", "b"], costs), 1 - 5.5 / 1.5)
    np.testing.assert_allclose(
        savings_score(["b", "b", "g"], np.array([-1, "b", "b"], dtype=object), costs), 1 - 5.5 / 1.5
    )


def test_weights_equal_repetition_and_scaling_costs_changes_nothing():
    y, decided = decisions()
    times = np.random.default_rng(1).integers(0, 4, len(y))
    np.testing.assert_allclose(
        savings_score(y, decided, COSTS, sample_weight=times),
        savings_score(np.repeat(y, times), np.repeat(decided, times), COSTS),
        rtol=1e-12,
    )
    np.testing.assert_allclose(savings_score(y, decided, 7 * COSTS), savings_score(y, decided, COSTS), rtol=1e-12)


def test_where_there_is_nothing_to_save():
    assert savings_score([1, 1], [1, 1], COSTS, labels=[0, 1]) == 0.0
    assert savings_score([1, 1], [1, 0], COSTS, labels=[0, 1]) == -np.inf
    assert np.isnan(savings_score([0, 1], [0, 1], [[-9.0, 1.0], [1.0, 0.0]]))


@pytest.mark.parametrize("by_example", [False, True])
def test_interval_equals_a_plain_bootstrap(by_example):
    y, decided = decisions()
    rng = np.random.default_rng(0)
    costs = binary_costs(false_negative=rng.uniform(1, 9, len(y)), false_positive=1.0) if by_example else COSTS
    found = savings_interval(y, decided, costs, n_resamples=4000, random_state=1)
    assert found.savings == savings_score(y, decided, costs)
    plain = []
    for _ in range(1500):
        drawn = rng.integers(0, len(y), len(y))
        plain.append(savings_score(y[drawn], decided[drawn], costs[drawn] if by_example else costs))
    np.testing.assert_allclose([found.low, found.high], np.quantile(plain, [0.025, 0.975]), atol=0.04)
    again = savings_interval(y, decided, costs, n_resamples=4000, random_state=1)
    assert again == found
    narrow = savings_interval(y, decided, costs, level=0.5, random_state=1)
    assert found.low < narrow.low < narrow.high < found.high


def test_interval_covers_the_true_savings():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        y = (rng.random(200) < 0.3).astype(int)
        decided = np.where(rng.random(200) < 0.8, y, 1 - y)
        found = savings_interval(y, decided, COSTS, n_resamples=300, random_state=rng)
        # Per row: 0.3·0.2·5 + 0.7·0.2 = 0.44 against 0.7 for always 1.
        covered += found.low <= 1 - 0.44 / 0.7 <= found.high
    assert 170 <= covered < 200  # 189 ± 3.3 over 24 seeds


def test_savings_scorer_takes_costs():
    class Model(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def predict(self, X):
            return np.array([0, 1, 0, 0, 1])

    assert savings_scorer(COSTS)(Model(), np.zeros((5, 1)), np.array([0, 0, 0, 1, 1])) == -1.0


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: savings_score([0, 1], [0], COSTS), InvalidData, "same length"),
        (lambda: savings_score([0, 1], [0, 2], COSTS), InvalidTarget, "2 is not one of the classes"),
        (lambda: savings_score([0, 1], [0, 1], [[0, 1]]), InvalidParameter, r"shape \(1, 2\)"),
        (lambda: savings_score([0, 1], [0, 1], [[0, np.nan], [1, 0]]), InvalidParameter, "finite"),
        (lambda: savings_score([0, 1], [0, 1], np.zeros((3, 2, 2))), InvalidData, "3 rows, the data 2"),
        (lambda: savings_interval([0, 1], [0, 1], COSTS, level=1.5), InvalidParameter, "level"),
        (lambda: savings_interval([0, 1], [0, 1], COSTS, n_resamples=0), InvalidParameter, "n_resamples"),
    ],
)
def test_refusals(call, error, word):
    with pytest.raises(error, match=word):
        call()
