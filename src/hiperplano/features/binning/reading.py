"""A column of any table, as numbers or as numbered categories."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.messages import Message

KINDS = ("numeric", "date", "categorical")
_DATE_KINDS = "M"
_NUMBER_KINDS = "iuf"


def one_column(X: Any) -> Any:
    """The only column of a table; anything else unchanged."""
    names = getattr(X, "columns", None)
    if names is None or len(names) != 1:
        return X
    return X.iloc[:, 0] if hasattr(X, "iloc") else X[names[0]]


def column_kind(column: Any) -> str:
    """ "numeric", "date" or "categorical": by the type of the column, or of the values of a column of objects."""
    if _is_text(column):
        return "categorical"
    values = as_array(column)
    if values.dtype.kind in _NUMBER_KINDS:
        return "numeric"
    if values.dtype.kind in _DATE_KINDS:
        return "date"
    if values.dtype.kind != "O" or str in set(map(type, values.tolist())):
        return "categorical"
    there = [value for value in values.tolist() if not is_missing(value)]
    if all(_is_number(value) for value in there):
        return "numeric"
    return "date" if all(isinstance(value, date | np.datetime64) for value in there) else "categorical"


def as_array(column: Any) -> Array:
    """A vector: numbers with NaN and dates with NaT for missing values; anything else unchanged."""
    if hasattr(column, "columns") or hasattr(column, "tocsr"):
        raise InvalidData(
            "a column is needed, and this is a {kind} of shape {shape}. Pass one column of it (dense, if it is "
            "sparse), or give the table to WoEEncoder.",
            kind=type(column).__name__,
            shape=column.shape,
        )
    library = _library(column)
    if library == "pandas":
        values = _from_pandas(column)
    elif library == "polars":
        values = _from_polars(column)
    elif library == "pyarrow":
        values = _from_pandas(column.to_pandas())
    elif isinstance(column, np.ma.MaskedArray):
        values = np.asarray(column.data)
        if np.ma.getmaskarray(column).any():
            values = values.astype(object)
            values[np.ma.getmaskarray(column)] = None
    else:
        values = np.asarray(column)
        # NumPy converts a list of numbers and text to text.
        if values.dtype.kind in "US" and not hasattr(column, "dtype"):
            values = np.array(column, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.kind in "mc":
        raise InvalidData(
            "a column holds {kind}; bins are of numbers, dates or categories. Convert it: durations to a number of "
            "days, complex numbers to real ones.",
            kind=Message("durations") if values.dtype.kind == "m" else Message("complex numbers"),
        )
    if values.ndim != 1:
        raise InvalidData(
            "a column has shape {shape}; one value for each row is needed. Pass one column at a time.",
            shape=values.shape,
        )
    return values


def as_numbers(column: Any, name: Any = None) -> Array:
    """float64 or float32, with NaN for missing values.

    Parameters
    ----------
    column : array or column of a table
        Column of numbers, or of dates, which become microseconds since 1970.
    name : str, optional
        For messages.
    """
    values = as_array(column)
    kind = values.dtype.kind
    if kind == "f":
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    if kind in "iub":
        return values.astype(np.float64)
    if kind in _DATE_KINDS:
        gaps = np.isnat(values)
        return np.where(gaps, np.nan, values.astype("datetime64[us]").astype(np.int64))
    cells = values.tolist()
    try:
        return np.array([_number(value) for value in cells], dtype=np.float64)
    except TypeError:
        raise _no_number(cells, name) from None


def factorise(column: Any) -> tuple[Array, list[Any]]:
    """The category number of each row, −1 for missing values, and the categories as plain Python values.

    Categories are equal as Python values are: 1, 1.0 and True are one, "1" is another.
    """
    if _library(column) == "pandas":
        return _factorise_pandas(column)
    if _library(column) == "polars":
        return _factorise_polars(column)
    values = as_array(column)
    if values.dtype.kind == "O":
        place: dict[Any, int] = {}
        listed = values.tolist()
        try:
            numbers = [-1 if is_missing(value) else place.setdefault(value, len(place)) for value in listed]
        except TypeError as problem:
            raise InvalidData(
                "a column holds values that are no categories ({problem}). Convert them, for example to text.",
                problem=problem,
            ) from problem
        return np.array(numbers, dtype=np.intp), list(place)
    found, codes = np.unique(values, return_inverse=True)
    return _without_missing(codes.reshape(-1), found.tolist())


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas's NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, Real | Decimal) and bool(value != value)


def _library(column: Any) -> str:
    return type(column).__module__.partition(".")[0]


def _is_text(column: Any) -> bool:
    """Whether the type of a pandas or polars column is text or categorical."""
    return str(getattr(column, "dtype", "")) in ("category", "str", "string", "String", "Categorical", "Enum")


def _from_pandas(series: Any) -> Array:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return np.asarray(series.astype(object))
    if pd.api.types.is_bool_dtype(dtype):
        return np.asarray(series.astype(object)) if series.isna().any() else np.asarray(series, dtype=bool)
    if pd.api.types.is_numeric_dtype(dtype):
        single = dtype == np.float32
        return np.asarray(series.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return np.asarray(series.to_numpy(dtype="datetime64[us]"))
    return np.asarray(series.to_numpy())


def _from_polars(series: Any) -> Array:
    import polars as pl

    if series.dtype.is_decimal() or series.dtype == pl.Null:
        series = series.cast(pl.Float64)
    if series.dtype in (pl.Categorical, pl.Enum, pl.String):
        return np.array(series.cast(pl.String).to_list() or [], dtype=object)
    if series.dtype == pl.Boolean and series.null_count():
        return np.array(series.to_list(), dtype=object)
    return np.asarray(series.to_numpy())


def _factorise_pandas(series: Any) -> tuple[Array, list[Any]]:
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.codes.to_numpy().astype(np.intp), series.cat.categories.tolist()
    codes, values = pd.factorize(series)
    return codes.astype(np.intp), [_plain(value) for value in values.tolist()]


def _factorise_polars(series: Any) -> tuple[Array, list[Any]]:
    import polars as pl

    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    distinct = series.drop_nulls().unique(maintain_order=True)
    places = pl.Series(range(len(distinct)), dtype=pl.Int64)
    codes = series.replace_strict(distinct, places, default=-1, return_dtype=pl.Int64) if len(distinct) else None
    found = np.full(len(series), -1) if codes is None else codes.to_numpy()
    return _without_missing(found.astype(np.intp), distinct.to_list())


def _without_missing(codes: Array, values: list[Any]) -> tuple[Array, list[Any]]:
    """Remove NaN and NaT, which some libraries number like values."""
    if not any(is_missing(value) for value in values):
        return codes, values
    kept = [value for value in values if not is_missing(value)]
    places = iter(range(len(kept)))
    renumbered = np.array([-1 if is_missing(value) else next(places) for value in values] + [-1])
    return renumbered[codes], kept


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_)


def _number(value: Any) -> float:
    """One cell of a column of objects as a number; text raises an error that `as_numbers` explains."""
    if is_missing(value):
        return np.nan
    if isinstance(value, Real | Decimal):
        return float(value)
    if isinstance(value, date | np.datetime64):
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return float(np.datetime64(value, "us").astype(np.int64))
    raise TypeError


def _no_number(cells: list[Any], name: Any) -> InvalidData:
    """An error that names the invalid cell: one text turns a whole column of a file into text."""
    texts = [row for row, value in enumerate(cells) if not isinstance(value, Real | Decimal) and not is_missing(value)]
    row = next((row for row in texts if not _reads_as_number(cells[row])), texts[0])
    return InvalidData(
        "{column} holds {value!r} (row {row}, counted from 1), and its bins are of numbers or dates. Correct the "
        "value, convert texts (pandas.to_datetime makes dates of them), leave it empty where it is not known, or make "
        "a new fit that takes the column as categories.",
        column=Message("the column") if name is None else Message("column {name!r}", name=name),
        value=cells[row],
        row=row + 1,
    )


def _reads_as_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return isinstance(cell, date | np.datetime64)
    return True
