"""Rows of any kind as a table in DuckDB or SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from hiperplano.errors import InvalidData
from hiperplano.export.formula import Cell, Formula
from hiperplano.export.installed import require

TABLE, ROW = "hiperplano_rows", "hiperplano_row"

Values = dict[str, list[Any]]


def plain_columns(X: Any, cells: Sequence[Cell], used: set[str]) -> Values:
    """Columns by name, as plain Python numbers, texts, dates and None; NaN stays NaN.

    Parameters
    ----------
    cells : sequence of Cell
        The columns of the fit; an array has the same number in the same order.
    used : set of str
        Names of the needed columns.
    """
    names = [cell.name for cell in cells if cell.name in used]
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in list(X.columns)]
        if missing:
            raise InvalidData("X has no column {name!r}, which the model needs. Give a table with it.", name=missing[0])
        return {
            cell.name: [_plain(value, cell) for value in _listed(X[cell.name])] for cell in cells if cell.name in used
        }
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if rows.ndim != 2 or rows.shape[1] != len(cells):
        raise InvalidData(
            "X has shape {shape}; the model takes {d} columns. Give rows of that many.", shape=rows.shape, d=len(cells)
        )
    return {
        cell.name: [_plain(value, cell) for value in rows[:, j].tolist()]
        for j, cell in enumerate(cells)
        if cell.name in used
    }


def with_valid_columns(X: Any, formula: Formula, used: set[str]) -> Any:
    """The rows with valid values in the columns with coefficient 0, which a statement does not read."""
    unused = [(j, cell.name) for j, cell in enumerate(formula.cells) if cell.name not in used]
    if not unused:
        return X
    if not hasattr(X, "columns"):
        rows = np.array(X.toarray() if hasattr(X, "toarray") else X)
        rows[:, [j for j, _ in unused]] = 0
        return rows
    valid: dict[str, Any] = {}
    for _, name in unused:
        there = [value for value in _listed(X[name]) if value == value and value not in (None, np.inf, -np.inf)]
        valid |= {name: there[0]} if there else {}
    if hasattr(X, "assign"):
        return X.assign(**valid)
    return X.with_columns(**{name: type(X)({name: [value] * len(X)})[name] for name, value in valid.items()})


def _listed(column: Any) -> list[Any]:
    return list(column.to_list() if hasattr(column, "to_list") else column)


def _plain(value: Any, cell: Cell) -> Any:
    """A value for a database; NaN is kept only in numeric columns."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        return _plain(value.item(), cell)
    if isinstance(value, float) and value != value and cell.kind != "number":
        return None
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value


def run_duckdb(columns: Values, n_rows: int, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows of the result of a statement on a table of these columns, in DuckDB."""
    require("duckdb")
    import duckdb
    import pyarrow as pa

    numbered = {ROW: range(n_rows), **columns}
    table = pa.table({name: pa.array(list(values), from_pandas=False) for name, values in numbered.items()})
    with duckdb.connect() as connection:
        connection.register(TABLE, table)
        found = connection.execute(statement)
        return [str(each[0]) for each in found.description], found.fetchall()


def run_sqlite(columns: Values, n_rows: int, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The same in SQLite, which has no NaN, booleans or dates."""
    numbered = {ROW: list(range(n_rows)), **columns}
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
