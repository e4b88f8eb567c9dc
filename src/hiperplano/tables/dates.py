"""Dates as text, in the formats of many countries."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.tables.numbers import DASHES

_LOOKED_AT = 1_000
_LIKE_A_DATE = re.compile(
    r"(\d{4}[/.-]\d{1,2}[/.-]\d{1,2}|\d{1,2}[/.-]\d{1,2}[/.-](\d{2}|\d{4}))( \d{1,2}:\d{2}(:\d{2})?)?"
)
_FORMS = tuple(
    day.replace("/", sign) + clock
    for day in ("%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y")
    for sign in "/-."
    for clock in ("", " %H:%M:%S", " %H:%M")
)
_FIRST_YEAR = 1000  # "%Y" would accept 24 as the year 24


def as_dates(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The dates of a text column, if one format fits every cell; if two do, the day comes before the month.

    One format is used for the whole column, since a single cell cannot distinguish 5 June from 6 May.

    Parameters
    ----------
    column : ChunkedArray
        Column of strings or dictionary-encoded strings.
    """
    texts = (cell.as_py() for cell in column.slice(0, _LOOKED_AT))
    first = next((text for text in texts if text and text not in DASHES), "")
    if not _LIKE_A_DATE.fullmatch(first):
        return None
    cells = column.cast(pa.string())
    cells = pc.if_else(pc.is_in(cells, pa.array(DASHES)), None, cells)
    for form in _FORMS:
        found = pc.strptime(cells, format=form, unit="us", error_is_null=True)
        if found.null_count == cells.null_count and pc.min(pc.year(found)).as_py() >= _FIRST_YEAR:
            return found
    return None
