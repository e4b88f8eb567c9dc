"""Cells of one column of a chunk as numbers, and the kind of a column type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.features.columns import Column
from hiperplano.features.encoders import numbers
from hiperplano.messages import Message
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.reading import plain_column, to_frame


def kind_of_type(kind: pa.DataType) -> str:
    """The kind of a column by its type: "numeric", "date" or "nominal"; "" if all cells are empty."""
    if pa.types.is_dictionary(kind):
        return kind_of_type(kind.value_type)
    if pa.types.is_null(kind):
        return ""
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_time, pa.types.is_duration)
    return "numeric" if any(test(kind) for test in number) else "nominal"


def is_plain(kind: pa.DataType) -> bool:
    """Whether cells are of a number type of NumPy."""
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


def series_of(table: pa.Table, column: Column, name: str) -> Any:
    """A column as a pandas series, normalised like tables in memory."""
    plain = plain_column(name, column.name, table.column(column.name))
    return to_frame(pa.table({column.name: plain}))[column.name]


def numbers_of(table: pa.Table, column: Column, name: str) -> Array:
    """The numbers of a column of a chunk, with NaN for missing ones; `name` of the table is for messages."""
    cells = table.column(column.name)
    if is_plain(cells.type) and not column.codes and column.kind == "numeric":
        return np.asarray(cells.to_numpy())
    return numbers(series_of(table, column, name), column)


def refuse_nonfinite(
    values: Array, table: pa.Table, column: Column, where: BatchedTable, start: int, nan_is_missing: bool
) -> None:
    """Raise an error, with the file and the row, for infinity, and for NaN that is not a missing value."""
    bad = np.isinf(values)
    if not nan_is_missing:
        there = table.column(column.name).is_valid().to_numpy()
        bad |= np.isnan(values) & there & (not column.codes)
    if not bad.any():
        return
    first = int(np.flatnonzero(bad)[0])
    raise nonfinite(column.name, bool(np.isinf(values[first])), start + first, where)


def nonfinite(column: str, infinite: bool, row: int, where: BatchedTable) -> InvalidData:
    """The error for infinity or NaN in a row, counted from 0, of a table."""
    return InvalidData(
        "Column {column!r} holds {kind} (row {row} of {file}); every number must be finite. {remedy}",
        column=column,
        kind=Message("infinity") if infinite else Message("NaN"),
        row=row + 1,
        file=where.name,
        remedy=Message("Correct or drop that row.")
        if infinite
        else Message("Write missing values as nulls, or call scan with nan='missing', and they are filled."),
    )
