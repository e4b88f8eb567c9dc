"""Rows as a model sees them: its parts, its predictions for the rows, and what the rows weigh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.metrics.area import AUCInterval, interval_of, weighted_interval
from hiperplano.metrics.costs import class_numbers
from hiperplano.metrics.ranking import (
    ConfusionCurve,
    RankingScores,
    SortedScores,
    weighted_confusion,
    weighted_ranking,
)
from hiperplano.models.base import LinearClassifier, class_chances, decided_classes
from hiperplano.models.logistic_classifier import LogisticClassifier
from hiperplano.report.units import Units


@dataclass(frozen=True, eq=False)
class ModelParts:
    """The parts of a model.

    Attributes
    ----------
    transformer : transformer or None
        What comes before the model proper in a pipeline.
    final_step : estimator
        The last step.
    linear : estimator
        What has coefficients: the last step, or what is inside it.
    inner_transformer : transformer or None
        What comes before `linear` inside the last step.
    target_scaler : transformer or None
        What was done to the target before `linear` saw it.
    """

    transformer: Any
    final_step: Any
    linear: Any
    inner_transformer: Any
    target_scaler: Any = None

    @classmethod
    def of(cls, model: Any) -> ModelParts:
        check_is_fitted(model)
        transformer, final_step = _split(model)
        if isinstance(final_step, TransformedTargetRegressor):
            inner_transformer, linear = _split(final_step.regressor_)
            return cls(transformer, final_step, linear, inner_transformer, final_step.transformer_)
        inner_transformer, linear = _split(getattr(final_step, "estimator_", final_step))
        return cls(transformer, final_step, linear, inner_transformer)

    @property
    def steps(self) -> list[Any]:
        """The transformers one by one, the first that sees the rows first."""
        parts = (self.transformer, self.inner_transformer)
        return [step for part in parts if part is not None for step in _single_steps(part)]

    @cached_property
    def units(self) -> Units:
        """Those of the table in terms of the model's own."""
        coef = np.atleast_2d(np.asarray(self.linear.coef_))
        return Units.of(self.steps, coef.shape[1], self.target_scaler)

    def names(self, given: list[str]) -> list[str]:
        """Names of the columns that have coefficients, from those of the table."""
        names = given
        for step in self.steps:
            names = _names_out(step, names)
        own = getattr(self.linear, "feature_names_in_", None)
        expected = getattr(self.linear, "n_features_in_", len(names))
        if len(names) == expected:
            return names
        return [str(name) for name in own] if own is not None else [f"x{j}" for j in range(expected)]


def _split(model: Any) -> tuple[Any, Any]:
    if isinstance(model, Pipeline):
        return (model[:-1] if len(model) > 1 else None), model[-1]
    return None, model


def _single_steps(transformer: Any) -> list[Any]:
    """The steps of a pipeline, also of pipelines in it."""
    if not isinstance(transformer, Pipeline):
        return [transformer]
    steps = [step for _name, step in transformer.steps if step not in (None, "passthrough")]
    return [single for step in steps for single in _single_steps(step)]


def _names_out(step: Any, names: list[str]) -> list[str]:
    """Names of the columns that a step makes, in the current language where it has them."""
    if hasattr(step, "display_names"):
        return list(step.display_names())
    for given in ((names,), ()):
        try:
            return [str(name) for name in step.get_feature_names_out(*given)]
        except (AttributeError, ValueError):  # one without names for what it makes, or with others for what it takes
            continue
    return names


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their target, as given and as the model sees them; everything is computed once.

    Attributes
    ----------
    X, y : rows as given, and their target as an array
    classes : ndarray or None
        For a classifier.
    positive : int
        Number of the positive class, where there are two.
    given : rows or None
        The rows as the last step sees them, where they are known.
    weight : ndarray or None
        Of the rows, where they do not all count the same.
    """

    X: Any
    y: Array
    parts: ModelParts
    classes: Array | None = None
    positive: int = 1
    given: Any = None
    weight: Array | None = None

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def total(self) -> float:
        """The weight of all rows: their number, where all count the same."""
        return self.n if self.weight is None else float(self.weight.sum())

    @cached_property
    def effective_n(self) -> float:
        """Rows of equal weight whose means would vary as much (Kish): (Σw)² / Σw²."""
        return self.n if self.weight is None else float(self.weight.sum() ** 2 / np.square(self.weight).sum())

    def mean(self, values: Array) -> float:
        """Of one number for each row, by weight."""
        return float(np.mean(values) if self.weight is None else np.average(values, weights=self.weight))

    def standard_error(self, values: Array) -> float:
        """Of that mean."""
        if self.weight is None:
            return float(np.std(values) / np.sqrt(self.n))
        return float(np.linalg.norm(self.weight * (values - self.mean(values))) / self.weight.sum())

    def quantile(self, values: Array, shares: Array, method: Any = "linear") -> Array:
        """Of one number for each row, by weight."""
        if self.weight is None:
            return np.asarray(np.quantile(values, shares, method=method))
        return np.asarray(np.quantile(values, shares, weights=self.weight, method="inverted_cdf"))

    def counts(self, codes: Array, size: int) -> Array:
        """The weight, or number, of the rows with each code from 0 to size − 1."""
        return np.bincount(codes, weights=self.weight, minlength=size)

    def effective_counts(self, codes: Array, size: int) -> Array:
        """The same, such that they add up to `effective_n`."""
        return self.counts(codes, size) * (self.effective_n / self.total)

    @cached_property
    def transformed(self) -> Any:
        """The rows as the last step sees them."""
        if self.given is not None:
            return self.given
        return self.X if self.parts.transformer is None else self.parts.transformer.transform(self.X)

    @cached_property
    def design(self) -> Any:
        """The rows that coefficients multiply."""
        inner = self.parts.inner_transformer
        return self.transformed if inner is None else inner.transform(self.transformed)

    @cached_property
    def scores(self) -> Array:
        """What the model decides by."""
        return np.asarray(self.parts.final_step.decision_function(self.transformed))

    @cached_property
    def predicted(self) -> Array:
        """What the model decides or predicts."""
        final_step = self.parts.final_step
        if getattr(type(final_step), "predict", None) is LinearClassifier.predict:
            return np.asarray(final_step.classes_[decided_classes(self.scores)])
        return np.asarray(final_step.predict(self.transformed))

    @cached_property
    def right(self) -> Array:
        """Whether the model decides the row's own class."""
        return np.asarray(self.predicted == self.y)

    @cached_property
    def codes(self) -> Array:
        """The number of each row's class."""
        assert self.classes is not None
        return class_numbers(self.y, self.classes)

    @cached_property
    def is_positive(self) -> Array:
        return np.asarray(self.codes == self.positive)

    @cached_property
    def probabilities(self) -> Array | None:
        """Of the classes, where the model gives them."""
        final_step = self.parts.final_step
        if getattr(type(final_step), "predict_proba", None) is LogisticClassifier.predict_proba:
            return class_chances(self.scores)
        ask: Callable[..., Any] | None = getattr(final_step, "predict_proba", None)
        return None if ask is None else np.asarray(ask(self.transformed))

    @cached_property
    def score(self) -> Array:
        """For two classes: larger for the positive one. A probability where the model gives one."""
        if self.probabilities is not None:
            return np.ascontiguousarray(self.probabilities[:, self.positive], dtype=np.float64)
        scores = self.scores.astype(np.float64, copy=False)
        return scores if self.positive == 1 else -scores

    @cached_property
    def sorted_scores(self) -> SortedScores:
        """For two classes: the scores of each, sorted."""
        return SortedScores.of(self.is_positive, self.score)

    @cached_property
    def ranking(self) -> RankingScores:
        """For two classes: KS, Gini and AUC; NaN where one of them is missing."""
        if self.weight is None:
            return self.sorted_scores.figures()
        return weighted_ranking(self.is_positive, self.score, self.weight)

    @cached_property
    def area(self) -> AUCInterval | None:
        """For two classes: the AUC with its interval; None with fewer than two rows of a class."""
        if min(map(len, self.sorted_scores)) < 2:
            return None
        if self.weight is None:
            return interval_of(self.sorted_scores)
        return weighted_interval(self.is_positive, self.score, self.weight)

    def confusion(self, cutoffs: Array) -> ConfusionCurve:
        """For two classes: the confusion matrices at these cut-offs."""
        if self.weight is None:
            return self.sorted_scores.confusion(cutoffs)
        return weighted_confusion(self.is_positive, self.score, cutoffs, self.weight)
