"""Scorers that accept sample weights and know all classes."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, make_scorer

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter


class Scorer:
    """One of scikit-learn's scorers, or any callable like them.

    Parameters
    ----------
    scoring : str or callable
        As in scikit-learn.
    weight : ndarray of shape (n,) or None
        Weights of the rows to score, for scorers that accept them.
    classes : ndarray, optional
        All classes, since test rows may lack some.
    extra : dict, optional
        Arguments for the scorer instead of the weights.
    """

    def __init__(
        self, scoring: Any, weight: Array | None, classes: Array | None = None, extra: dict[str, Any] | None = None
    ) -> None:
        try:
            self._score = get_scorer(scoring)
        except (ValueError, TypeError) as problem:
            raise InvalidParameter(
                "scoring={scoring!r}; scoring must be None, a name that scikit-learn knows or a scorer. See "
                "sklearn.metrics.get_scorer_names().",
                scoring=scoring,
            ) from problem
        named = isinstance(scoring, str) or "sample_weight" in signature(self._score).parameters
        self._extra = {"sample_weight": weight} if weight is not None and named else {}
        if extra is not None:
            self._extra = extra
        if classes is not None:
            self._score = _with_labels(self._score, classes)

    def __call__(self, model: Any, X: Any, y: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):  # errors too large to be squared are infinite
            return float(self._score(model, X, y, **self._extra))


def _with_labels(scorer: Any, classes: Array) -> Any:
    """The scorer with the labels of all classes, if its metric accepts them."""
    metric = getattr(scorer, "_score_func", None)
    taken = signature(metric).parameters if metric is not None else {}
    if "labels" not in taken or "labels" in scorer._kwargs or "average" in taken:
        return scorer
    known = {"labels": classes} | ({"pos_label": classes[1]} if len(classes) == 2 and "pos_label" in taken else {})
    return make_scorer(
        metric,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign == 1,
        **known | scorer._kwargs,
    )
