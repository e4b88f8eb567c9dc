"""Bayes' rule: the decision of least expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.validate import check_weight
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.metrics.costs import check_costs, constant_costs

_SUM_TOLERANCE = 1e-3  # tolerance of sums of probabilities in float32


def bayes_decision(proba: Any, costs: Any = None) -> Array:
    """argmin_j Σ_k p(k | x)·C[j, k] for every row; ties go to the first decision.

    Parameters
    ----------
    proba : array-like of shape (n, classes)
        Probabilities of the classes.
    costs : array-like of shape (decisions, classes) or (n, decisions, classes), optional
        C[j, k] is the cost of deciding j where k is true. Rows after those of the classes are decisions like "do not
        decide". By default every mistake costs one, and the most probable class is chosen.

    Returns
    -------
    ndarray of int of shape (n,)
        Numbers of the decisions; those of the classes come first.

    Examples
    --------
    Refusing a good client costs 1, a default costs 9: approve (decision 0) up to a probability of default of 0.1.

    >>> from hiperplano import bayes_decision
    >>> proba = [[0.95, 0.05], [0.85, 0.15], [0.3, 0.7]]
    >>> bayes_decision(proba, [[0, 9], [1, 0]])
    array([0, 1, 1])

    With a person to ask for 0.4:

    >>> bayes_decision(proba, [[0, 9], [1, 0], [0.4, 0.4]])
    array([2, 2, 1])
    """
    return np.asarray(expected_costs(proba, costs).argmin(axis=1))


def expected_costs(proba: Any, costs: Any = None) -> Array:
    """Σ_k p(k | x)·C[j, k] for every row and decision j, of shape (n, decisions).

    Parameters
    ----------
    proba : array-like of shape (n, classes)
    costs : array-like of shape (decisions, classes) or (n, decisions, classes), optional
        Every mistake costs one by default.
    """
    chances = np.asarray(proba)
    if chances.ndim != 2 or chances.shape[1] < 1:
        raise InvalidData(
            "proba has shape {shape}; it must hold one row for each example and one column for each class. Pass "
            "what predict_proba returns.",
            shape=chances.shape,
        )
    sums = chances.sum(axis=1, dtype=np.float64)
    if not (chances >= 0).all() or not (np.abs(sums - 1.0) <= _SUM_TOLERANCE).all():
        bad = int(np.flatnonzero(~((chances >= 0).all(axis=1) & (np.abs(sums - 1.0) <= _SUM_TOLERANCE)))[0])
        raise InvalidData(
            "proba is not a distribution in row {bad} ({probabilities}); probabilities must be 0 or more and sum to "
            "1. Pass what predict_proba returns, not scores.",
            bad=bad,
            probabilities=chances[bad].tolist(),
        )
    matrix = check_costs(costs, chances.shape[1], len(chances))
    if matrix.ndim == 2:
        return np.asarray(chances @ matrix.T)
    return np.asarray(np.einsum("nk,njk->nj", chances, matrix))


def prior_decision(y: Any, costs: Any = None, *, sample_weight: Any = None) -> int:
    """The best decision that is the same for every row: argmin_j Σ_k p(k)·C[j, k].

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes; their shares are the a-priori probabilities.
    costs : array-like of shape (decisions, classes) or (n, decisions, classes), optional
        As in `bayes_decision`, classes in sorted order.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the shares; equal by default.

    Returns
    -------
    int
        The number of the decision.

    Examples
    --------
    >>> from hiperplano import prior_decision
    >>> prior_decision(["good"] * 8 + ["bad"] * 2), prior_decision(["good"] * 8 + ["bad"] * 2, [[0, 1], [9, 0]])
    (1, 0)
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise InvalidTarget(
            "y has shape {shape}; it must be a vector of one class for each row. Pass a vector.", shape=labels.shape
        )
    classes, codes = np.unique(labels, return_inverse=True)
    matrix = check_costs(costs, len(classes), len(labels))
    weight = check_weight(sample_weight, len(labels))
    by_decision = constant_costs(codes, matrix)
    return int((by_decision.sum(axis=0) if weight is None else weight @ by_decision).argmin())


def odds_cutoff(costs: Any) -> float:
    """The odds p(second) : p(first) of two classes above which the second class is chosen.

    (C[1, 0] − C[0, 0]) / (C[0, 1] − C[1, 1]): the cost of wrongly choosing the second class, divided by its saving.

    Parameters
    ----------
    costs : array-like of shape (2, 2)
    """
    matrix = check_costs(costs, 2)
    lost, saved = matrix[1, 0] - matrix[0, 0], matrix[0, 1] - matrix[1, 1]
    if matrix.shape != (2, 2) or not (lost > 0 and saved > 0):
        raise InvalidParameter(
            "costs={matrix}; a cut-off needs a (2, 2) matrix whose mistakes cost more than the right decisions: "
            "C[1, 0] > C[0, 0] and C[0, 1] > C[1, 1]. Use bayes_decision for other costs.",
            matrix=matrix.tolist(),
        )
    return float(lost / saved)


def best_cutoff(scores: Array, if_first: Array, if_second: Array) -> tuple[float, float]:
    """The cut-off with the least total cost, and that cost; scores above it are assigned to the second class.

    Parameters
    ----------
    if_first, if_second : ndarray of shape (n,)
        Cost of each row if it is assigned to the first or to the second class.

    Returns
    -------
    cutoff : float
        Midpoint of two neighbouring scores; −inf assigns all rows to the second class, inf to the first. The lowest of
        equally good cut-offs.
    cost : float
    """
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    totals = if_second.sum() + np.concatenate([[0.0], np.cumsum((if_first - if_second)[order])])
    between = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])  # equal scores cannot be separated
    best = int(np.where(between, totals, np.inf).argmin())
    edges = np.concatenate([[-np.inf], ordered, [np.inf]])
    low, high = edges[best], edges[best + 1]
    middle = 0.0 if np.isinf(low) and low == -high else low / 2 + high / 2  # all scores may be infinite
    return float(middle), float(totals[best])
