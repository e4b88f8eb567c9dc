"""Split into training and validation rows: at random, by a column, from another file, or all for training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hiperplano.cli.workflow.problem import Problem, TableOptions, with_target
from hiperplano.cli.workflow.training import train_validation_split
from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidFile, InvalidParameter
from hiperplano.features.target import labels_of_model
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator
from hiperplano.tables.reading import no_such_column, to_frame

_ = translator("terminal")


@dataclass(frozen=True)
class Split:
    """Two sets of rows; without validation rows the second is the first.

    Attributes
    ----------
    frames, labels : pair
        Rows and labels for training and for validation.
    weights : pair of ndarray or None
        Weights of these rows, all positive.
    note : str
        How the rows were split, if not at random.
    """

    frames: tuple[Any, Any]
    labels: tuple[Array, Array]
    weights: tuple[Array | None, Array | None] = (None, None)
    note: str = ""

    @property
    def validated(self) -> bool:
        """Whether there are validation rows."""
        return self.frames[0] is not self.frames[1]


def split_rows(
    problem: Problem, choices: TableOptions, validation: float | Path, by: str | None, weight: str | None, seed: int
) -> Split:
    """Split rows by the given options.

    Parameters
    ----------
    validation : float or Path
        Share of the rows, 0 for no validation, or another file.
    by : str or None
        Column for the split: the latest times, or whole groups, are for validation.
    weight : str or None
        Column of weights.
    """
    weights = None if weight is None else check_weights(problem.extra[weight], weight)
    y = problem.target.values
    if isinstance(validation, Path):
        frame, labels, other = _other_file(problem, choices, validation, weight)
        said = Message("validated on the rows of {file}", file=validation.name)
        return _counting(Split((problem.frame, frame), (y, labels), (weights, other), said))
    if validation == 0:
        said = Message("all rows were used for training")
        return _counting(Split((problem.frame, problem.frame), (y, y), (weights, weights), said))
    if by is None:
        training, held = train_validation_split(problem.target, validation, seed)
        note: str = ""
    else:
        training, held, note = _by_column(problem, by, validation, seed)
    frames = problem.frame.take(training), problem.frame.take(held)
    both = (None, None) if weights is None else (weights[training], weights[held])
    return _counting(Split(frames, (y[training], y[held]), both, note))


def _counting(split: Split) -> Split:
    """Remove the rows of weight 0."""
    first, second = split.weights
    if first is None or second is None or (first.all() and second.all()):
        return split
    kept = np.flatnonzero(first), np.flatnonzero(second)
    frames = split.frames[0].take(kept[0]), split.frames[1].take(kept[1])
    frames = frames if split.validated else (frames[0], frames[0])
    return Split(
        frames, (split.labels[0][kept[0]], split.labels[1][kept[1]]), (first[kept[0]], second[kept[1]]), split.note
    )


def check_weights(values: Any, name: str) -> Array:
    """Validated weights of rows from a column.

    Parameters
    ----------
    values : Series
    name : str
        Name of the column.
    """
    if values.dtype.kind not in "iuf" or values.isna().any() or (values < 0).any():
        raise InvalidParameter(
            _("--weight {name}: weights must be numbers of 0 or more, without gaps. Choose another column.", name=name)
        )
    return np.asarray(values, dtype=np.float64)


def _by_column(problem: Problem, name: str, share: float, seed: int) -> tuple[Array, Array, Message]:
    """The last rows by a time or number, or some of the groups, as a validation set."""
    values = problem.extra[name]
    if values.isna().any():
        raise InvalidData(
            _(
                "--split-by {name}: {n} rows have no value in it. Fill them, or choose another column.",
                name=name,
                n=int(values.isna().sum()),
            )
        )
    if values.dtype.kind in "Miuf" and values.nunique() > 1:
        order = values.rank(method="min").to_numpy()
        border = np.quantile(order, 1.0 - share, method="lower")
        later = order > border
        if not later.any():
            later = order == order.max()
        first = values[later].min()
        note = Message(
            "out of time: validated on the rows with {name} from {value} on",
            name=name,
            value=str(first.date()) if values.dtype.kind == "M" else Message.number(float(first), "g"),
        )
    else:
        groups = values.astype(str).unique()
        if len(groups) < 2:
            raise InvalidData(_("--split-by {name}: it holds one value only. Choose another column.", name=name))
        count = min(max(1, round(share * len(groups))), len(groups) - 1)
        held = np.random.default_rng(seed).permutation(groups)[:count]
        later = values.astype(str).isin(held).to_numpy()
        note = Message("validated on {k} of {n} groups of {name}", k=count, n=len(groups), name=name)
    _refuse_missing_classes(problem, name, later)
    return np.flatnonzero(~later), np.flatnonzero(later), note


def _refuse_missing_classes(problem: Problem, name: str, later: Array) -> None:
    codes = problem.target.codes
    if codes is None:
        return
    for rows in (later, ~later):
        if len(np.unique(codes[rows])) < 2:
            raise InvalidData(
                _(
                    "--split-by {name}: one part of the rows holds one class only. Choose another column or share.",
                    name=name,
                )
            )


def _other_file(
    problem: Problem, choices: TableOptions, path: Path, weight: str | None
) -> tuple[Any, Array, Array | None]:
    name = problem.target.name
    table, _source = choices.read(path, [name])
    if name not in table.column_names:
        raise InvalidFile(no_such_column(path, name, table.column_names))
    numbers = np.flatnonzero(table.column(name).is_valid().to_numpy())
    table, _left_out = with_target(table, name)
    needed = [*problem.frame.columns, *([] if weight is None else [weight])]
    missing = [each for each in needed if each not in table.column_names]
    if missing:
        raise InvalidFile(no_such_column(path, missing[0], table.column_names))
    classes = None if problem.target.codes is None else np.asarray(problem.target.classes)
    labels = labels_of_model(path, name, table.column(name), classes)
    frame = to_frame(table.select(list(problem.frame.columns)))
    frame.index = numbers + 1
    weights = None if weight is None else check_weights(to_frame(table.select([weight]))[weight], weight)
    return frame, labels, weights
