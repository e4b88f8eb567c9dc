"""Rows of any kind as a table in DuckDB or SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from hiperplano.errors import InvalidData
from hiperplano.export.installed import require

TABLE, ROW = "hiperplano_rows", "hiperplano_row"

Values = dict[str, list[Any]]


def plain_columns(X: Any, names: Sequence[str]) -> Values:
    """Columns by name, of Python's own numbers, texts, dates and None; NaN stays NaN.

    Parameters
    ----------
    names : sequence of str
        Of the columns that are needed; a table has them, an array has as many in their order.
    """
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in list(X.columns)]
        if missing:
            raise InvalidData("X has no column {name!r}, which the model needs. Give a table with it.", name=missing[0])
        return {name: [_plain(value) for value in _listed(X[name])] for name in names}
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise InvalidData(
            "X has shape {shape}; the model takes {d} columns. Give rows of that many.", shape=rows.shape, d=len(names)
        )
    return {name: [_plain(value) for value in rows[:, j].tolist()] for j, name in enumerate(names)}


def _listed(column: Any) -> list[Any]:
    return list(column.to_list() if hasattr(column, "to_list") else column)


def _plain(value: Any) -> Any:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        return _plain(value.item())
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value


def run_duckdb(columns: Values, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows of the result of a statement on a table of these columns, in DuckDB."""
    require("duckdb")
    import duckdb
    import pyarrow as pa

    numbered = {ROW: range(_length(columns)), **columns}
    table = pa.table({name: pa.array(list(values), from_pandas=False) for name, values in numbered.items()})
    with duckdb.connect() as connection:
        connection.register(TABLE, table)
        found = connection.execute(statement)
        return [str(each[0]) for each in found.description], found.fetchall()


def run_sqlite(columns: Values, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The same in SQLite, which has no NaN, no booleans and no dates of its own."""
    numbered = {ROW: list(range(_length(columns))), **columns}
    listed = ", ".join('"' + name.replace('"', '""') + '"' for name in numbered)
    marks = ", ".join("?" * len(numbered))
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE {TABLE} ({listed})")
        rows = zip(*([_for_sqlite(value) for value in values] for values in numbered.values()), strict=True)
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", rows)
        found = connection.execute(statement)
        return [each[0] for each in found.description], found.fetchall()
    finally:
        connection.close()


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return int(value) if isinstance(value, bool) else value


def _length(columns: Values) -> int:
    return max(map(len, columns.values()), default=0)
