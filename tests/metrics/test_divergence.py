"""Divergences against SciPy and their definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, norm

from hiperplano import information_value, js_divergence, kl_divergence, population_stability_index
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget


def two(seed=0, k=6):
    rng = np.random.default_rng(seed)
    return tuple(shares / shares.sum() for shares in (rng.random(k), rng.random(k)))


@pytest.mark.parametrize("base", [np.e, 2])
def test_equal_scipy(base):
    p, q = two()
    np.testing.assert_allclose(kl_divergence(p, q, base=base), entropy(p, q, base=base), rtol=1e-12)
    np.testing.assert_allclose(js_divergence(p, q, base=base), jensenshannon(p, q, base=base) ** 2, rtol=1e-10)


def test_bits_are_nats_over_ln2():
    p, q = two()
    np.testing.assert_allclose(kl_divergence(p, q, base=2), kl_divergence(p, q) / np.log(2), rtol=1e-14)


def test_zeros():
    assert kl_divergence([0.5, 0.5, 0.0], [0.5, 0.25, 0.25]) < np.inf
    assert kl_divergence([0.5, 0.25, 0.25], [0.5, 0.5, 0.0]) == np.inf
    assert kl_divergence([2, 1, 1], [2, 2, 0], smoothing=0.5) < np.inf
    np.testing.assert_allclose(js_divergence([1, 0], [0, 1]), np.log(2), rtol=1e-14)
    assert js_divergence([3, 1], [3, 1]) == 0.0


def test_samples_are_counted_in_stated_bins():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=500), rng.normal(0.5, 1.0, 400)
    edges = np.histogram_bin_edges(np.concatenate([a, b]), 12)
    counts = np.histogram(a, edges)[0], np.histogram(b, edges)[0]
    for function in (kl_divergence, js_divergence):
        expected = function(*counts, smoothing=1.0)
        np.testing.assert_allclose(function(a, b, bins=12, smoothing=1.0), expected, rtol=1e-12)
        np.testing.assert_allclose(function(a, b, bins=edges, smoothing=1.0), expected, rtol=1e-12)
        assert function(a, b, bins="fd", smoothing=1.0) > 0


def test_samples_approach_the_divergence_of_their_distributions():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=400_000), rng.normal(0.5, 1.0, 400_000)
    np.testing.assert_allclose(kl_divergence(a, b, bins=np.linspace(-3, 3.5, 60)), 0.5**2 / 2, rtol=0.03)


def test_stability_is_the_symmetric_divergence():
    e, a = two()
    np.testing.assert_allclose(
        population_stability_index(e, a, bins=None), kl_divergence(e, a) + kl_divergence(a, e), rtol=1e-12
    )
    rng = np.random.default_rng(0)
    made_on, now = rng.normal(size=3000), rng.normal(0.3, 1.0, 2000)
    edges = np.quantile(made_on, np.arange(1, 10) / 10)
    shares = [np.bincount(np.digitize(values, edges), minlength=10) / len(values) for values in (made_on, now)]
    expected = np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0]))
    np.testing.assert_allclose(population_stability_index(made_on, now), expected, rtol=1e-12)
    np.testing.assert_allclose(population_stability_index(made_on, now, bins=edges), expected, rtol=1e-12)
    assert population_stability_index(made_on, made_on) == 0.0


def test_stability_of_categories_and_of_few_values():
    assert population_stability_index(["a", "b"] * 50, ["a", "b"] * 20) == 0.0
    assert population_stability_index(["a", "b"] * 50, ["a", "c"] * 20) == np.inf
    assert 0 < population_stability_index(["a", "b"] * 50, ["a", "c"] * 20, smoothing=0.5) < np.inf
    assert population_stability_index([0] * 90 + [1] * 10, [0] * 45 + [1] * 5) == 0.0


def test_information_value_is_the_jeffreys_divergence():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 2000)
    y = rng.random(2000) < (x + 1) / 8
    negatives, positives = np.bincount(x[~y]) / np.sum(~y), np.bincount(x[y]) / np.sum(y)
    woe = np.log(negatives / positives)
    np.testing.assert_allclose(information_value(y, x), np.sum((negatives - positives) * woe), rtol=1e-12)
    np.testing.assert_allclose(
        information_value(y, x), kl_divergence(negatives, positives) + kl_divergence(positives, negatives), rtol=1e-12
    )
    np.testing.assert_allclose(information_value(y, np.array(list("abcde"))[x]), information_value(y, x), rtol=1e-12)


def test_information_value_of_numbers_and_weights():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.4
    x = rng.normal(size=3000) + y
    edges = np.quantile(x, [0.2, 0.4, 0.6, 0.8])
    np.testing.assert_allclose(information_value(y, x, bins=5), information_value(y, np.digitize(x, edges)), rtol=1e-12)
    np.testing.assert_allclose(information_value(y, x, bins=edges), information_value(y, x, bins=5), rtol=1e-12)
    times = rng.integers(0, 3, 3000)
    np.testing.assert_allclose(
        information_value(y, x, bins=edges, sample_weight=times),
        information_value(np.repeat(y, times), np.repeat(x, times), bins=edges),
        rtol=1e-12,
    )
    # Of two Gaussians at distance 1, cut finely: the symmetric divergence is 1.
    z = norm.ppf((np.arange(40_000) + 0.5) / 40_000)
    fine = information_value(np.arange(80_000) < 40_000, np.concatenate([z, z + 1.0]), bins=np.linspace(-2.5, 3.5, 200))
    np.testing.assert_allclose(fine, 1.0, rtol=0.02)


def test_pure_categories_are_infinitely_informative_unless_smoothed():
    y, x = [0, 0, 1, 1], ["a", "a", "b", "b"]
    assert information_value(y, x) == np.inf
    assert 0 < information_value(y, x, smoothing=0.5) < np.inf


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: kl_divergence([0.5, 0.5], [0.2, 0.3, 0.5]), InvalidData, "set bins"),
        (lambda: kl_divergence([0.5, -0.5], [0.5, 0.5]), InvalidData, "not a distribution"),
        (lambda: kl_divergence([0, 0], [1, 1]), InvalidData, "not all 0"),
        (lambda: kl_divergence([0.5, 0.2], [0.5, 0.5]), InvalidData, "add up to 0.7, and must to 1"),
        (lambda: js_divergence([0.5, 0.5], [0.9, 0.4]), InvalidData, "q is not a distribution"),
        (lambda: kl_divergence([0.5, 0.5], [0.5, 0.5], base=1), InvalidParameter, "more than 1"),
        (lambda: kl_divergence([0.5, 0.5], [0.5, 0.5], smoothing=-1), InvalidParameter, "smoothing"),
        (lambda: population_stability_index([1.0, np.nan], [1.0, 2.0]), InvalidData, "NaN"),
        (lambda: population_stability_index([1.0, 2.0], [1.0, 2.0], bins=[2, 1]), InvalidParameter, "rising"),
        (lambda: population_stability_index([1.0, 2.0], [1.0, 2.0], bins=0), InvalidParameter, "bins"),
        (lambda: information_value([0, 0], [1, 2]), InvalidTarget, "1 classes"),
        (lambda: information_value([0, 1], [1, 2, 3]), InvalidData, "each row"),
        (lambda: information_value([0, 1], [1, 2], sample_weight=[1, 0]), InvalidData, "weight 0"),
        (lambda: information_value([], []), InvalidData, "one row or more"),
    ],
)
def test_refusals(call, error, word):
    with pytest.raises(error, match=word):
        call()
