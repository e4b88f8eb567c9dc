"""Multiclass decisions from binary rules: votes, ties, and contradictions between binary rules."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, NotAvailable


@dataclass(frozen=True)
class Votes:
    """The outcome of one-versus-one votes.

    Attributes
    ----------
    winners : ndarray of int of shape (n,)
        Number of the class chosen for each row.
    counts : ndarray of int of shape (n, classes)
        Votes for each class.
    tied : ndarray of bool of shape (n, classes)
        The classes with the most votes.
    ties : ndarray of bool of shape (n,)
        Whether several classes have the most votes.
    broken_by : ndarray of str of shape (n,)
        How the winner was found: "votes" without a tie; "scores" if the tied class with the largest sum of scores won;
        "order" if these sums are equal, too, and the first class was taken.
    """

    winners: Array
    counts: Array
    tied: Array
    ties: Array
    broken_by: Array


def votes(scores: Any) -> Votes:
    """Count the votes of all pairs of classes, and break ties by the sums of the scores.

    Parameters
    ----------
    scores : array-like of shape (n, K·(K − 1)/2)
        One column for each pair of classes (0, 1), (0, 2), …, (1, 2), …; a positive score is a vote for the second
        class of the pair, any other for the first.

    Returns
    -------
    Votes
        Winners, counts and ties.

    Examples
    --------
    Rock beats scissors beats paper beats rock: a tie, which the clearest victory decides.

    >>> from hiperplano import votes
    >>> found = votes([[-1.0, 1.0, -3.0], [-1.0, -1.0, 1.0]])
    >>> found.counts.tolist(), found.ties.tolist()
    ([[1, 1, 1], [2, 0, 1]], [True, False])
    >>> found.winners.tolist(), found.broken_by.tolist()
    ([1, 0], ['scores', 'votes'])
    """
    pairwise = np.asarray(scores, dtype=np.float64)
    pairwise = pairwise[:, None] if pairwise.ndim == 1 else pairwise
    n_classes = round((1 + np.sqrt(1 + 8 * pairwise.shape[-1])) / 2) if pairwise.ndim == 2 else 0
    if pairwise.ndim != 2 or n_classes < 2 or n_classes * (n_classes - 1) // 2 != pairwise.shape[1]:
        raise InvalidData(
            "scores has shape {shape}; votes need one column for each of the K·(K − 1)/2 pairs of classes: 1, 3, "
            "6, 10, … columns. Pass the scores of all pairs.",
            shape=pairwise.shape,
        )
    if np.isnan(pairwise).any():
        raise InvalidData("scores contain NaN; every pair must have a score. Drop those rows.")
    counts = np.zeros((len(pairwise), n_classes), dtype=np.int64)
    sums = np.zeros((len(pairwise), n_classes))
    for column, (first, second) in zip(pairwise.T, combinations(range(n_classes), 2), strict=True):
        counts[:, first] += column <= 0
        counts[:, second] += column > 0
        sums[:, first] -= column
        sums[:, second] += column
    tied = counts == counts.max(axis=1, keepdims=True)
    ties = tied.sum(axis=1) > 1
    among = np.where(tied, sums, -np.inf)
    equal = (among == among.max(axis=1, keepdims=True)).sum(axis=1) > 1
    broken_by = np.where(ties, np.where(equal, "order", "scores"), "votes")
    return Votes(among.argmax(axis=1), counts, tied, ties, broken_by)


def ambiguous(model: Any, X: Any) -> Array:
    """The rows on which binary rules contradict each other.

    For one-versus-rest, by scikit-learn's wrapper or a model's own (`multi_class="ovr"`): rows claimed by several
    rules, or by none. For one-versus-one: rows on which classes tie in votes. For a model with one score for each
    class: rows with several largest scores.

    Parameters
    ----------
    model : fitted OneVsRestClassifier, OneVsOneClassifier, or classifier with `decision_function`
        Model of hiperplano or scikit-learn.
    X : array-like of shape (n, d)
        Rows to decide.

    Returns
    -------
    ndarray of bool of shape (n,)
        True where the rules contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from hiperplano import LeastSquaresClassifier, LinearDiscriminantAnalysis, ambiguous
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsRestClassifier(LeastSquaresClassifier()).fit(X, y)
    >>> int(ambiguous(model, X).sum()), int(ambiguous(LinearDiscriminantAnalysis().fit(X, y), X).sum())
    (29, 0)
    """
    check_is_fitted(model)
    if isinstance(model, OneVsRestClassifier):
        if len(model.classes_) == 2:
            return np.zeros(len(binary_scores(model.estimators_[0], X)), dtype=bool)
        return np.asarray(claims(model, X).sum(axis=1) != 1)
    if isinstance(model, OneVsOneClassifier):
        return votes(pair_scores(model, X)).ties
    if not hasattr(model, "decision_function"):
        raise NotAvailable(
            "{model} has no decision_function: there are no scores that could tie. Wrap it in "
            "OneVsRestClassifier or OneVsOneClassifier.",
            model=type(model).__name__,
        )
    scores = np.asarray(model.decision_function(X))
    if scores.ndim == 1:
        return np.asarray(scores == 0)
    final = model[-1] if isinstance(model, Pipeline) else model
    if getattr(final, "multi_class", None) == "ovr":
        return np.asarray((scores > 0).sum(axis=1) != 1)
    return np.asarray((scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1)


def claims(model: OneVsRestClassifier, X: Any) -> Array:
    """Classes claimed by one-versus-rest rules, of shape (n, classes)."""
    return np.column_stack([binary_scores(one, X) > 0 for one in model.estimators_])


def pair_scores(model: OneVsOneClassifier, X: Any) -> Array:
    """The scores of all pairs of a fitted one-versus-one model, in the order of `votes`.

    Returns
    -------
    ndarray of shape (n, K·(K − 1)/2)
    """
    return np.column_stack([binary_scores(one, X) for one in model.estimators_])


def binary_scores(estimator: Any, X: Any) -> Array:
    """Scores of shape (n,), positive if the second class is chosen."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.asarray(estimator.predict_proba(X)[:, 1] - 0.5, dtype=np.float64)
