"""Scores of two classes for the displays that compare them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter, InvalidTarget, NotAvailable
from hiperplano.messages import Message
from hiperplano.plot.style import Display

RESPONSES = ("auto", "predict_proba", "decision_function")


def positive_scores(owner: str, model: Any, X: Any, response_method: str, pos_label: Any) -> tuple[Array, Any]:
    """Scores that are larger where the positive class is likelier, and the label of that class.

    Parameters
    ----------
    owner : str
        Name of the display, for messages.
    response_method : str
        One of `RESPONSES`.
    pos_label : object or None
        None: the second class.

    Returns
    -------
    scores : ndarray of shape (n,)
    label : object
    """
    check_is_fitted(model)
    if response_method not in RESPONSES:
        raise InvalidParameter(
            "{owner}: response_method={response_method!r}; it must be one of {choices}. Choose one of them.",
            owner=owner,
            response_method=response_method,
            choices=", ".join(map(repr, RESPONSES)),
        )
    classes = np.asarray(getattr(model, "classes_", ()))
    if len(classes) != 2:
        what = Message("is not a classifier (it has no classes_)")
        if len(classes):
            what = Message("has {n} classes", n=len(classes))
        raise NotAvailable(
            "{owner}: {model} {what}; the plot compares the scores of two. Pass a classifier of two classes, "
            "or scores with from_predictions(y == label, scores).",
            owner=owner,
            model=type(model).__name__,
            what=what,
        )
    label = classes[1] if pos_label is None else pos_label
    if label not in classes.tolist():
        raise InvalidParameter(
            "{owner}: pos_label={pos_label!r} is not one of the model's classes {classes}. Name one of them.",
            owner=owner,
            pos_label=pos_label,
            classes=classes.tolist(),
        )
    second = bool(label == classes[1])
    wanted = RESPONSES[1:] if response_method == "auto" else (response_method,)
    for method in wanted:
        if hasattr(model, method):
            found = np.asarray(getattr(model, method)(X), dtype=np.float64)
            if method == "predict_proba":
                return found[:, int(second)], label
            return found if second else -found, label
    raise NotAvailable(
        "{owner}: {model} has no {methods}; the plot needs scores. Pass a model that gives them, or scores "
        "with from_predictions.",
        owner=owner,
        model=type(model).__name__,
        methods=", ".join(wanted),
    )


def positive_labels(owner: str, y: Any, pos_label: Any) -> tuple[Array, tuple[str, str]]:
    """Which rows are positive, and the names of the negative and the positive class."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise InvalidTarget(
            "{owner}: y has shape {shape}; it must be a vector of labels. Pass one column.",
            owner=owner,
            shape=labels.shape,
        )
    classes = np.unique(labels)
    if len(classes) == 1:
        raise InvalidTarget(
            "{owner}: y holds one class ({label!r} in all {n_labels} rows); two are compared. Pass rows of both "
            "classes.",
            owner=owner,
            label=classes.tolist()[0],
            n_labels=len(labels),
        )
    if len(classes) > 2 and pos_label is None:
        raise InvalidTarget(
            "{owner}: y holds {n_classes} classes; two are compared. Pass pos_label to compare one class with all "
            "others, or rows of two classes.",
            owner=owner,
            n_classes=len(classes),
        )
    label = classes[-1] if pos_label is None else pos_label
    if label not in classes.tolist():
        raise InvalidParameter(
            "{owner}: pos_label={pos_label!r} does not occur in y, which holds {classes}. Name one of these.",
            owner=owner,
            pos_label=pos_label,
            classes=classes.tolist(),
        )
    others = [one for one in classes.tolist() if one != label]
    return labels == label, (str(others[0]) if len(others) == 1 else "all others", str(label))


class ScoreDisplay(Display):
    """A display of the scores of two classes, from a model or from predictions."""

    @classmethod
    @abstractmethod
    def from_predictions(cls, y: Any, score: Any, **kwargs: Any) -> Self:
        """Draw given scores.

        Parameters
        ----------
        y : array-like of shape (n,)
            True labels of two classes.
        score : array-like of shape (n,)
            Scores, larger where the positive class is likelier.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Score rows with a fitted classifier of two classes, and draw.

        Parameters
        ----------
        estimator : fitted classifier of two classes
            With `predict_proba` or `decision_function`.
        X : array-like or table of shape (n, d)
            Rows to score.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, 0 or more; rows of equal weight by default.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            "auto" takes probabilities where the model has them.
        pos_label : label, optional
            Label of the positive class; the second class of the model by default.
        name : str, optional
            The model's class by default.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        score, label = positive_scores(cls.__name__, estimator, X, response_method, pos_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, score, sample_weight=sample_weight, pos_label=label, name=name, ax=ax, **kwargs)
