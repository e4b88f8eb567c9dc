"""A saved model applied to a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from hiperplano.cli.workflow.metadata import Metadata, load_with_metadata
from hiperplano.cli.workflow.problem import with_target
from hiperplano.data.design import Array
from hiperplano.errors import InvalidFile, InvalidTarget
from hiperplano.features.target import plain_labels
from hiperplano.messages.catalogue import translator
from hiperplano.tables.reading import no_such_column, read_table, to_frame

_ = translator("terminal")


@dataclass(frozen=True)
class ScoredTable:
    """Rows of a table as a saved model sees them.

    Attributes
    ----------
    coded : ndarray
        The rows as the model takes them, coded but not scaled.
    rows : ndarray
        The same, scaled where the model wants it.
    notes : list of str
        What a person should know of how the table was read.
    """

    pipeline: Pipeline
    metadata: Metadata
    frame: Any
    coded: Array
    rows: Array
    y: Array | None
    notes: list[str]

    @property
    def model(self) -> Any:
        return self.pipeline[-1]


def score_table(
    model: Path,
    file: Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    target: str | None = None,
    needs_target: bool = False,
) -> ScoredTable:
    """Code the rows of a table for a saved model; with the target where the model is to be evaluated.

    Parameters
    ----------
    model : Path
        Written by `hiperplano fit`.
    file : Path
        Of the table.
    separator, decimal : str, optional
        Of a text table.
    target : str, optional
        Name of its column, if it is not that of the fit.
    """
    pipeline, metadata = load_with_metadata(model)
    table, source = read_table(file, separator=separator, decimal=decimal)
    y, notes = None, list(source.reading_notes)
    if needs_target:
        name = target or metadata.target
        if name not in table.column_names:
            raise InvalidFile(no_such_column(file, name, table.column_names))
        table, left_out = with_target(table, name)
        notes += [left_out] if left_out else []
        y = read_labels(file, name, table.column(name), pipeline, metadata)
    frame = to_frame(table)
    coded = pipeline[0].transform(frame)
    rows = coded if len(pipeline) == 2 else pipeline[1].transform(coded)
    return ScoredTable(pipeline, metadata, frame, coded, rows, y, notes)


def read_labels(file: Path, name: str, column: pa.ChunkedArray, pipeline: Pipeline, metadata: Metadata) -> Array:
    """The target in the labels of the model."""
    if not len(column):
        raise InvalidTarget(
            _("{file}: the target {name!r} is empty in all rows. Choose another column.", file=file, name=name)
        )
    values = plain_labels(column)
    if metadata.task == "regression":
        if values.dtype.kind not in "iuf":
            raise InvalidTarget(
                _(
                    "{file}: the target {name!r} holds text; the model predicts numbers. Check the column.",
                    file=file,
                    name=name,
                )
            )
        return values.astype(np.float64)
    classes = np.asarray(pipeline[-1].classes_)
    labels = values.astype(str) if classes.dtype.kind == "U" else values
    unknown = [label for label in np.unique(labels).tolist() if label not in classes.tolist()]
    if unknown:
        row = int(np.flatnonzero(labels == unknown[0])[0])
        raise InvalidTarget(
            _(
                "{file}: the target {name!r} holds {label!r} (row {row}); the model knows {classes}. Leave such rows "
                "out, or fit the model again.",
                file=file,
                name=name,
                label=unknown[0],
                row=row + 1,
                classes=", ".join(map(str, classes.tolist())),
            )
        )
    return labels
