"""The subject of a report: a model, and the rows of its fit and its validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.messages import Message
from hiperplano.metrics.costs import check_costs
from hiperplano.report.columns import column_names, row_count
from hiperplano.report.sample import ModelParts, Sample

Task = Literal["two classes", "many classes", "regression"]


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, the rows it is evaluated on, and the training rows if they are given.

    Attributes
    ----------
    weighted_by : str or None
        Name of the rows' weights, if there are any.
    """

    model: Any
    parts: ModelParts
    task: Task
    validation: Sample
    training: Sample | None
    target: str
    costs: Array | None
    names: list[str] = field(repr=False)
    weighted_by: str | None = None

    @property
    def fitted_on(self) -> Sample:
        """The training rows, or else the rows of the evaluation."""
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
    weights: tuple[Array | None, Array | None] = (None, None),
    weighted_by: str | None = None,
) -> Subject:
    """Check the arguments, and split the model into its parts.

    `transformed` holds the rows of X and of `training` as the last step of the model sees them, if known. `weights`
    holds the weights of these rows, all positive, and `weighted_by` the name of their column.
    """
    parts = ModelParts.of(model)
    classes = np.asarray(parts.final_step.classes_) if is_classifier(parts.final_step) else None
    task: Task = "regression" if classes is None else ("two classes" if len(classes) == 2 else "many classes")
    chosen = _positive(positive, classes, task)
    validation = _sample(X, y, parts, classes, chosen, "y", transformed[0], weights[0])
    fitted_on = None
    if training is not None:
        if not isinstance(training, tuple | list) or len(training) != 2:
            raise InvalidParameter("training must be a pair (X, y): the rows of the fit and their target. Pass both.")
        fitted_on = _sample(
            training[0],
            training[1],
            parts,
            classes,
            chosen,
            Message("the training rows' y"),
            transformed[1],
            weights[1],
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
        weighted_by=weighted_by,
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
    X: Any,
    y: Any,
    parts: ModelParts,
    classes: Array | None,
    positive: int,
    which: str,
    given: Any = None,
    weight: Array | None = None,
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
    sample = Sample(X, values, parts, classes, positive, given, weight)
    if classes is not None:
        _ = sample.codes  # raises an error for labels that are not a class
    return sample
