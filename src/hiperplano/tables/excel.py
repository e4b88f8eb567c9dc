"""Excel workbooks: the cells of one sheet as columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from hiperplano.errors import InvalidFile, NotInstalled
from hiperplano.messages import Message
from hiperplano.tables.text import MISSING

_MOST_TITLE_ROWS = 20  # most rows above the names, which may hold a title


def is_excel(path: Path) -> bool:
    """Whether a zip archive is a workbook."""
    try:
        with ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (BadZipFile, OSError):
        return False


def read_excel(path: Path, sheet: str | None) -> tuple[pa.Table, list[str]]:
    """The columns of a sheet, and notes for the reader.

    Parameters
    ----------
    sheet : str or None
        Name of the sheet, or its number, counted from 1; the first by default.
    """
    try:
        from openpyxl import load_workbook
    except ImportError as problem:
        raise NotInstalled(
            "{file} is an Excel file; reading it needs openpyxl, which is not installed. Run: pip install openpyxl",
            file=path,
        ) from problem
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except Exception as problem:  # openpyxl has no specific error for damaged files
        raise InvalidFile(
            "{file} is damaged: {why}. Write or copy it again.", file=path, why=str(problem).rstrip(".")
        ) from problem
    try:
        chosen = _choose(path, book.sheetnames, sheet)
        rows = [row for row in book[chosen].iter_rows(values_only=True) if any(not _is_empty(cell) for cell in row)]
    finally:
        book.close()
    notes: list[str] = []
    if sheet is None and len(book.sheetnames) > 1:
        others = ", ".join(map(repr, book.sheetnames[1:5]))
        notes.append(
            Message("Sheet {name!r} was read; there are also {others} (--sheet NAME).", name=chosen, others=others)
        )
    first = _first_row(rows)
    if first:
        notes.append(Message("What stands above the names of the columns was left out (lines: {n}).", n=first))
    return _columns(path, chosen, rows[first:]), notes


def _choose(path: Path, names: Sequence[str], wanted: str | None) -> str:
    if wanted is None:
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise InvalidFile(
        "{file} has no sheet {name!r}; it has {names}. Check the name.",
        file=path,
        name=wanted,
        names=", ".join(map(repr, names[:8])),
    )


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip() in MISSING)


def _first_row(rows: list[tuple[Any, ...]]) -> int:
    """The row of the names: the first with as many cells as most rows; rows above are a title."""
    if not rows:
        return 0
    widths = [sum(not _is_empty(cell) for cell in row) for row in rows[: _MOST_TITLE_ROWS + 1]]
    return next((k for k, width in enumerate(widths) if width > max(widths) / 2), 0)


def _columns(path: Path, sheet: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    if not rows:
        raise InvalidFile("{file}: sheet {name!r} is empty; a table needs names and rows.", file=path, name=sheet)
    names = ["" if _is_empty(cell) else str(cell).strip() for cell in rows[0]]
    columns = [[row[j] if j < len(row) else None for row in rows[1:]] for j in range(len(names))]
    kept = [(name, _column(cells)) for name, cells in zip(names, columns, strict=True)]
    kept = [(name, column) for name, column in kept if name or column.null_count < len(column)]
    return pa.Table.from_arrays([column for _name, column in kept], names=[name for name, _column in kept])


def _column(cells: list[Any]) -> pa.ChunkedArray:
    """Numbers, dates or booleans if all cells are; else texts, as the sheet shows them."""
    values = [None if _is_empty(cell) else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    for found, kind in _TYPES:
        if kinds <= found:
            return pa.chunked_array([pa.array(values, kind)])
    return pa.chunked_array([pa.array([None if value is None else _text(value) for value in values], pa.string())])


_TYPES = (
    ({bool}, pa.bool_()),
    ({int}, pa.int64()),
    ({int, float}, pa.float64()),
    ({dt.datetime, dt.date}, pa.timestamp("us")),
)


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
