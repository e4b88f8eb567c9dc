"""A saved model applied to a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from hiperplano.cli.workflow.fitting.split import check_weights
from hiperplano.cli.workflow.metadata import Metadata, load_with_metadata
from hiperplano.cli.workflow.problem import with_target
from hiperplano.data.design import Array
from hiperplano.errors import InvalidFile
from hiperplano.features.novelty import Novelty, novelty
from hiperplano.features.target import labels_of_model
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator
from hiperplano.tables.reading import no_such_column, read_table, to_frame

_ = translator("terminal")

_MOST_NAMED = 6


@dataclass(frozen=True)
class ScoredTable:
    """Rows of a table as a saved model sees them.

    Attributes
    ----------
    coded : ndarray
        The coded rows, before scaling.
    rows : ndarray
        The same rows, scaled if the model needs it.
    notes : list of str
        Notes for the user on how the table was read.
    novelty : Novelty
        How the rows differ from those of the fit.
    weight : ndarray or None
        Weights of the rows in metrics, if the fit had weights and the table has their column.
    """

    pipeline: Pipeline
    metadata: Metadata
    frame: Any
    coded: Array
    rows: Array
    y: Array | None
    notes: list[str]
    novelty: Novelty
    weight: Array | None = None

    @property
    def model(self) -> Any:
        return self.pipeline[-1]


def score_table(
    model: Path,
    file: Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    target: str | None = None,
    needs_target: bool = False,
    strict: bool = False,
) -> ScoredTable:
    """Code the rows of a table for a saved model, with the target if the model is to be evaluated.

    Parameters
    ----------
    model : Path
        Model file written by `hiperplano fit`.
    file : Path
        Path of the table.
    separator, decimal, sheet : str, optional
        Format of a text table, and sheet of a workbook.
    target : str, optional
        Name of the target column, if it differs from that of the fit.
    strict : bool
        Whether to reject a table with anything that the fit did not see.
    """
    pipeline, metadata = load_with_metadata(model)
    table, source = read_table(file, separator=separator, decimal=decimal, sheet=sheet)
    y, notes = None, list(source.reading_notes)
    numbers = np.arange(table.num_rows)
    if needs_target:
        name = target or metadata.target
        if name not in table.column_names:
            raise InvalidFile(no_such_column(file, name, table.column_names))
        numbers = np.flatnonzero(table.column(name).is_valid().to_numpy())
        table, left_out = with_target(table, name)
        notes += [left_out] if left_out else []
        classes = None if metadata.task == "regression" else np.asarray(pipeline[-1].classes_)
        y = labels_of_model(file, name, table.column(name), classes)
    frame = to_frame(table)
    frame.index = numbers + 1
    weight = _weight(metadata, frame, notes) if needs_target else None
    if weight is not None and y is not None and not weight.all():  # rows of weight 0 are dropped
        frame, y, weight = frame[weight > 0], y[weight > 0], weight[weight > 0]
    found = novelty(pipeline[0], frame)
    refuse_unlike(found, file, strict)
    notes += _sentences(found)
    known = frame.assign(**dict.fromkeys(found.missing_columns, None)) if found.missing_columns else frame
    coded = pipeline[0].transform(known)
    rows = coded if len(pipeline) == 2 else pipeline[1].transform(coded)
    return ScoredTable(pipeline, metadata, known, coded, rows, y, notes, found, weight)


def _weight(metadata: Metadata, frame: Any, notes: list[str]) -> Array | None:
    name = metadata.weight
    if name is None:
        return None
    if name not in frame:
        notes.append(Message("the fit was weighted by {name}, which is not there: all rows count the same", name=name))
        return None
    return check_weights(frame[name], name)


def predictions(model: Any, rows: Any, metadata: Any) -> dict[str, Any]:
    """The class or number for each row, and its basis: a probability for each class, or a score.

    Parameters
    ----------
    rows : ndarray
        Rows in the coding of the model.

    Returns
    -------
    dict of str to ndarray
        Columns to write, by name.
    """
    columns: dict[str, Any] = {"prediction": model.predict(rows)}
    if metadata.task == "regression":
        return columns
    if hasattr(model, "score_points"):
        columns["points"] = model.score_points(rows)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(rows)
        return columns | {f"probability {label}": shares[:, k] for k, label in enumerate(model.classes_.tolist())}
    scores = model.decision_function(rows)
    if scores.ndim == 1:
        flipped = metadata.positive == model.classes_.tolist()[0]
        return columns | {f"score {metadata.positive}": -scores if flipped else scores}
    return columns | {f"score {label}": scores[:, k] for k, label in enumerate(model.classes_.tolist())}


def refuse_unlike(found: Novelty, file: Path, strict: bool) -> None:
    """Reject a table of another kind and, with `strict`, one with anything that the fit did not see."""
    missing = found.missing_columns
    if missing and (strict or 2 * len(missing) >= found.n_columns):
        raise InvalidFile(
            _(
                "{file}: {n} of {all} columns that the model needs are not there: {names}. Give a table with them; "
                "their order does not matter.",
                file=file,
                n=len(missing),
                all=found.n_columns,
                names=", ".join(map(repr, missing[:6])),
            )
        )
    if strict and found.oddities:
        raise InvalidFile(
            _(
                "{file} holds what the model has not seen: {what}. Correct the file, or leave --strict out.",
                file=file,
                what="; ".join(translate(each.what) for each in found.oddities[:3]),
            )
        )


def _sentences(found: Novelty) -> list[str]:
    """Notes that the user should read before using the scores."""
    said: list[str] = []
    if found.missing_columns:
        said.append(
            Message(
                "columns that the model needs are not there and were taken as missing in every row: {names}",
                names=", ".join(found.missing_columns[:6]),
            )
        )
    if found.oddities:
        said.append(
            Message(
                "{n:,} of {all:,} rows ({share:.1%}) hold values or categories that the fit has not seen: check them",
                n=found.odd_rows,
                all=found.n_rows,
                share=found.odd_rows / found.n_rows,
            )
        )
    return said + [each.what for each in found.oddities[:_MOST_NAMED]]
