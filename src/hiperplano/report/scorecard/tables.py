"""Tables of a scorecard as blocks of a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.messages import translate
from hiperplano.report.blocks import Cell, Table
from hiperplano.report.number_format import Number, written
from hiperplano.scorecard import Table as ScorecardTable


def page_table(table: ScorecardTable, name: str) -> Table:
    """The same table in the current language; numbers keep their exact value.

    Parameters
    ----------
    name : str
        Name of the table in the page's files and links.
    """
    columns = [_cells(table, column, place) for place, column in enumerate(table.columns)]
    rows: list[list[Cell]] = [list(row) for row in zip(*columns, strict=True)]
    note = " ".join(_sentence(translate(note)) for note in table.notes)
    return Table(translate(table.title), [translate(each) for each in table.headings()], rows, note, name=name)


def _cells(table: ScorecardTable, column: str, place: int) -> list[Cell]:
    if not table.is_numeric(column):
        return [translate(str(value) if not isinstance(value, str) else value) for value in table[column]]
    values: list[Any] = np.asarray(table[column]).tolist()
    texts = [row[place] for row in table.cells()]
    return [Number(float(value), written(text)) for value, text in zip(values, texts, strict=True)]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
