"""Explanation of the score of one row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hiperplano.cli.workflow.metadata import Metadata, load_with_metadata
from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator
from hiperplano.models.base import decided_classes
from hiperplano.report.number_format import significant
from hiperplano.report.sample import ModelParts
from hiperplano.scorecard import Scorecard, Table
from hiperplano.tables.reading import read_table, to_frame

_ = translator("terminal")


def explain_table_row(
    model: Path, file: Path, row: int, separator: str | None, decimal: str | None
) -> tuple[Table, list[str]]:
    """The points of a scorecard, or the terms of a linear model, for one row.

    Parameters
    ----------
    row : int
        The first row is 1.

    Returns
    -------
    table : Table
        The contributions, the largest first.
    notes : list of str
        Notes for the user on how the table was read.
    """
    pipeline, metadata = load_with_metadata(model)
    table, source = read_table(file, separator=separator, decimal=decimal)
    if not 1 <= row <= table.num_rows:
        raise InvalidParameter(
            _("--row {row}: {file} has rows 1 to {n}. Choose one of them.", row=row, file=file, n=table.num_rows)
        )
    frame = to_frame(table.slice(row - 1, 1))
    rows = pipeline[0].transform(frame)
    if isinstance(pipeline[-1], Scorecard):
        return pipeline[-1].explain(rows), list(source.reading_notes)
    return _terms(pipeline, metadata, np.asarray(rows)[0]), list(source.reading_notes)


def _terms(pipeline: Any, metadata: Metadata, row: Array) -> Table:
    """coefficient × value of every column, in the units of the table."""
    parts = ModelParts.of(pipeline)
    if not hasattr(parts.linear, "coef_"):
        raise NotAvailable(
            "{model} is no weighted sum of the columns, so its scores have no parts. Fit a linear model or a "
            "scorecard.",
            model=type(parts.linear).__name__,
        )
    units = parts.units.columns
    coef = np.atleast_2d(np.asarray(parts.linear.coef_, dtype=np.float64))
    level = np.atleast_1d(np.asarray(parts.linear.intercept_, dtype=np.float64)) + coef @ units.offset
    terms = coef * units.slope * row
    scores = terms.sum(axis=1) + level
    block, sign, title = _decided(parts, metadata, scores)
    order = np.argsort(-np.abs(terms[block]), kind="stable")
    order = order[terms[block][order] != 0]
    columns: dict[str, Any] = {
        "column": [*np.array(pipeline[0].display_names(), dtype=object)[order].tolist(), Message("intercept")],
        "value": np.append(row[order], np.nan),
        "coefficient": sign * np.append((coef * units.slope)[block][order], np.nan),
        "term": sign * np.append(terms[block][order], level[block]),
    }
    note = Message("terms are measured from a value of 0; between two rows compare the differences of their terms")
    return Table(title, columns, (note,))


def _decided(parts: ModelParts, metadata: Metadata, scores: Array) -> tuple[int, float, Message]:
    """The score to explain, its sign, and the resulting decision."""
    if metadata.task == "regression":
        return 0, 1.0, Message("{target}: predicted {value}", target=metadata.target, value=significant(scores[0]).text)
    labels = np.asarray(parts.linear.classes_).tolist()
    if len(scores) == 1:
        sign = -1.0 if metadata.positive == labels[0] else 1.0
        title = Message(
            "{target} = {label}: score {score:.4g}",
            target=metadata.target,
            label=metadata.positive,
            score=sign * float(scores[0]),
        )
        return 0, sign, title
    chosen = int(decided_classes(scores[None])[0])
    title = Message(
        "{target} = {label}: score {score:.4g}, the largest of {n} classes",
        target=metadata.target,
        label=labels[chosen],
        score=float(scores[chosen]),
        n=len(labels),
    )
    return chosen, 1.0, title
