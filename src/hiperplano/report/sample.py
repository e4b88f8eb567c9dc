"""Rows as a model sees them: the parts of the model, its predictions, and the weights of the rows."""

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
        The steps before the last one in a pipeline.
    final_step : estimator
        The last step.
    linear : estimator
        The estimator with coefficients: the last step, or the one inside it.
    inner_transformer : transformer or None
        The steps before `linear` inside the last step.
    target_scaler : transformer or None
        Transformation of the target before `linear`.
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
        """The transformers, in the order in which they are applied."""
        parts = (self.transformer, self.inner_transformer)
        return [step for part in parts if part is not None for step in _single_steps(part)]

    @cached_property
    def units(self) -> Units:
        """The units of the table relative to those of the model."""
        coef = np.atleast_2d(np.asarray(self.linear.coef_))
        return Units.of(self.steps, coef.shape[1], self.target_scaler)

    def names(self, given: list[str]) -> list[str]:
        """Names of the columns with coefficients, from those of the table."""
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
    """The steps of a pipeline, including those of nested pipelines."""
    if not isinstance(transformer, Pipeline):
        return [transformer]
    steps = [step for _name, step in transformer.steps if step not in (None, "passthrough")]
    return [single for step in steps for single in _single_steps(step)]


def _names_out(step: Any, names: list[str]) -> list[str]:
    """Names of a step's output columns, in the current language if available."""
    if hasattr(step, "display_names"):
        return list(step.display_names())
    known = [str(name) for name in getattr(step, "feature_names_in_", ())]
    if len(known) == len(names) and known != names:  # names in another language than those of the fit
        shown = dict(zip(known, names, strict=True))
        return [shown.get(name, name) for name in _names_out(step, known)]
    for given in ((names,), ()):
        try:
            return [str(name) for name in step.get_feature_names_out(*given)]
        except (AttributeError, ValueError):  # a step without output names, or fitted with other input names
            continue
    return names


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their target, as given and as the model sees them; results are cached.

    Attributes
    ----------
    X, y : rows as given, and their target as an array
    classes : ndarray or None
        Classes of a classifier.
    positive : int
        Number of the positive class, if there are two.
    given : rows or None
        The rows as the last step sees them, if they are known.
    weight : ndarray or None
        Weights of the rows, if they are not all equal.
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
        """Total weight of the rows: their number, if there are no weights."""
        return self.n if self.weight is None else float(self.weight.sum())

    @cached_property
    def effective_n(self) -> float:
        """Effective sample size (Kish): (Σw)² / Σw²."""
        return self.n if self.weight is None else float(self.weight.sum() ** 2 / np.square(self.weight).sum())

    def mean(self, values: Array) -> float:
        """Weighted mean of one number per row."""
        return float(np.mean(values) if self.weight is None else np.average(values, weights=self.weight))

    def standard_error(self, values: Array) -> float:
        """Standard error of the weighted mean."""
        if self.weight is None:
            return float(np.std(values) / np.sqrt(self.n))
        return float(np.linalg.norm(self.weight * (values - self.mean(values))) / self.weight.sum())

    def quantile(self, values: Array, shares: Array, method: Any = "linear") -> Array:
        """Weighted quantile of one number per row."""
        if self.weight is None:
            return np.asarray(np.quantile(values, shares, method=method))
        return np.asarray(np.quantile(values, shares, weights=self.weight, method="inverted_cdf"))

    def counts(self, codes: Array, size: int) -> Array:
        """Weight, or number, of the rows with each code from 0 to size − 1."""
        return np.bincount(codes, weights=self.weight, minlength=size)

    def effective_counts(self, codes: Array, size: int) -> Array:
        """The same, scaled to the sum `effective_n`."""
        return self.counts(codes, size) * (self.effective_n / self.total)

    @cached_property
    def transformed(self) -> Any:
        """The rows as the last step sees them."""
        if self.given is not None:
            return self.given
        return self.X if self.parts.transformer is None else self.parts.transformer.transform(self.X)

    @cached_property
    def design(self) -> Any:
        """The rows that the coefficients multiply."""
        inner = self.parts.inner_transformer
        return self.transformed if inner is None else inner.transform(self.transformed)

    @cached_property
    def scores(self) -> Array:
        """The decision values of the model."""
        return np.asarray(self.parts.final_step.decision_function(self.transformed))

    @cached_property
    def predicted(self) -> Array:
        """The predictions of the model."""
        final_step = self.parts.final_step
        if getattr(type(final_step), "predict", None) is LinearClassifier.predict:
            return np.asarray(final_step.classes_[decided_classes(self.scores)])
        return np.asarray(final_step.predict(self.transformed))

    @cached_property
    def right(self) -> Array:
        """Whether the model predicts the row's own class."""
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
        """Class probabilities, if the model has them."""
        final_step = self.parts.final_step
        if getattr(type(final_step), "predict_proba", None) is LogisticClassifier.predict_proba:
            return class_chances(self.scores)
        ask: Callable[..., Any] | None = getattr(final_step, "predict_proba", None)
        return None if ask is None else np.asarray(ask(self.transformed))

    @cached_property
    def score(self) -> Array:
        """For two classes: a score that is larger for the positive one; a probability if the model has one."""
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
        """For two classes: KS, Gini and AUC; NaN if one class is missing."""
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
