"""Scorers by name, for `cross_val_score`, grid search and everything else that takes `scoring=`."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import sklearn.metrics
from sklearn.metrics import make_scorer

from hiperplano.errors import InvalidParameter
from hiperplano.metrics.costs import savings_score
from hiperplano.metrics.ranking import gini_score, ks_score

_RESPONSES = ("decision_function", "predict_proba")

SCORERS = MappingProxyType(
    {
        "ks": make_scorer(ks_score, response_method=_RESPONSES),
        "gini": make_scorer(gini_score, response_method=_RESPONSES),
        "savings": make_scorer(savings_score),
    }
)
"""This library's scorers by name; in "savings" every mistake costs one unless costs are passed (see `savings_scorer`).
"""


def get_scorer(scoring: Any) -> Any:
    """A scorer by name: "ks", "gini", "savings", or any of scikit-learn's.

    Parameters
    ----------
    scoring : str or callable
        A callable is returned as it is.

    Returns
    -------
    callable
        With the signature (estimator, X, y).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from hiperplano import LinearDiscriminantAnalysis
    >>> from hiperplano.metrics import get_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = cross_val_score(LinearDiscriminantAnalysis(), X, y, scoring=get_scorer("ks"))
    >>> round(float(found.mean()), 2)
    0.95
    """
    if isinstance(scoring, str) and scoring in SCORERS:
        return SCORERS[scoring]
    try:
        return sklearn.metrics.get_scorer(scoring)
    except ValueError as problem:
        raise InvalidParameter(
            "scoring={scoring!r} is not a scorer; the names are {names} and scikit-learn's "
            "(sklearn.metrics.get_scorer_names()). Choose one of them, or make_scorer.",
            scoring=scoring,
            names=", ".join(sorted(SCORERS)),
        ) from problem


def savings_scorer(costs: Any, *, labels: Any = None) -> Any:
    """A scorer of the savings under a cost matrix.

    Parameters
    ----------
    costs : array-like of shape (decisions, classes)
        As in `savings_score`.
    labels : array-like, optional
        The classes in the order of `costs`: needed where a fold may hold some of them only.

    Returns
    -------
    callable
        With the signature (estimator, X, y).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from hiperplano import CostSensitiveClassifier, LinearDiscriminantAnalysis
    >>> from hiperplano.metrics import savings_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> costs = [[0, 1], [10, 0]]  # a tumour taken for harmless costs ten false alarms
    >>> plain = LinearDiscriminantAnalysis()
    >>> for model in (plain, CostSensitiveClassifier(plain, costs=costs)):
    ...     found = cross_val_score(model, X, y, scoring=savings_scorer(costs))
    ...     print(round(float(found.mean()), 2))
    0.41
    0.77
    """
    return make_scorer(savings_score, costs=costs, labels=labels)
