"""Texts that are dates, in the ways of many countries."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_LIKE_A_DATE = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}( \d{1,2}:\d{2}(:\d{2})?)?")
_FORMS = tuple(
    day + clock
    for day in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d")
    for clock in ("", " %H:%M:%S", " %H:%M")
)


def as_dates(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The dates of a column of text, if one form fits every cell; where two do, the day comes before the month.

    One form for the whole column: a cell alone cannot tell 5 June from 6 May.
    """
    first = column.drop_null().slice(0, 1).to_pylist()
    if not first or not _LIKE_A_DATE.fullmatch(str(first[0])):
        return None
    texts = column.cast(pa.string())
    for form in _FORMS:
        found = pc.strptime(texts, format=form, unit="us", error_is_null=True)
        if found.null_count == texts.null_count:
            return found
    return None
