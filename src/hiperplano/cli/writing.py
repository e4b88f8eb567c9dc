"""Columns → a file: CSV, Excel, Parquet, Arrow or Feather, by the file's name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute

from hiperplano.data.files import replacing
from hiperplano.errors import InvalidParameter, NotInstalled
from hiperplano.tables.spreadsheet import inert

FORMATS = (".csv", ".xlsx", ".parquet", ".arrow", ".feather")
_MOST_SHEET_ROWS = 1_048_575


def write_table(path: Path, columns: Mapping[str, Any], raw: bool = False) -> None:
    """Write columns of equal length; the file is replaced completely, or left unchanged.

    Parameters
    ----------
    path : Path
        Its ending is one of `FORMATS`.
    columns : mapping of str to array or series
        By name.
    raw : bool
        Whether text is written to .csv unchanged, even if spreadsheets would run it as a formula.
    """
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    form = path.suffix.lower()
    with replacing(path) as new:
        if form == ".csv":
            from pyarrow import csv

            days = _without_midnights(table)
            csv.write_csv(days if raw else inert(days), new)
        elif form == ".xlsx":
            _write_excel(path, new, _without_midnights(table))
        elif form == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, new)
        else:
            from pyarrow import feather

            feather.write_feather(table, str(new))


def _without_midnights(table: pa.Table) -> pa.Table:
    """Datetimes whose times are all midnight, as dates: 2024-08-29."""
    for place, field in enumerate(table.schema):
        if not pa.types.is_timestamp(field.type) or field.type.tz is not None:
            continue
        column = table.column(place)
        if compute.all(compute.equal(column, compute.floor_temporal(column))).as_py():
            table = table.set_column(place, field.name, column.cast(pa.date32()))
    return table


def _write_excel(path: Path, new: Path, table: pa.Table) -> None:
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
    except ImportError as problem:
        raise NotInstalled(
            "{file} is an Excel file; writing it needs openpyxl, which is not installed. Run: pip install openpyxl",
            file=path,
        ) from problem
    if table.num_rows > _MOST_SHEET_ROWS:
        raise InvalidParameter(
            "{file}: a sheet holds {most:,} rows, and there are {n:,}. Write .csv or .parquet.",
            file=path,
            most=_MOST_SHEET_ROWS,
            n=table.num_rows,
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet("hiperplano")
    columns = [column.to_pylist() for column in table.columns]

    def cell(value: Any) -> Any:
        """A cell that stays text: a spreadsheet would evaluate text that begins with "="."""
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    sheet.append([cell(name) for name in table.column_names])
    for row in zip(*columns, strict=True):
        sheet.append([cell(value) for value in row])
    with new.open("wb") as file:
        book.save(file)
