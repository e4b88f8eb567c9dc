"""The columns of a table of any type: pandas, polars, NumPy or SciPy sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData

_BLOCK = 2**14  # rows of a NumPy array processed together


@dataclass(frozen=True)
class Column:
    """One column: numbers with NaN for missing ones, or category numbers with −1 for missing ones.

    Attributes
    ----------
    labels : list of str
        Labels of the categories, by code.
    dates : bool
        Whether the numbers are nanoseconds since 1970.
    """

    name: str
    numbers: Array | None
    codes: Array | None = None
    labels: tuple[str, ...] = ()
    dates: bool = False

    @property
    def missing(self) -> int:
        missing_share = np.isnan(self.numbers) if self.numbers is not None else np.asarray(self.codes) < 0
        return int(np.count_nonzero(missing_share))


def row_count(X: Any) -> int:
    """Number of rows of a table."""
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if len(shape) != 2:
        raise InvalidData(
            "X has shape {shape}; a table of rows and columns is needed. Pass such a table.", shape=tuple(shape)
        )
    return int(shape[0])


def column_names(X: Any) -> list[str]:
    """Names of the columns; x0, x1, … by default."""
    names = getattr(X, "columns", None)
    if names is None:
        return [f"x{j}" for j in range(X.shape[1] if hasattr(X, "shape") else np.shape(X)[1])]
    return [str(name) for name in names]


def sample_rows(X: Any, most: int, seed: int = 0) -> Any:
    """A fixed random sample of at most `most` rows of a table, in their order."""
    n = row_count(X)
    if n <= most:
        return X
    rows = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    return take(X, rows)


def take(X: Any, rows: Array) -> Any:
    """Some rows of a table."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if issparse(X) or hasattr(X, "get_column") else np.asarray(X)[rows]


def read_columns(X: Any, most: int) -> list[Column]:
    """The first columns of a table, up to a limit."""
    names = column_names(X)[:most]
    if hasattr(X, "iloc"):
        return [_from_pandas(X.iloc[:, j], name) for j, name in enumerate(names)]
    if hasattr(X, "get_column"):
        return [_from_polars(X.get_column(name), name) for name in names]
    if issparse(X):
        rows = csc_array(X)
        return [Column(name, rows[:, [j]].toarray()[:, 0].astype(np.float64)) for j, name in enumerate(names)]
    rows = np.asarray(X)
    if rows.dtype.kind in "fiub":
        columns = _columns_first(rows[:, : len(names)])
        return [Column(name, columns[j]) for j, name in enumerate(names)]
    return [_from_objects(rows[:, j], name) for j, name in enumerate(names)]


def _columns_first(rows: Array) -> Array:
    """A column-major copy, with which operations on columns are several times faster."""
    columns = np.empty(rows.shape[::-1])
    for first in range(0, len(rows), _BLOCK):
        columns[:, first : first + _BLOCK] = rows[first : first + _BLOCK].T
    return columns


def _from_pandas(series: Any, name: str) -> Column:
    kind = getattr(series.dtype, "kind", "O")
    if kind in "fiub":
        return Column(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "M":
        return Column(name, _dates(series.to_numpy(dtype="datetime64[ns]")), dates=True)
    codes, labels = series.factorize(sort=False)
    return Column(name, None, np.asarray(codes), tuple(map(str, labels)))


def _from_polars(series: Any, name: str) -> Column:
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        return Column(name, series.cast(float).fill_null(np.nan).to_numpy())
    if series.dtype.is_temporal():
        return Column(name, _dates(series.to_numpy().astype("datetime64[ns]")), dates=True)
    if series.dtype.is_nested():
        return _coded(name, series.to_list())
    texts = series.cast(str)
    labels = texts.drop_nulls().unique(maintain_order=True)
    codes = texts.replace_strict(labels, range(len(labels)), default=None, return_dtype=int)
    return Column(name, None, codes.fill_null(-1).to_numpy(), tuple(labels.to_list()))


def _from_objects(values: Array, name: str) -> Column:
    try:
        return Column(name, values.astype(np.float64))
    except (TypeError, ValueError):
        return _coded(name, values.tolist())


def _coded(name: str, values: list[Any]) -> Column:
    place: dict[str, int] = {}
    codes = [-1 if _is_missing(value) else place.setdefault(str(value), len(place)) for value in values]
    return Column(name, None, np.array(codes, dtype=np.intp), tuple(place))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _dates(values: Array) -> Array:
    return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
