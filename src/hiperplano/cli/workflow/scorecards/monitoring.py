"""Comparison of a saved scorecard with a table of new applicants."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hiperplano.cli.workflow.metadata import load_with_metadata
from hiperplano.errors import InvalidFile
from hiperplano.features.target import labels_of_model
from hiperplano.messages.catalogue import current_language, translator
from hiperplano.report.scorecard.monitoring_page import write_monitoring
from hiperplano.scorecard import Monitoring, Scorecard, monitor
from hiperplano.tables.reading import no_such_column, read_table, to_frame

_ = translator("terminal")


def monitor_table(
    model: Path, file: Path, target: str | None, separator: str | None, decimal: str | None, page: Path | None
) -> tuple[Monitoring, list[str]]:
    """Compare the rows of a table with those of the fit.

    Parameters
    ----------
    target : str or None
        Column of outcomes; by default that of the fit, if the table has it.
    page : Path or None
        Path of an HTML page with the findings.

    Returns
    -------
    found : Monitoring
    notes : list of str
        Notes for the user on how the table was read.
    """
    pipeline, metadata = load_with_metadata(model)
    card = pipeline[-1]
    if not isinstance(card, Scorecard):
        raise InvalidFile(
            _(
                "{file} holds a {kind}; monitor compares scorecards. Give a model written by `hiperplano scorecard`; "
                "`hiperplano evaluate` judges any other.",
                file=model,
                kind=type(card).__name__,
            )
        )
    table, source = read_table(file, separator=separator, decimal=decimal)
    notes, y = list(source.reading_notes), None
    name = target or metadata.target
    if name in table.column_names:
        known = np.asarray(table.column(name).is_valid())
        y = np.full(len(known), None, dtype=object)  # the outcomes of recent applicants may not be known yet
        if known.any():
            y[known] = labels_of_model(file, name, table.column(name).drop_null(), np.asarray(card.classes_))
    elif target is not None:
        raise InvalidFile(no_such_column(file, target, table.column_names))
    found = monitor(card, pipeline[0].transform(to_frame(table)), y)
    if page is not None:
        write_monitoring(page, found, file.name, current_language())
    return found, notes
