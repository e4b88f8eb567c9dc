"""Class labels: integer codes, class weights, and errors for targets that are not classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import type_of_target

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, RowVector, Sums
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.messages import Message

_NARROW = 2**16  # range of integer labels up to which they are counted instead of sorted
_LARGEST_CODE = 2**63 - 1  # largest integer of the type in which differences of labels are taken
_FEW, _MOST_FLOATS = 20, 100  # with more distinct values, a target may be numeric; with more distinct floats, it is


def encode_labels(design: Design, others: Array | None = None) -> tuple[Array, RowVector]:
    """The sorted classes of a design's target, and the class number of every row.

    Parameters
    ----------
    design : Design
        Design with labels of any kind as its target.
    others : ndarray, optional
        Labels of rows of weight 0. A class with only such labels is included, without rows.

    Returns
    -------
    classes : ndarray of shape (classes,)
    codes : RowVector of int
    """
    try:
        (classes,) = design.fold(DistinctLabels(), _union)
        classes = classes if others is None else np.union1d(classes, others)
        kind = "multiclass" if _are_plainly_classes(classes) else _kind(classes)
    except (TypeError, ValueError):  # labels that cannot be compared, or are sequences
        kind = "unknown"
    if kind == "unknown":
        (kinds,) = design.fold(_LabelKinds(), _union)
        raise InvalidTarget(
            "Unknown label type: {kind}. y holds objects of the kinds {listed}; labels must be all "
            "numbers or all text, and none may be missing. Fill or convert them first.",
            kind=kind,
            listed=", ".join(kinds.tolist()),
        )
    if kind not in ("binary", "multiclass"):
        seen: str = kind
        if kind.startswith("continuous"):
            seen = Message("{n} different numbers with fractions", n=len(classes))
        raise InvalidTarget(
            "Unknown label type: {kind}. y holds {seen}: this looks like a regression target; a "
            "classifier needs classes. Use a regressor, or cut the numbers into classes first.",
            kind=kind,
            seen=seen,
        )
    if classes.dtype.kind in "iuf" and _too_many(classes, design.n_rows):
        raise InvalidTarget(
            "y holds {n_classes} different numbers in {n_rows} rows: this looks like a regression "
            "target; a classifier needs classes. Use a regressor, cut the numbers into classes, or pass "
            "them as text if each really is a class.",
            n_classes=len(classes),
            n_rows=design.n_rows,
        )
    if len(classes) < 2:
        raise InvalidTarget(
            "y holds one class ({classes!r} in all {n_rows} rows); a classifier needs 2 classes or more. "
            "Check the target column.",
            classes=classes.tolist()[0],
            n_rows=design.n_rows,
        )
    return classes, design.map(_Codes(classes))


def labels_without_weight(X: Any, y: Any, sample_weight: Any) -> Array | None:
    """Labels of the rows of weight 0, for a fit to X and y; None if there are none."""
    if isinstance(X, Design) and sample_weight is None:
        if not X.has_weight or X.weighted_rows().n_rows == X.n_rows:
            return None
        return X.fold(DistinctLabels(), _union)[0]
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if weight is None or weight.all():
        return None
    labels = X.collect(X.vector("y")) if isinstance(X, Design) else np.asarray(y)
    try:
        return np.unique(labels.ravel()[weight == 0])
    except TypeError:  # labels that cannot be compared are not classes
        return None


def _union(left: Sums, right: Sums) -> Sums:
    return (np.union1d(left[0], right[0]),)


@dataclass(frozen=True)
class DistinctLabels:
    """The sorted labels of a block; integers in a narrow range are counted instead of sorted."""

    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        labels = block.y[:, 0]
        if labels.dtype.kind not in "iu" or not len(labels):
            return (np.unique(labels),)
        low, high = int(labels.min()), int(labels.max())
        if high - low >= _NARROW or high > _LARGEST_CODE:
            return (np.unique(labels),)
        counts = np.bincount(xp.subtract(labels, low, dtype=np.intp, casting="unsafe"))
        return ((counts.nonzero()[0] + low).astype(labels.dtype),)


@dataclass(frozen=True)
class _LabelKinds:
    """Names of the types of a block's labels."""

    def __call__(self, block: Block) -> Sums:
        return (np.unique([type(label).__name__ for label in block.y[:, 0].tolist()]),)


@dataclass(frozen=True)
class _Codes:
    """The position of each label among the sorted classes."""

    reads_rows = False
    classes: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        labels, classes = block.y[:, 0], self.classes
        width = int(classes[-1]) - int(classes[0]) + 1 if classes.dtype.kind in "iu" else _NARROW + 1
        if width > _NARROW:
            return np.searchsorted(classes, labels)
        apart = xp.subtract(labels, classes[0], dtype=np.intp, casting="unsafe")
        if width == len(classes):
            return xp.asarray(apart)
        places = xp.zeros(width, dtype=np.intp)
        places[xp.subtract(classes, classes[0]).astype(np.intp)] = xp.arange(len(classes))
        return xp.asarray(places[apart])


def _are_plainly_classes(labels: Array) -> bool:
    """Whether labels are integers or text, and so certainly classes, which saves the sort of `type_of_target`."""
    if labels.dtype.kind == "f":
        return bool(np.isfinite(labels).all() and (labels == np.floor(labels)).all())
    return labels.dtype.kind in "iubU"


def _kind(labels: Array) -> str:
    """scikit-learn's type of the target, without its warning about labels that cannot be compared."""
    with warnings.catch_warnings():
        # A warning about many classes: the caller rejects them if there are too many.
        warnings.simplefilter("ignore", UserWarning)
        return str(type_of_target(labels, input_name="y"))


def _too_many(classes: Array, n_rows: int) -> bool:
    """Whether most numbers occur once, or there are more floats than a target with classes would have."""
    n_classes = len(classes)
    return n_classes > _FEW and (2 * n_classes > n_rows or (classes.dtype.kind == "f" and n_classes > _MOST_FLOATS))


def label_weight(design: Design, class_weight: Any, classes: Array | None = None) -> RowVector | None:
    """The weights of the rows times those of their classes; None for equal weights of one.

    Parameters
    ----------
    design : Design
        Design with labels as its target.
    class_weight : None, "balanced" or dict
        "balanced" counts rows by their weights, so that a weight of 2 still equals two rows.
    classes : ndarray, optional
        All classes, if some have no rows.
    """
    if class_weight is None:
        return design.vector("weight") if design.has_weight else None
    classes, codes = encode_labels(design, classes)
    by_class = class_weights(class_weight, classes, class_totals(design, codes, len(classes)))
    return design.with_vectors(code=codes).map(_WeightOfClass(by_class))


def class_totals(design: Design, codes: RowVector, n_classes: int) -> Array:
    """The total weight of each class."""
    return design.with_vectors(code=codes).fold(_ClassTotals(n_classes))[0]


@dataclass(frozen=True)
class _ClassTotals:
    reads_rows = False
    n_classes: int

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        totals = np.bincount(block.vectors["code"], weights=block.weight, minlength=self.n_classes)
        return (totals.astype(xp.float64),)


@dataclass(frozen=True)
class _WeightOfClass:
    reads_rows = False
    by_class: Array

    def __call__(self, block: Block) -> Array:
        return block.weighted(self.by_class[block.vectors["code"]])


def class_weights(class_weight: Any, classes: Array, totals: Array) -> Array:
    """One weight for each class, of shape (classes,).

    Parameters
    ----------
    totals : ndarray of shape (classes,)
        Total weight of the rows of each class.
    """
    if class_weight is None:
        return np.ones(len(classes))
    rule = Message("class_weight must be None, 'balanced' or a dict with a finite number of 0 or more for each class")
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.where(totals > 0, totals.sum() / (len(classes) * np.where(totals > 0, totals, 1.0)), 0.0)
    try:
        by_class = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InvalidParameter(
            "class_weight={class_weight!r}; {rule} ({problem}). Set one of them.",
            class_weight=class_weight,
            rule=rule,
            problem=problem,
        ) from problem
    if not (np.isfinite(by_class).all() and (by_class >= 0).all()):
        raise InvalidParameter(
            "class_weight gives {classes}; {rule}. Correct it.",
            classes=dict(zip(classes.tolist(), by_class.tolist(), strict=True)),
            rule=rule,
        )
    if not by_class.any():
        raise InvalidParameter(
            "class_weight gives 0 to all {n_classes} classes; {rule}, and one above 0. Set it.",
            n_classes=len(classes),
            rule=rule,
        )
    return by_class


def codes_of(labels: Array, classes: Array) -> Array:
    """The class number of every label of a chunk, for known classes."""
    places = np.searchsorted(classes, labels) if classes.dtype.kind == labels.dtype.kind else np.zeros(0, dtype=np.intp)
    if len(places) != len(labels):  # types differ, such as 1 and 1.0 or text and objects: compare one by one
        place_of = {label: place for place, label in enumerate(classes.tolist())}
        try:
            places = np.array([place_of.get(label, len(classes)) for label in labels.tolist()], dtype=np.intp)
        except TypeError as problem:
            raise InvalidTarget(
                "y holds an object that cannot be a label ({problem}); labels must be all numbers or all "
                "text. Convert them first.",
                problem=problem,
            ) from problem
    unknown = np.flatnonzero((places == len(classes)) | (classes[np.minimum(places, len(classes) - 1)] != labels))
    if len(unknown):
        raise InvalidTarget(
            "y holds {label!r} (row {row}), which is not one of the classes {classes}. Name all "
            "classes that can come in `classes` at the first call of partial_fit.",
            label=labels.tolist()[unknown[0]],
            row=unknown[0],
            classes=classes.tolist(),
        )
    return places


def first_classes(classes: Any) -> Array:
    """The sorted classes given at the first call of `partial_fit`."""
    if classes is None:
        raise InvalidTarget(
            "classes must be passed on the first call to partial_fit: a chunk need not hold all of them. "
            "Pass classes=numpy.unique(y) of all rows to come."
        )
    known = np.unique(np.asarray(classes))
    if len(known) < 2:
        raise InvalidTarget(
            "classes={known}; a classifier needs 2 classes or more. Name all that can come.", known=known.tolist()
        )
    return known
