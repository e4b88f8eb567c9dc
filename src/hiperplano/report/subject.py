"""What a page is about: a model taken apart, and what it says of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.messages import Message
from hiperplano.metrics.costs import check_costs, class_numbers
from hiperplano.metrics.ranking import RankingScores, SortedScores
from hiperplano.models.base import LinearClassifier, decided_classes
from hiperplano.models.logistic import LogisticClassifier, class_chances
from hiperplano.report.columns import column_names, row_count

Task = Literal["two classes", "many classes", "regression"]


@dataclass(frozen=True)
class Anatomy:
    """A model taken apart.

    Attributes
    ----------
    coder : transformer or None
        What comes before the model proper in a pipeline.
    decider : estimator
        The last step.
    linear : estimator
        What has coefficients: the last step, or what is inside it.
    inner_coder : transformer or None
        What comes before `linear` inside the decider.
    """

    coder: Any
    decider: Any
    linear: Any
    inner_coder: Any

    @classmethod
    def of(cls, model: Any) -> Anatomy:
        check_is_fitted(model)
        coder, decider = _split(model)
        inner_coder, linear = _split(getattr(decider, "estimator_", decider))
        return cls(coder, decider, linear, inner_coder)

    def names(self, given: list[str]) -> list[str]:
        """Names of the columns that have coefficients, from those of the table."""
        names = given
        for coder in (self.coder, self.inner_coder):
            if coder is not None:
                names = _names_out(coder, names)
        own = getattr(self.linear, "feature_names_in_", None)
        expected = getattr(self.linear, "n_features_in_", len(names))
        if len(names) == expected:
            return names
        return [str(name) for name in own] if own is not None else [f"x{j}" for j in range(expected)]


def _split(model: Any) -> tuple[Any, Any]:
    if isinstance(model, Pipeline):
        return (model[:-1] if len(model) > 1 else None), model[-1]
    return None, model


def _names_out(coder: Any, names: list[str]) -> list[str]:
    try:
        return [str(name) for name in getattr(coder, "display_names", coder.get_feature_names_out)()]
    except (AttributeError, ValueError):  # a step without names for what it makes
        return names


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their target, as given and as the model sees them; everything is computed once.

    Attributes
    ----------
    X, y : the rows as given, and the target as an array
    anatomy : Anatomy
    classes : ndarray or None
        For a classifier.
    positive : int
        Number of the positive class, where there are two.
    given : rows or None
        The rows as the last step sees them, where they are at hand.
    """

    X: Any
    y: Array
    anatomy: Anatomy
    classes: Array | None = None
    positive: int = 1
    given: Any = None

    @property
    def n(self) -> int:
        return len(self.y)

    @cached_property
    def coded(self) -> Any:
        """The rows as the last step sees them."""
        if self.given is not None:
            return self.given
        return self.X if self.anatomy.coder is None else self.anatomy.coder.transform(self.X)

    @cached_property
    def design(self) -> Any:
        """The rows that coefficients multiply."""
        inner = self.anatomy.inner_coder
        return self.coded if inner is None else inner.transform(self.coded)

    @cached_property
    def scores(self) -> Array:
        """What the model decides by."""
        return np.asarray(self.anatomy.decider.decision_function(self.coded))

    @cached_property
    def predicted(self) -> Array:
        """What the model decides or predicts."""
        decider = self.anatomy.decider
        if getattr(type(decider), "predict", None) is LinearClassifier.predict:
            return np.asarray(decider.classes_[decided_classes(self.scores)])
        return np.asarray(decider.predict(self.coded))

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
        decider = self.anatomy.decider
        if getattr(type(decider), "predict_proba", None) is LogisticClassifier.predict_proba:
            return class_chances(self.scores)
        ask: Callable[..., Any] | None = getattr(decider, "predict_proba", None)
        return None if ask is None else np.asarray(ask(self.coded))

    @cached_property
    def score(self) -> Array:
        """For two classes: larger for the positive one. A probability where the model gives one."""
        if self.probabilities is not None:
            return np.ascontiguousarray(self.probabilities[:, self.positive], dtype=np.float64)
        scores = self.scores.astype(np.float64, copy=False)
        return scores if self.positive == 1 else -scores

    @cached_property
    def in_order(self) -> SortedScores:
        """For two classes: the scores of each, sorted."""
        return SortedScores.of(self.is_positive, self.score)

    @cached_property
    def ranking(self) -> RankingScores:
        """For two classes: KS, Gini and AUC; NaN where one of them is missing."""
        return self.in_order.figures()


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, the rows it is judged on, and those it was made on if they are given."""

    model: Any
    anatomy: Anatomy
    task: Task
    validation: Sample
    training: Sample | None
    target: str
    costs: Array | None
    names: list[str] = field(repr=False)

    @property
    def made_on(self) -> Sample:
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


def understand(
    model: Any,
    X: Any,
    y: Any,
    training: Any,
    target: str | None,
    positive: Any,
    costs: Any,
    coded: tuple[Any, Any] = (None, None),
) -> Subject:
    """Check what is given, and take the model apart.

    `coded` are the rows of X and of `training` as the last step of the model sees them, where they are at hand.
    """
    anatomy = Anatomy.of(model)
    classes = np.asarray(anatomy.decider.classes_) if is_classifier(anatomy.decider) else None
    task: Task = "regression" if classes is None else ("two classes" if len(classes) == 2 else "many classes")
    chosen = _positive(positive, classes, task)
    validation = _sample(X, y, anatomy, classes, chosen, "y", coded[0])
    made_on = None
    if training is not None:
        if not isinstance(training, tuple | list) or len(training) != 2:
            raise InvalidParameter(
                Message("training must be a pair (X, y): the rows of the fit and their target. Pass both.")
            )
        made_on = _sample(training[0], training[1], anatomy, classes, chosen, Message("the training rows' y"), coded[1])
    name = target if target is not None else getattr(y, "name", None)
    matrix = None
    if costs is not None:
        if classes is None:
            raise InvalidParameter(Message("costs are those of classes; a regression has none. Leave costs out."))
        matrix = check_costs(costs, len(classes))
        if matrix.shape != (len(classes), len(classes)):
            raise InvalidParameter(
                Message(
                    "costs has shape {shape}; the page needs ({n_classes}, {n_classes}): costs[j, k], the cost of "
                    "deciding class j where class k is true. Arrange costs so.",
                    shape=matrix.shape,
                    n_classes=len(classes),
                )
            )
    return Subject(
        model=model,
        anatomy=anatomy,
        task=task,
        validation=validation,
        training=made_on,
        target="y" if name is None else str(name),
        costs=matrix,
        names=anatomy.names(column_names(X)),
    )


def _positive(positive: Any, classes: Array | None, task: Task) -> int:
    if positive is None:
        return 1
    if task != "two classes":
        raise InvalidParameter(
            Message(
                "positive={positive!r} chooses one of two classes; this model has not two. Leave it out.",
                positive=positive,
            )
        )
    labels = [str(label) for label in np.asarray(classes).tolist()]
    if str(positive) not in labels:
        raise InvalidParameter(
            Message(
                "positive={positive!r}; the model knows the classes {labels}. Choose one of them.",
                positive=positive,
                labels=labels,
            )
        )
    return labels.index(str(positive))


def _sample(
    X: Any, y: Any, anatomy: Anatomy, classes: Array | None, positive: int, which: str, given: Any = None
) -> Sample:
    n, values = row_count(X), np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) != n or not n:
        raise InvalidTarget(
            Message(
                "{which} has shape {shape} and the table {n} rows; a page is about one target with a value for each "
                "row, and one row or more. Pass one column.",
                which=which,
                shape=values.shape,
                n=n,
            )
        )
    if classes is None:
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise InvalidTarget(
                Message(
                    "{which} cannot be read as numbers ({problem}); a regression needs them.",
                    which=which,
                    problem=problem,
                )
            ) from problem
        if not np.isfinite(values).all():
            raise InvalidData(
                Message("{which} contains NaN or infinity; every row needs a target. Drop those rows.", which=which)
            )
    sample = Sample(X, values, anatomy, classes, positive, given)
    if classes is not None:
        _ = sample.codes  # refuses labels that are no class
    return sample
