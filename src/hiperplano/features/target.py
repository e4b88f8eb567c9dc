"""The target column: classes or numbers, and which class is positive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.messages import Message

_LOOKED_FOR = (
    "1",
    "yes",
    "y",
    "true",
    "si",
    "sí",
    "s",
    "bad",
    "default",
    "defaulted",
    "malo",
    "mala",
    "moroso",
    "churn",
)
_MOST_CLASSES = 50
_FEW_NUMBERS = 10


@dataclass(frozen=True)
class Target:
    """A validated target.

    Attributes
    ----------
    task : str
        "classification" or "regression".
    values : ndarray
        Labels or numbers, one for each row.
    why : str
        Reason for the task.
    positive : label or None
        The positive one of two classes.
    classes : list
        The labels in sorted order; empty for a regression.
    codes : ndarray of int or None
        Class number of every row.
    """

    name: str
    task: str
    values: Array = field(repr=False)
    why: str
    positive: Any = None
    classes: Sequence[Any] = ()
    codes: Array | None = field(default=None, repr=False)


def read_target(path: Path, name: str, column: pa.ChunkedArray, task: str | None, positive: str | None) -> Target:
    """The target of a table, without missing values.

    Parameters
    ----------
    path : Path
        Path of the file, for messages.
    task : str or None
        "classification" or "regression"; None: guessed.
    positive : str or None
        The positive one of two classes.
    """
    if not len(column):
        raise InvalidTarget(
            "{file}: the target {name!r} is empty in all rows. Choose another column.", file=path, name=name
        )
    distinct = pc.unique(column)
    if len(distinct) < 2:
        raise InvalidTarget(
            "{file}: the target {name!r} holds one value ({value} in all {n:,} rows); two or more are needed. Check "
            "the column, and how the rows were chosen.",
            file=path,
            name=name,
            value=repr(distinct.to_pylist()[0]),
            n=len(column),
        )
    text = _is_text(column)
    if pa.types.is_timestamp(column.type) or (text and task == "regression"):
        raise InvalidTarget(
            "{file}: the target {name!r} holds {value}; a regression needs numbers, a classification labels. {remedy}",
            file=path,
            name=name,
            remedy=Message("Choose another column.") if task else Message("Choose another column, or --task."),
            value=repr(str(distinct.to_pylist()[0])),
        )
    guessed, why = _task(column, len(distinct), text)
    if task is not None and task != guessed:
        guessed, why = task, Message("chosen")
    if guessed == "regression":
        if positive is not None:
            raise InvalidParameter(
                "--positive chooses one of two classes; {name!r} is a number ({why}).", name=name, why=why
            )
        return Target(name, guessed, column.to_numpy().astype(np.float64), why)
    classes, codes = sorted_labels(column)
    if len(classes) > _MOST_CLASSES:
        raise InvalidTarget(
            "{file}: the target {name!r} holds {k:,} different values in {n:,} rows; at most {most} classes are "
            "supported. {remedy}",
            remedy=Message("Choose another column.")
            if task
            else Message("Choose another column, or --task regression for numbers."),
            file=path,
            name=name,
            k=len(classes),
            n=len(codes),
            most=_MOST_CLASSES,
        )
    return Target(name, guessed, classes[codes], why, _positive(name, classes, positive), classes.tolist(), codes)


def _task(column: pa.ChunkedArray, n_distinct: int, text: bool) -> tuple[str, str]:
    if text:
        return "classification", Message("text")
    if n_distinct == 2:
        return "classification", Message("two numbers")
    if pa.types.is_integer(column.type) and n_distinct <= _FEW_NUMBERS and 10 * n_distinct <= len(column):
        return "classification", Message("{k} different whole numbers", k=n_distinct)
    return "regression", Message("{k:,} different numbers", k=n_distinct)


def plain_labels(column: pa.ChunkedArray) -> Array:
    """Labels, or numbers, as an array of one type and shape (n,)."""
    labels, codes = sorted_labels(column)
    return np.asarray(labels[codes])


def sorted_labels(column: pa.ChunkedArray) -> tuple[Array, Array]:
    """The distinct values of a column in sorted order, and the value number of every row.

    Texts are stored as a fixed-width array, which is sorted and compared much faster than an array of objects.

    Returns
    -------
    labels : ndarray
    codes : ndarray of int of shape (n,)
    """
    whole = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = whole.unify_dictionaries().combine_chunks()
    values = np.asarray(whole.dictionary.to_pylist() if _is_text(column) else whole.dictionary.to_numpy())
    if values.dtype.kind == "f" and bool((values == np.floor(values)).all()):
        values = values.astype(np.int64)
    numbers = whole.indices.to_numpy(zero_copy_only=False)
    there = np.bincount(numbers, minlength=len(values)) > 0  # words of dropped rows are not labels
    order = np.argsort(values[there])
    place = np.zeros(len(values), dtype=np.intp)
    place[np.flatnonzero(there)[order]] = np.arange(len(order))
    return values[there][order], place[numbers]


def _is_text(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_dictionary(column.type) or pa.types.is_string(column.type))


def _positive(name: str, classes: Array, wanted: str | None) -> Any:
    labels = classes.tolist()
    if wanted is not None:
        for label in labels:
            if str(label) == wanted and len(labels) == 2:
                return label
        raise InvalidParameter(
            "--positive {wanted}: the target {name!r} has the classes {labels}. Choose one of two.",
            wanted=wanted,
            name=name,
            labels=", ".join(map(str, labels[:8])),
        )
    if len(labels) != 2:
        return None
    known = [label for label in labels if str(label).strip().lower() in _LOOKED_FOR]
    return known[0] if len(known) == 1 else labels[-1]


def labels_of_model(file: Path, name: str, column: pa.ChunkedArray, classes: Array | None) -> Array:
    """A target as labels known to a model, or as numbers if it has no classes.

    Parameters
    ----------
    column : ChunkedArray
        Column without gaps.
    classes : ndarray or None
        The labels; None for a regression.
    """
    if not len(column):
        raise InvalidTarget(
            "{file}: the target {name!r} is empty in all rows. Choose another column.", file=file, name=name
        )
    values = plain_labels(column)
    if classes is None:
        if values.dtype.kind not in "iuf":
            raise InvalidTarget(
                "{file}: the target {name!r} holds text; the model predicts numbers. Check the column.",
                file=file,
                name=name,
            )
        return values.astype(np.float64)
    labels = values.astype(str) if classes.dtype.kind == "U" else values
    unknown = [label for label in np.unique(labels).tolist() if label not in classes.tolist()]
    if unknown:
        row = int(np.flatnonzero(labels == unknown[0])[0])
        raise InvalidTarget(
            "{file}: the target {name!r} holds {label!r} (row {row}); the model knows {classes}. Leave such rows "
            "out, or fit the model again.",
            file=file,
            name=name,
            label=unknown[0],
            row=row + 1,
            classes=", ".join(map(str, classes.tolist())),
        )
    return labels
