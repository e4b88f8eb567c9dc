"""KS, Gini and confusion at cut-offs against SciPy, scikit-learn and counting."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from hiperplano import (
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    confusion_at,
    gini_score,
    ks_score,
    ks_test,
    ranking_scores,
)
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.metrics import SCORERS, get_scorer


def scores(n=400, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    score = rng.normal(size=n) + y
    return y, np.round(score, 1) if ties else score


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [400, 200_000], ids=["small", "in threads"])
def test_equals_scipy_and_scikit_learn(ties, n):
    y, score = scores(n, ties)
    found = ranking_scores(y, score)
    theirs = ks_2samp(score[y], score[~y], method="asymp")
    np.testing.assert_allclose(found.ks, theirs.statistic, rtol=1e-12)
    assert found.cutoff == theirs.statistic_location
    np.testing.assert_allclose(found.auc, roc_auc_score(y, score), rtol=1e-12)
    np.testing.assert_allclose(gini_score(y, score), 2 * found.auc - 1)
    assert ks_score(y, score) == found.ks


@pytest.mark.parametrize("ties", [False, True])
def test_weights_equal_repetition_and_scikit_learns(ties):
    y, score = scores(ties=ties)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = ranking_scores(y, score, sample_weight=times)
    np.testing.assert_allclose(weighted, ranking_scores(np.repeat(y, times), np.repeat(score, times)), rtol=1e-12)
    np.testing.assert_allclose(weighted.auc, roc_auc_score(y, score, sample_weight=times), rtol=1e-12)


def test_the_order_of_rows_and_monotone_maps_change_nothing():
    y, score = scores(ties=True)
    order = np.random.default_rng(2).permutation(len(y))
    np.testing.assert_array_equal(ranking_scores(y[order], score[order]), ranking_scores(y, score))
    np.testing.assert_array_equal(ranking_scores(y, np.exp(score))[:3], ranking_scores(y, score)[:3])
    np.testing.assert_allclose(gini_score(y, -score), -gini_score(y, score), rtol=1e-12)
    np.testing.assert_allclose(ks_score(~y, score), ks_score(y, score), rtol=1e-12)


def test_all_scores_equal():
    assert ranking_scores([0, 1, 1], [2.0, 2.0, 2.0])[:3] == (0.0, 0.0, 0.5)


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [1, 2], ["bad", "good"], [False, True], [0.0, 1.0]])
def test_the_larger_label_is_positive(labels):
    y, score = scores()
    np.testing.assert_allclose(gini_score(np.array(labels)[y.astype(int)], score), gini_score(y, score))


def test_infinite_scores_have_their_place():
    assert ranking_scores([0, 1, 0, 1], [-np.inf, np.inf, 0.0, 1.0]).auc == 1.0


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1], ["a", "a", "a"]])
def test_one_class_gives_nan_with_scikit_learns_warning(y):
    with pytest.warns(UndefinedMetricWarning, match="one class"):
        assert np.isnan(ks_score(y, [1.0, 2.0, 3.0]))


def test_one_class_after_weights_gives_nan():
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(gini_score([0, 1, 0], [1.0, 2.0, 3.0], sample_weight=[1, 0, 1]))


@pytest.mark.parametrize("method", ["exact", "asymptotic"])
@pytest.mark.parametrize("ties", [False, True])
def test_p_values_equal_scipys(method, ties):
    y, score = scores(60, ties)
    found = ks_test(y, score, method)
    theirs = ks_2samp(score[y], score[~y], method="asymp" if method == "asymptotic" else method)
    np.testing.assert_allclose(found.p, theirs.pvalue, rtol=1e-10)
    np.testing.assert_allclose(found.statistic, theirs.statistic, rtol=1e-12)
    assert (found.n_negative, found.n_positive, found.method) == (np.sum(~y), np.sum(y), method)


def test_the_p_value_is_exact_for_small_samples_only():
    assert ks_test(*scores(100)).method == "exact"
    assert ks_test(*scores(40_000)).method == "asymptotic"


def test_p_values_of_equal_distributions_are_uniform():
    rng = np.random.default_rng(0)
    p = [ks_test(np.arange(80) < 40, rng.normal(size=80), "asymptotic").p for _ in range(400)]
    assert 0.01 < np.mean(np.array(p) < 0.05) < 0.1  # 0.055 ± 0.009 over 24 seeds


@pytest.mark.parametrize("weighted", [False, True])
def test_confusion_equals_scikit_learn_at_every_cutoff(weighted):
    y, score = scores(ties=True)
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    cutoffs = np.array([0.35, -9.0, 0.2, 9.0, 1.0])
    found = confusion_at(y, score, cutoffs, sample_weight=weight)
    for cutoff, matrix in zip(cutoffs, found.matrices, strict=True):
        expected = confusion_matrix(y, score > cutoff, sample_weight=weight, labels=[False, True])
        np.testing.assert_allclose(matrix, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.accuracy[0], np.average((score > 0.35) == y, weights=weight))
    np.testing.assert_allclose(
        found.tpr[0], np.average((score > 0.35)[y], weights=None if weight is None else weight[y])
    )
    at = ks_score(y, score)
    curve = confusion_at(y, score, np.unique(score))
    np.testing.assert_allclose(np.abs(curve.tpr - curve.fpr).max(), at, rtol=1e-12)


def test_confusion_of_one_class():
    found = confusion_at([1, 1, 1], [0.1, 0.5, 0.9], 0.5)
    np.testing.assert_array_equal(found.matrices, [[[0, 0], [2, 1]]])
    assert np.isnan(found.fpr[0])
    np.testing.assert_array_equal(confusion_at([0, 0], [0.1, 0.9], [0.5]).matrices, [[[1, 1], [0, 0]]])
    assert np.isnan(confusion_at([0, 1], [0.1, 0.9], [2.0]).precision[0])


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: ks_score([0, 1], [1.0]), InvalidData, "same length"),
        (lambda: ks_score([], []), InvalidData, "one row or more"),
        (lambda: ks_score([0, 1], [np.nan, 1.0]), InvalidData, "NaN"),
        (lambda: ks_score([0, 1], ["a", "b"]), InvalidData, "numbers"),
        (lambda: ks_score([0, 1, 2], [1.0, 2.0, 3.0]), InvalidTarget, "two classes"),
        (lambda: ks_score([0.5, 0.1, 0.7], [1.0, 2.0, 3.0]), InvalidTarget, "continuous"),
        (lambda: ks_score([0, 1], [1.0, 2.0], sample_weight=[-1, 1]), InvalidData, "Negative"),
        (lambda: ks_test([1, 1], [1.0, 2.0]), InvalidTarget, "one class"),
        (lambda: ks_test([0, 1], [1.0, 2.0], "fast"), InvalidParameter, "method='fast'"),
        (lambda: confusion_at([0, 1], [1.0, 2.0], [np.nan]), InvalidParameter, "cutoffs"),
    ],
)
def test_refusals(call, error, word):
    with pytest.raises(error, match=word):
        call()


@pytest.mark.parametrize("name", ["ks", "gini"])
@pytest.mark.parametrize(
    "model", [LinearDiscriminantAnalysis(), LeastSquaresClassifier(), LogisticRegression(max_iter=9999)]
)
def test_scorers_by_name(name, model):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = cross_val_score(model, X, y, scoring=get_scorer(name), cv=3)
    assert (found > 0.85).all()
    direct = {"ks": ks_score, "gini": gini_score}[name]
    model.fit(X, y)
    assert get_scorer(name)(model, X, y) == direct(y, model.decision_function(X))


def test_scorers_serve_grid_search_and_fall_back_to_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(
        LinearDiscriminantAnalysis(), {"shrinkage": [0.01, 0.9]}, scoring=dict(SCORERS), refit="ks", cv=3
    )
    assert search.fit(X, y).best_params_ == {"shrinkage": 0.01}
    assert get_scorer("accuracy")(search, X, y) == search.best_estimator_.score(X, y)
    with pytest.raises(InvalidParameter, match="gini, ks, savings"):
        get_scorer("kolmogorov")
