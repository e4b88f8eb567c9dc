"""What must hold for discriminants and decisions, whatever the data."""

import warnings

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hiperplano import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    bayes_decision,
    js_divergence,
    kl_divergence,
    ranking_scores,
)
from hiperplano.data.validate import design
from hiperplano.errors import SingularWarning
from hiperplano.solvers.discriminant.class_moments import class_moments


def sample(seed, n=120, d=3, k=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(k, d))[y]
    return X, y, rng


seeds = st.integers(0, 10**6)


@given(seed=seeds, k=st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_affine_maps_change_no_decision(seed, k):
    X, y, rng = sample(seed, k=k)
    matrix, shift = rng.normal(size=(3, 3)) + 2 * np.eye(3), 10 * rng.normal(size=3)
    assume(np.linalg.cond(matrix) <= 1e4)
    for model in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        plain, moved = model().fit(X, y), model().fit(X @ matrix + shift, y)
        np.testing.assert_allclose(
            moved.predict_proba(X @ matrix + shift), plain.predict_proba(X), rtol=1e-5, atol=1e-9
        )
    np.testing.assert_allclose(
        LinearDiscriminantAnalysis().fit(X @ matrix + shift, y).axes().eigenvalues,
        LinearDiscriminantAnalysis().fit(X, y).axes().eigenvalues,
        rtol=1e-6,
    )


@given(seed=seeds, prior=st.floats(0.01, 0.99))
@settings(max_examples=40, deadline=None)
def test_priors_shift_the_cutoff_by_their_log_odds_over_the_distance(seed, prior):
    X, y, _ = sample(seed, k=2)
    even = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y)
    other = LinearDiscriminantAnalysis(priors=[prior, 1 - prior]).fit(X, y)
    np.testing.assert_allclose(other.coef_, even.coef_, rtol=1e-9)
    np.testing.assert_allclose(other.intercept_ - even.intercept_, np.log((1 - prior) / prior), rtol=1e-7, atol=1e-9)
    a, b = even.fisher(), other.fisher()
    np.testing.assert_allclose(a.cutoff, a.centroids.mean(), rtol=1e-9, atol=1e-9)
    distance = a.centroids[1] - a.centroids[0]
    np.testing.assert_allclose(b.cutoff - a.cutoff, np.log(prior / (1 - prior)) / distance, rtol=1e-6, atol=1e-8)


@given(seed=seeds, cost=st.floats(0.01, 100.0))
@settings(max_examples=40, deadline=None)
def test_costs_shift_the_cutoff_as_priors_do(seed, cost):
    X, y, _ = sample(seed, k=2)
    by_cost = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y).fisher(costs=[[0, cost], [1, 0]])
    by_prior = LinearDiscriminantAnalysis(priors=[1 / (1 + cost), cost / (1 + cost)]).fit(X, y).fisher()
    np.testing.assert_allclose(by_cost.cutoff, by_prior.cutoff, rtol=1e-7, atol=1e-8)


@given(seed=seeds, offset=st.sampled_from([0.0, 1e3, 1e7]), apart=st.sampled_from([0.0, 1.0, 1e4]))
@settings(max_examples=40, deadline=None)
def test_total_is_between_plus_within(seed, offset, apart):
    X, y, rng = sample(seed)
    X = X + apart * rng.normal(size=(3, 3))[y] + offset
    axes = LinearDiscriminantAnalysis().fit(X, y).axes()
    centred = X - X.mean(axis=0)
    total = centred.T @ centred
    rounding = 1e-10 * np.sqrt(np.outer(total.diagonal(), total.diagonal())) + 1e-9 * offset
    assert (np.abs(axes.within + axes.between - total) <= rounding).all()
    assert (np.abs(axes.total - total) <= rounding).all()


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_weights_equal_repetition(seed):
    X, y, rng = sample(seed)
    times = rng.integers(0, 4, len(y))
    times[:6] = 1
    again = np.repeat(np.arange(len(y)), times)
    for model in (
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage="auto"),
        QuadraticDiscriminantAnalysis(shrinkage="auto"),
    ):
        weighted = model.fit(X, y, sample_weight=times).predict_proba(X)
        np.testing.assert_allclose(model.fit(X[again], y[again]).predict_proba(X), weighted, rtol=1e-7, atol=1e-12)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_moments_add_up_over_parts(seed):
    """What streams and clusters rely on: a fold over parts is the fold over all."""
    X, y, _ = sample(seed, n=200)
    whole = class_moments(design(X, y, None).with_vectors(code=y), 3, separate=True)
    parts = [
        class_moments(design(X[rows], y[rows], None).with_vectors(code=y[rows]), 3, separate=True)
        for rows in (slice(100), slice(100, 200))
    ]
    np.testing.assert_allclose(sum(part.weight for part in parts), whole.weight)
    means = sum(part.weight[:, None] * part.means for part in parts) / whole.weight[:, None]
    np.testing.assert_allclose(means, whole.means, rtol=1e-9, atol=1e-10)
    scatter = sum(
        part.scatter + part.weight[:, None, None] * np.einsum("ki,kj->kij", part.means - means, part.means - means)
        for part in parts
    )
    np.testing.assert_allclose(scatter, whole.scatter, rtol=1e-8, atol=1e-9)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_more_columns_than_rows_never_give_nan(seed):
    X, y, _ = sample(seed, n=15, d=3)
    wide = np.random.default_rng(seed).normal(size=(15, 40))
    wide[:, :3] = X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularWarning)
        for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
            assert np.isfinite(model.fit(wide, y).decision_function(wide)).all()


probabilities = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3)


@given(st.lists(probabilities, min_size=1, max_size=20))
def test_zero_one_costs_choose_the_most_probable(rows):
    proba = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    top = np.sort(proba, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    np.testing.assert_array_equal(bayes_decision(proba)[clear], proba.argmax(axis=1)[clear])


@given(st.lists(probabilities, min_size=1, max_size=20), seeds, st.integers(-10, 10), st.floats(-5, 5))
def test_scaling_costs_and_adding_a_fee_change_nothing(rows, seed, power, fee):
    proba = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    costs = np.random.default_rng(seed).integers(0, 64, (4, 3)).astype(float)
    found = bayes_decision(proba, costs)
    np.testing.assert_array_equal(bayes_decision(proba, 2.0**power * costs), found)
    expected = np.sort(proba @ costs.T, axis=1)
    clear = expected[:, 1] - expected[:, 0] > 1e-6
    with_fee = costs + fee * np.arange(3)  # the same for all decisions, whatever the class
    np.testing.assert_array_equal(bayes_decision(proba, with_fee)[clear], found[clear])


@given(st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=2, max_size=50))
def test_ranking_equals_counting_pairs(rows):
    y, score = np.array([r[0] for r in rows]), np.array([r[1] for r in rows], dtype=float)
    assume(y.any() and not y.all())
    found = ranking_scores(y, score)
    pairs = score[y][:, None] - score[~y]
    np.testing.assert_allclose(found.auc, np.mean((pairs > 0) + 0.5 * (pairs == 0)), rtol=1e-12)
    gaps = [abs(np.mean(score[y] <= c) - np.mean(score[~y] <= c)) for c in score]
    np.testing.assert_allclose(found.ks, max(gaps), rtol=1e-12, atol=1e-15)


counts = st.lists(st.integers(0, 100), min_size=4, max_size=4).filter(any)


@given(counts, counts)
def test_divergences_are_not_negative_and_zero_only_for_equals(p, q):
    assert kl_divergence(p, q) >= -1e-15
    assert -1e-15 <= js_divergence(p, q, base=2) <= 1 + 1e-12
    np.testing.assert_allclose(js_divergence(p, q), js_divergence(q, p), rtol=1e-12, atol=1e-15)
    assert kl_divergence(p, p) == 0.0
    same = np.allclose(np.array(p) / sum(p), np.array(q) / sum(q), atol=1e-12)
    assert same or js_divergence(p, q) > 0
