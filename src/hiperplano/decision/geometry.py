"""Points and the plane of a linear classifier: distances, projections, margins.

A score is not a distance: it is proportional to the norm of the coefficients. Divided by that norm, it is a distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import validate
from hiperplano.data.design import Array
from hiperplano.data.validate import dense_rows, last_step
from hiperplano.errors import InvalidTarget, NotAvailable


def signed_distance(model: Any, X: Any) -> Array:
    """Distances of rows from a classifier's plane, positive on the side of its second class.

    (x·coef + intercept)/‖coef‖, in the units of the columns. With more than two classes, one column for each
    class: from the plane where its own score is 0.

    Parameters
    ----------
    model : fitted linear classifier, or Pipeline that ends with one
        Model of hiperplano or scikit-learn with `coef_`, `intercept_` and `decision_function`. Distances are in the
        units of the columns as the last step sees them.
    X : array-like, CSR matrix or table of shape (n, d)
        Rows whose distance is computed.

    Returns
    -------
    ndarray of shape (n,) or (n, classes)
        Signed distances in the units of the columns.

    Examples
    --------
    >>> from hiperplano import HardMarginSVC, signed_distance
    >>> model = HardMarginSVC().fit([[0.0], [10.0]], [0, 1])
    >>> signed_distance(model, [[4.0], [5.0], [12.0]]).round(6)
    array([-1.,  0.,  7.])
    """
    model, X = last_step(model, X)
    length = _normal_lengths(model)
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    return np.asarray(scores / (length[0] if scores.ndim == 1 else length))


def project(model: Any, X: Any) -> Array:
    """The points of a classifier's plane nearest to some rows: x − distance·coef/‖coef‖.

    Parameters
    ----------
    model : fitted linear classifier of two classes
        Model of hiperplano or scikit-learn with `coef_`, `intercept_` and `decision_function`.
    X : array-like, CSR matrix or table of shape (n, d)
        Rows to project.

    Returns
    -------
    ndarray of shape (n, d)
        Points of the plane.

    Examples
    --------
    >>> from hiperplano import HardMarginSVC, project
    >>> model = HardMarginSVC().fit([[0.0, 0.0], [2.0, 0.0]], [0, 1])
    >>> project(model, [[5.0, 3.0]]).round(6)
    array([[1., 3.]])
    """
    model, X = last_step(model, X)
    length = _normal_lengths(model)
    _require_one_plane(model, length, "project")
    rows = dense_rows(model, X)
    unit = np.ravel(model.coef_).astype(np.float64) / length[0]
    return np.asarray(rows - np.outer(rows @ unit + float(np.ravel(model.intercept_)[0]) / length[0], unit))


def margin(model: Any, X: Any, y: Any) -> Array:
    """Distances of rows from a classifier's plane, negative for rows on the wrong side.

    y·(x·coef + intercept)/‖coef‖. The margin planes of a support vector machine are at 1/‖coef‖. The smallest margin is
    that of the sample. With more than two classes, it is the distance from the nearest plane where another class has
    the same score as the row's own: the minimum over other classes of (score of the own class − other
    score)/‖difference of their coefficients‖.

    Parameters
    ----------
    model : fitted linear classifier
        Model of hiperplano or scikit-learn with `coef_`, `intercept_` and `decision_function`.
    X : array-like, CSR matrix or table of shape (n, d)
        Rows whose distance is computed.
    y : array-like of shape (n,)
        Labels, all of them known to the model.

    Returns
    -------
    ndarray of shape (n,)
        Signed distances in the units of the columns.

    Examples
    --------
    >>> from hiperplano import HardMarginSVC, margin
    >>> model = HardMarginSVC().fit([[0.0], [10.0]], ["no", "yes"])
    >>> margin(model, [[4.0], [12.0], [6.0]], ["no", "yes", "no"]).round(6)
    array([ 1.,  7., -1.])
    """
    model, X = last_step(model, X)
    length = _normal_lengths(model)
    codes = _codes(model, X, y)
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        return np.asarray(np.where(codes == 1, scores, -scores) / length[0])
    here = np.arange(len(scores))
    coef = np.asarray(model.coef_, dtype=np.float64)
    apart = np.linalg.norm(coef[:, None] - coef, axis=2)
    ahead = scores[here, codes][:, None] - scores
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = ahead / apart[codes]
    distance[here, codes] = np.inf
    return np.asarray(distance.min(axis=1))


def _normal_lengths(model: Any) -> Array:
    """‖coef‖ of every plane."""
    check_is_fitted(model)
    if not (hasattr(model, "classes_") and hasattr(model, "coef_") and hasattr(model, "decision_function")):
        raise NotAvailable(
            "{model} is not a linear classifier (it lacks classes_, coef_ or decision_function), so there is no "
            "plane to measure from. Pass a fitted linear classifier.",
            model=type(model).__name__,
        )
    length = np.linalg.norm(np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)), axis=1)
    if not length.all():
        raise NotAvailable(
            "All coefficients of {model} are 0: its scores do not depend on the row, and there is no plane to "
            "measure from. Fit it with a weaker penalty, or on columns that separate the classes.",
            model=type(model).__name__,
        )
    return np.asarray(length)


def _require_one_plane(model: Any, length: Array, function: str) -> None:
    if len(length) > 1:
        raise NotAvailable(
            "{function}: {model} has {n} planes, one for each class; a projection needs one. Fit two "
            "classes at a time.",
            function=function,
            model=type(model).__name__,
            n=len(length),
        )


def _codes(model: Any, X: Any, y: Any) -> Array:
    """The number of the class of each label."""
    design = validate(model, X, y, numeric_target=False, reset=False)
    labels = design.collect(design.vector("y"))[:, 0]
    known = np.isin(labels, model.classes_)
    if not known.all():
        row = int(np.argmin(known))
        raise InvalidTarget(
            "y holds {label!r} (row {row}), which is not one of the model's classes {classes}. Leave such rows out, "
            "or fit with them.",
            label=labels[row].item(),
            row=row,
            classes=model.classes_.tolist(),
        )
    return np.searchsorted(model.classes_, labels)
