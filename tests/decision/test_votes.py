"""Votes, ties and ambiguous rows; and scikit-learn's multi-class wrappers around our binary models."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano import (
    CostSensitiveClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearSVC,
    LogisticRegression,
    PassiveAggressiveClassifier,
    Pegasos,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    SGDClassifier,
    ambiguous,
    votes,
)
from hiperplano.errors import InvalidData, NotAvailable

BINARY = [
    LeastSquaresClassifier(),
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs=[[0, 2], [1, 0]]),
    Perceptron(average=True, random_state=0),
    PassiveAggressiveClassifier(average=True, random_state=0),
    Pegasos(average=True, random_state=0),
    SGDClassifier(average=True, random_state=0),
    LinearSVC(),
]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(400, centers=4, cluster_std=2.0, random_state=3)


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
@pytest.mark.parametrize("model", BINARY, ids=lambda model: type(model).__name__)
def test_scikit_learns_wrappers_take_every_binary_model(wrapper, model, blobs):
    X, y = blobs
    names = np.array(["a", "b", "c", "d"])[y]
    wrapped = wrapper(model).fit(X, names)
    assert len(wrapped.estimators_) == (4 if wrapper is OneVsRestClassifier else 6)
    assert wrapped.score(X, names) > 0.6
    assert ambiguous(wrapped, X).shape == (400,)


def test_votes_equal_scikit_learns_decisions(blobs):
    X, y = blobs
    model = OneVsOneClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    grid = np.random.default_rng(0).uniform(X.min(0) - 5, X.max(0) + 5, (5000, 2))
    scores = np.column_stack([one.decision_function(grid) for one in model.estimators_])
    found = votes(scores)
    np.testing.assert_array_equal(found.winners, model.predict(grid))
    np.testing.assert_array_equal(ambiguous(model, grid), found.ties)


def test_votes_by_counting():
    scores = np.random.default_rng(0).normal(size=(300, 10))
    found = votes(scores)
    pairs = list(combinations(range(5), 2))
    for row, counts, tied, tie, winner, rule in zip(
        scores, found.counts, found.tied, found.ties, found.winners, found.broken_by, strict=True
    ):
        expected = [0] * 5
        for score, (i, j) in zip(row, pairs, strict=True):
            expected[j if score > 0 else i] += 1
        np.testing.assert_array_equal(counts, expected)
        most = [k for k in range(5) if expected[k] == max(expected)]
        np.testing.assert_array_equal(np.flatnonzero(tied), most)
        assert tie == (len(most) > 1)
        assert rule == ("scores" if tie else "votes")
        if tie:
            sums = {
                k: sum((s if j == k else -s) for s, (i, j) in zip(row, pairs, strict=True) if k in (i, j)) for k in most
            }
            assert winner == max(sums, key=sums.get)
        else:
            assert winner == most[0]
    assert found.ties.any()
    assert not found.ties.all()


def test_ties_that_scores_do_not_break_go_to_the_first():
    found = votes([[-1.0, 1.0, -1.0]])
    assert found.ties[0]
    assert found.broken_by[0] == "order"
    assert found.winners[0] == 0
    assert votes([0.0, 1.0, -1.0]).winners.tolist() == [0, 1, 0]  # one pair: a score of 0 is for the first


def test_one_versus_rest_claims_two_classes_or_none():
    """Three classes on a line: nobody claims the middle, as the notes' picture shows."""
    X = np.array([[-3.0], [-2.5], [-0.2], [0.2], [2.5], [3.0]])
    y = np.array([0, 0, 1, 1, 2, 2])
    model = OneVsRestClassifier(LeastSquaresClassifier()).fit(X, y)
    rows = np.linspace(-4, 4, 81)[:, None]
    claimed = sum((one.decision_function(rows) > 0).astype(int) for one in model.estimators_)
    np.testing.assert_array_equal(ambiguous(model, rows), claimed != 1)
    assert ambiguous(model, [[0.0]])[0]
    assert not ambiguous(model, [[3.5]])[0]


def test_both_kinds_of_contradiction(blobs):
    X, y = blobs
    model = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    grid = np.random.default_rng(0).uniform(X.min(0) - 5, X.max(0) + 5, (5000, 2))
    claimed = sum((one.decision_function(grid) > 0).astype(int) for one in model.estimators_)
    assert (claimed == 0).any()
    assert (claimed >= 2).any()
    np.testing.assert_array_equal(ambiguous(model, grid), claimed != 1)


def test_one_k_way_rule_is_never_ambiguous_inside_regions_and_its_regions_are_convex(blobs):
    X, y = blobs
    model = LinearDiscriminantAnalysis().fit(X, y)
    rng = np.random.default_rng(0)
    grid = rng.uniform(X.min(0) - 5, X.max(0) + 5, (3000, 2))
    assert not ambiguous(model, grid).any()
    label = model.predict(grid)
    for k in range(4):
        own = grid[label == k]
        a, b = own[rng.integers(0, len(own), 500)], own[rng.integers(0, len(own), 500)]
        share = rng.random((500, 1))
        np.testing.assert_array_equal(model.predict(share * a + (1 - share) * b), k)


def test_exact_ties_of_scores_are_ambiguous():
    model = LinearDiscriminantAnalysis().fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    np.testing.assert_array_equal(ambiguous(model, [[0.0], [0.5]]), [True, False])
    three = QuadraticDiscriminantAnalysis().fit([[-5.0], [-3.0], [-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1, 2, 2])
    assert ambiguous(three, [[-2.0]])[0]


def test_wrappers_of_two_classes_and_of_probabilities_only(blobs):
    X, y = blobs
    two = y < 2
    assert not ambiguous(OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, two), X).any()
    assert ambiguous(OneVsRestClassifier(GaussianNB()).fit(X, y), X).any()


def test_refusals(blobs):
    X, y = blobs
    with pytest.raises(InvalidData, match="1, 3, 6, 10"):
        votes(np.zeros((5, 4)))
    with pytest.raises(InvalidData, match="NaN"):
        votes([[np.nan, 1.0, 1.0]])
    with pytest.raises(NotAvailable, match="DummyClassifier"):
        ambiguous(DummyClassifier().fit(X, y), X)
    with pytest.raises(NotAvailable, match="KNeighborsClassifier"):
        ambiguous(KNeighborsClassifier().fit(X, y), X)


@pytest.mark.parametrize("model", [Perceptron(), LinearSVC(), make_pipeline(StandardScaler(), Perceptron())])
def test_one_versus_rest_of_a_model_itself_contradicts_itself_as_the_wrapper_does(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    claimed = (model.decision_function(X) > 0).sum(axis=1)
    found = ambiguous(model, X)
    np.testing.assert_array_equal(found, claimed != 1)
    assert found.any()
    together = Perceptron(multi_class="multinomial").fit(X, y)
    assert not ambiguous(together, X).any()
