"""Rows unlike those of a fit: numbers outside its range, unseen categories, missing columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.features.coding import Coding
from hiperplano.features.encoders import NumericEncoder
from hiperplano.messages import Message

_MOST_NAMED = 3


@dataclass(frozen=True)
class Oddity:
    """A column, and the rows in which its values are new to the fit.

    Attributes
    ----------
    rows : ndarray of bool
    what : Message
        Description of the column: number of rows, and an example.
    brief : Message
        Short text for a single row.
    """

    column: str
    rows: Array
    what: Message
    brief: Message


@dataclass(frozen=True)
class Novelty:
    """Differences of a table from the rows of the fit.

    Attributes
    ----------
    missing_columns : list of str
        Columns that the model needs and the table lacks.
    oddities : list of Oddity
    n_rows, n_columns : int
        Rows of the table, and columns that the model needs.
    """

    missing_columns: list[str]
    oddities: list[Oddity] = field(default_factory=list)
    n_rows: int = 0
    n_columns: int = 0

    @property
    def odd_rows(self) -> int:
        """Mask of the rows with something new."""
        return int(np.count_nonzero(np.any([each.rows for each in self.oddities], axis=0))) if self.oddities else 0

    def flags(self) -> list[Message]:
        """For every row, what is new in it; empty for most."""
        flags: list[list[Message]] = [[] for _ in range(self.n_rows)]
        for each in self.oddities:
            for row in np.flatnonzero(each.rows).tolist():
                flags[row].append(each.brief)
        return [Message.concatenate("; ", found) for found in flags]


def novelty(coding: Any, frame: Any) -> Novelty:
    """Compare a frame with the rows that a coding was fitted on.

    Parameters
    ----------
    coding : Coding, or another first step
        The coding. Any other step checks new rows itself.
    """
    if not isinstance(coding, Coding):
        return Novelty([], [], len(frame))
    missing = [name for name in coding.feature_names_in_.tolist() if name not in frame.columns]
    found = []
    given = set(coding.feature_names_in_.tolist())
    for coder in coding.coders_:
        name = coder.column.name
        if name in missing or name not in given:  # terms are like their columns
            continue
        odd = _outside(coder, frame[name]) if isinstance(coder, NumericEncoder) else _unseen(coder, frame[name])
        found += [odd] if odd is not None else []
    return Novelty(missing, found, len(frame), len(coding.feature_names_in_))


def _outside(coder: NumericEncoder, series: Any) -> Oddity | None:
    if coder.column.kind == "ordered":
        return _unseen(coder, series)
    values = coder.values(series)
    below, above = values < coder.low, values > coder.high
    rows = np.asarray(below | above)
    if not rows.any():
        return None
    worst = values[rows][np.argmax(np.abs(values[rows] - 0.5 * (coder.low + coder.high)))]
    show = _day if coder.column.kind == "date" else _number
    name, low, high = coder.column.name, show(coder.low), show(coder.high)
    what = Message(
        "{name}: {n:,} of {all:,} rows ({share:.1%}) lie outside {low} – {high}, the range of the fit (as {value})",
        name=name,
        n=int(rows.sum()),
        all=len(rows),
        share=float(rows.mean()),
        low=low,
        high=high,
        value=show(worst),
    )
    return Oddity(name, rows, what, Message("{name} outside {low} – {high}", name=name, low=low, high=high))


def _unseen(coder: Any, series: Any) -> Oddity | None:
    codes, labels = coder.categories(series)
    new = [label for label in labels if label not in coder.known]
    rows = np.isin(codes, [k for k, label in enumerate(labels) if label in set(new)])
    if not rows.any():
        return None
    there = [labels[k] for k in np.unique(codes[rows]).tolist()]
    name = coder.column.name
    what = Message(
        "{name}: {n:,} of {all:,} rows ({share:.1%}) hold categories that the fit never saw: {labels}",
        name=name,
        n=int(rows.sum()),
        all=len(rows),
        share=float(rows.mean()),
        labels=", ".join(map(repr, there[:_MOST_NAMED])) + (" …" if len(there) > _MOST_NAMED else ""),
    )
    return Oddity(name, rows, what, Message("{name} unseen", name=name))


def _number(value: float) -> Message:
    # No thousands separator below 10,000, since 2008 may be a year.
    return Message.number(float(value), ",.0f" if 1e4 <= abs(value) < 1e15 else ".6g")


def _day(value: float) -> str:
    return str(np.datetime64(int(value), "D"))
