"""Class labels: their codes, their weights, and what is wrong with a target that has none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import type_of_target

from hiperplano.data.design import Array, Design
from hiperplano.data.validate import check_weight
from hiperplano.errors import InvalidParameter, InvalidTarget

_NARROW = 2**16
_FEW, _MOST_FLOATS = 20, 100


def encode_labels(design: Design) -> tuple[Array, Array]:
    """The sorted classes of a design's target, and the number of its class for every row.

    A class whose rows all have weight 0 is still a class; solvers that need every class to weigh something
    check that themselves.
    """
    labels = design.y[:, 0]
    kind = "multiclass" if _are_plainly_classes(labels) else _kind(labels)
    if kind == "unknown":
        kinds = ", ".join(sorted({type(label).__name__ for label in labels.tolist()}))
        raise InvalidTarget(
            f"Unknown label type: {kind}. y holds objects of the kinds {kinds}; labels must be all numbers or all "
            "text, and none may be missing. Fill or convert them first."
        )
    if kind not in ("binary", "multiclass"):
        values = len(np.unique(labels)) if kind.startswith("continuous") else 0
        seen = f"{values} different numbers with fractions" if values else kind
        raise InvalidTarget(
            f"Unknown label type: {kind}. y holds {seen}: this looks like a regression target; a classifier needs "
            "classes. Use a regressor, or cut the numbers into classes first."
        )
    classes, codes = _sorted_classes(labels)
    if labels.dtype.kind in "iuf" and _too_many(labels, len(classes)):
        raise InvalidTarget(
            f"y holds {len(classes)} different numbers in {len(labels)} rows: this looks like a regression target; a "
            "classifier needs classes. Use a regressor, cut the numbers into classes, or pass them as text if each "
            "really is a class."
        )
    if len(classes) < 2:
        raise InvalidTarget(
            f"y holds one class ({classes.tolist()[0]!r} in all {design.n_rows} rows); a classifier needs 2 classes or "
            "more. Check the target column."
        )
    return classes, codes


def _sorted_classes(labels: Array) -> tuple[Array, Array]:
    """Classes and codes; whole numbers that lie close together are counted instead of sorted."""
    if labels.dtype.kind not in "iu":
        return np.unique(labels, return_inverse=True)
    low, high = int(labels.min()), int(labels.max())
    if high - low >= _NARROW or high > np.iinfo(np.int64).max:
        return np.unique(labels, return_inverse=True)
    places = np.subtract(labels, low, dtype=np.intp, casting="unsafe")
    there = np.bincount(places, minlength=high - low + 1) > 0
    codes = places if there.all() else (np.cumsum(there) - 1)[places]
    return (np.flatnonzero(there) + low).astype(labels.dtype), codes


def _are_plainly_classes(labels: Array) -> bool:
    """Whole numbers or text: classes beyond doubt, so that `type_of_target` need not sort them to say so."""
    if labels.dtype.kind == "f":
        return bool(np.isfinite(labels).all() and (labels == np.floor(labels)).all())
    return labels.dtype.kind in "iubU"


def _kind(labels: Array) -> str:
    """What scikit-learn takes the labels for; the words it has for labels that cannot be compared are not said."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of many classes: refused below if they are too many
            return str(type_of_target(labels, input_name="y"))
    except TypeError:
        return "unknown"


def _too_many(labels: Array, n_classes: int) -> bool:
    """Numbers of which most occur once, or fractional types with more values than anyone has classes."""
    return n_classes > _FEW and (2 * n_classes > len(labels) or (labels.dtype.kind == "f" and n_classes > _MOST_FLOATS))


def label_weight(design: Design, class_weight: Any) -> Array | None:
    """The weights of the rows times those of their classes; None for equal weights of one.

    "balanced" counts rows by their weights, so that a weight of 2 still equals two rows.
    """
    if class_weight is None:
        return design.weight
    classes, codes = np.unique(design.y[:, 0], return_inverse=True)
    by_class = class_weights(class_weight, classes, codes, design)
    return check_weight(by_class[codes] if design.weight is None else design.weight * by_class[codes], len(codes))


def class_weights(class_weight: Any, classes: Array, codes: Array, design: Design) -> Array:
    """One weight for each class."""
    if class_weight is None:
        return np.ones(len(classes))
    rule = "class_weight must be None, 'balanced' or a dict with a finite number of 0 or more for each class"
    if isinstance(class_weight, str) and class_weight == "balanced":
        mass = np.bincount(codes, weights=design.weight)
        return np.where(mass > 0, mass.sum() / (len(classes) * np.where(mass > 0, mass, 1.0)), 0.0)
    try:
        by_class = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes[codes]), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InvalidParameter(f"class_weight={class_weight!r}; {rule} ({problem}). Set one of them.") from problem
    if not (np.isfinite(by_class).all() and (by_class >= 0).all()):
        raise InvalidParameter(
            f"class_weight gives {dict(zip(classes.tolist(), by_class.tolist(), strict=True))}; {rule}. Correct it."
        )
    return by_class


def codes_of(labels: Array, classes: Array) -> Array:
    """The number of its class for every label of a chunk; all classes are known beforehand."""
    places = np.searchsorted(classes, labels) if classes.dtype.kind == labels.dtype.kind else np.zeros(0, dtype=np.intp)
    if len(places) != len(labels):  # kinds differ, as 1 and 1.0 or text and objects do: compare one by one
        place_of = {label: place for place, label in enumerate(classes.tolist())}
        try:
            places = np.array([place_of.get(label, len(classes)) for label in labels.tolist()], dtype=np.intp)
        except TypeError as problem:
            raise InvalidTarget(
                f"y holds an object that cannot be a label ({problem}); labels must be all numbers or all text. "
                "Convert them first."
            ) from problem
    unknown = np.flatnonzero((places == len(classes)) | (classes[np.minimum(places, len(classes) - 1)] != labels))
    if len(unknown):
        raise InvalidTarget(
            f"y holds {labels.tolist()[unknown[0]]!r} (row {unknown[0]}), which is none of the classes "
            f"{classes.tolist()}. Name all classes that can come in `classes` at the first call of partial_fit."
        )
    return places


def first_classes(classes: Any) -> Array:
    """The sorted classes named at the first call of `partial_fit`."""
    if classes is None:
        raise InvalidTarget(
            "classes must be passed on the first call to partial_fit: a chunk need not hold all of them. Pass "
            "classes=numpy.unique(y) of all rows to come."
        )
    known = np.unique(np.asarray(classes))
    if len(known) < 2:
        raise InvalidTarget(f"classes={known.tolist()}; a classifier needs 2 classes or more. Name all that can come.")
    return known
