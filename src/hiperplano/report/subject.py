"""The subject of a report: a model, its parts, and its predictions for the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.messages import Message
from hiperplano.metrics.costs import check_costs, class_numbers
from hiperplano.metrics.ranking import RankingScores, SortedScores
from hiperplano.models.base import LinearClassifier, class_chances, decided_classes
from hiperplano.models.logistic_classifier import LogisticClassifier
from hiperplano.report.columns import column_names, row_count
from hiperplano.report.units import Units

Task = Literal["two classes", "many classes", "regression"]


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
    """

    X: Any
    y: Array
    parts: ModelParts
    classes: Array | None = None
    positive: int = 1
    given: Any = None

    @property
    def n(self) -> int:
        return len(self.y)

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
        return self.sorted_scores.figures()


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, the rows it is evaluated on, and the training rows if they are given."""

    model: Any
    parts: ModelParts
    task: Task
    validation: Sample
    training: Sample | None
    target: str
    costs: Array | None
    names: list[str] = field(repr=False)

    @property
    def fitted_on(self) -> Sample:
        """The rows of the fit, or the nearest there is to them."""
        return self.training or self.validation

    @property
    def classes(self) -> list[str]:
        """Labels as text."""
        found = self.validation.classes
        return [] if found is None else [str(label) for label in found.tolist()]

    @property
    def positive(self) -> str:
        return self.classes[self.validation.positive]

    @property
    def negative(self) -> str:
        return self.classes[1 - self.validation.positive]


def prepare_subject(
    model: Any,
    X: Any,
    y: Any,
    training: Any,
    target: str | None,
    positive: Any,
    costs: Any,
    transformed: tuple[Any, Any] = (None, None),
) -> Subject:
    """Check the arguments, and split the model into its parts.

    `transformed` are the rows of X and of `training` as the last step of the model sees them, where they are known.
    """
    parts = ModelParts.of(model)
    classes = np.asarray(parts.final_step.classes_) if is_classifier(parts.final_step) else None
    task: Task = "regression" if classes is None else ("two classes" if len(classes) == 2 else "many classes")
    chosen = _positive(positive, classes, task)
    validation = _sample(X, y, parts, classes, chosen, "y", transformed[0])
    fitted_on = None
    if training is not None:
        if not isinstance(training, tuple | list) or len(training) != 2:
            raise InvalidParameter("training must be a pair (X, y): the rows of the fit and their target. Pass both.")
        fitted_on = _sample(
            training[0], training[1], parts, classes, chosen, Message("the training rows' y"), transformed[1]
        )
    name = target if target is not None else getattr(y, "name", None)
    matrix = None
    if costs is not None:
        if classes is None:
            raise InvalidParameter("costs are those of classes; a regression has none. Leave costs out.")
        matrix = check_costs(costs, len(classes))
        if matrix.shape != (len(classes), len(classes)):
            raise InvalidParameter(
                "costs has shape {shape}; the page needs ({n_classes}, {n_classes}): costs[j, k], the cost of "
                "deciding class j where class k is true. Arrange costs so.",
                shape=matrix.shape,
                n_classes=len(classes),
            )
    return Subject(
        model=model,
        parts=parts,
        task=task,
        validation=validation,
        training=fitted_on,
        target="y" if name is None else str(name),
        costs=matrix,
        names=parts.names(column_names(X)),
    )


def _positive(positive: Any, classes: Array | None, task: Task) -> int:
    if positive is None:
        return 1
    if task != "two classes":
        raise InvalidParameter(
            "positive={positive!r} chooses one of two classes; this model has not two. Leave it out.", positive=positive
        )
    labels = [str(label) for label in np.asarray(classes).tolist()]
    if str(positive) not in labels:
        raise InvalidParameter(
            "positive={positive!r}; the model knows the classes {labels}. Choose one of them.",
            positive=positive,
            labels=labels,
        )
    return labels.index(str(positive))


def _sample(
    X: Any, y: Any, parts: ModelParts, classes: Array | None, positive: int, which: str, given: Any = None
) -> Sample:
    n, values = row_count(X), np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) != n or not n:
        raise InvalidTarget(
            "{which} has shape {shape} and the table {n} rows; a page is about one target with a value for each "
            "row, and one row or more. Pass one column.",
            which=which,
            shape=values.shape,
            n=n,
        )
    if classes is None:
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise InvalidTarget(
                "{which} cannot be read as numbers ({problem}); a regression needs them.", which=which, problem=problem
            ) from problem
        if not np.isfinite(values).all():
            raise InvalidData(
                "{which} contains NaN or infinity; every row needs a target. Drop those rows.", which=which
            )
    sample = Sample(X, values, parts, classes, positive, given)
    if classes is not None:
        _ = sample.codes  # refuses labels that are no class
    return sample
