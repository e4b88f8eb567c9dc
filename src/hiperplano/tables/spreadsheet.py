"""Text cells that a spreadsheet would run as formulas, made harmless."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+\-]?[0-9][0-9.,  ']*([eE][+\-]?[0-9]+)?%?$"

_QUOTE, _NOTHING = (pa.scalar(sign, pa.large_string()) for sign in ("'", ""))


def inert(table: pa.Table) -> pa.Table:
    """The table with an apostrophe before every text, also in names, that begins with = + - @, a tab or a return.

    Spreadsheets show such a cell as text. Numbers are unchanged, including those written as text.
    """
    columns = [_inert_column(column) for column in table.columns]
    return pa.table(columns, names=[_inert_text(name) for name in table.column_names])


def _inert_column(column: Any) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return column
    text = column.cast(pa.large_string())
    formula = pc.and_(pc.match_substring_regex(text, _FORMULA), pc.invert(pc.match_substring_regex(text, _NUMBER)))
    return pc.if_else(formula, pc.binary_join_element_wise(_QUOTE, text, _NOTHING), text)


def _inert_text(text: str) -> str:
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text
