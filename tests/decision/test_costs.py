"""Bayes' rule by brute force."""

import numpy as np
import pytest

from hiperplano import bayes_decision, binary_costs, prior_decision
from hiperplano.decision.costs import best_cutoff, expected_costs, odds_cutoff
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget


def chances(n=200, k=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(k), n)


@pytest.mark.parametrize("extra", [0, 1, 2])
@pytest.mark.parametrize("by_example", [False, True])
def test_equals_brute_force(extra, by_example):
    proba = chances()
    rng = np.random.default_rng(1)
    costs = rng.normal(size=(200, 4 + extra, 4) if by_example else (4 + extra, 4))
    found = bayes_decision(proba, costs)
    for i in range(200):
        c = costs[i] if by_example else costs
        expected = [sum(proba[i, k] * c[j, k] for k in range(4)) for j in range(4 + extra)]
        assert found[i] == np.argmin(expected)
    assert expected_costs(proba, costs).shape == (200, 4 + extra)


def test_the_index_that_is_summed_is_the_true_class():
    # The notes sum p(c_j given x)·C_jk over k, which would choose 1 here.
    assert bayes_decision([[0.9, 0.1]], [[0, 3], [1, 0]])[0] == 0


def test_rejection_grows_with_its_price():
    p = (np.arange(100) + 0.5) / 100
    shares = [
        np.mean(bayes_decision(np.column_stack([p, 1 - p]), [[0, 1], [1, 0], [price, price]]) == 2)
        for price in (0.0, 0.1, 0.3, 0.49, 0.6)
    ]
    assert shares == [1.0, 0.8, 0.4, 0.02, 0.0]  # where both classes are less probable than 1 − price


def test_prior_decision():
    y = np.array(["a"] * 7 + ["b"] * 3)
    assert prior_decision(y) == 0
    assert prior_decision(y, [[0, 3], [1, 0]]) == 1
    assert prior_decision(y, [[0, 3], [1, 0], [0.5, 0.5]]) == 2
    assert prior_decision(y, sample_weight=np.where(y == "a", 1, 5)) == 1
    amount = np.linspace(1, 10, 10)
    costs = binary_costs(false_negative=amount, false_positive=3.0)
    assert prior_decision(y, costs) == int(amount[7:].sum() > 3.0 * 7)


def test_odds_cutoff_agrees_with_the_rule():
    costs = np.array([[-1.0, 6.0], [2.0, 0.5]])
    p = np.linspace(0.01, 0.99, 99)
    np.testing.assert_array_equal(bayes_decision(np.column_stack([1 - p, p]), costs), p / (1 - p) > odds_cutoff(costs))


def test_best_cutoff_equals_trying_all():
    rng = np.random.default_rng(0)
    for trial in range(30):
        scores = np.round(rng.normal(size=25), 1 if trial % 2 else 8)
        first, second = rng.normal(size=(2, 25))
        cutoff, cost = best_cutoff(scores, first, second)
        tried = [np.where(scores > c, second, first).sum() for c in [-np.inf, *scores]]
        np.testing.assert_allclose(cost, min(tried), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(np.where(scores > cutoff, second, first).sum(), cost, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: bayes_decision([0.5, 0.5]), InvalidData, "one column for each class"),
        (lambda: bayes_decision([[0.5, 0.4]]), InvalidData, "not a distribution in row 0"),
        (lambda: bayes_decision([[0.5, 0.5], [1.5, -0.5]]), InvalidData, "row 1"),
        (lambda: bayes_decision([[0.5, np.nan]]), InvalidData, "row 0"),
        (lambda: bayes_decision([[0.5, 0.5]], [[0, 1, 2], [1, 0, 2]]), InvalidParameter, r"shape \(2, 3\)"),
        (lambda: bayes_decision([[0.5, 0.5]], np.zeros((2, 2, 2))), InvalidData, "2 rows, the data 1"),
        (lambda: prior_decision([]), InvalidTarget, "vector"),
        (lambda: odds_cutoff([[0, 0], [1, 0]]), InvalidParameter, "cost more"),
    ],
)
def test_refusals(call, error, word):
    with pytest.raises(error, match=word):
        call()
