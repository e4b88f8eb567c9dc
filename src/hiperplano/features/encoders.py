"""Encoders of single columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.features.columns import Column, column_of
from hiperplano.messages import Message

RARE = "…"
"""Represents the categories that are too rare for their own column."""
_FEWEST, _SHARE, _MOST = 30, 0.01, 50


@dataclass(frozen=True)
class NumericEncoder:
    """A numeric column, a date (in days since 1970) or an ordered column (as 0, 1, 2, …).

    Attributes
    ----------
    fill : float
        Value for missing cells: the median.
    marked : bool
        Whether an additional column indicates missing cells.
    low, high : float
        The range of the values.
    """

    column: Column
    fill: float
    marked: bool
    low: float = -np.inf
    high: float = np.inf

    @classmethod
    def of(cls, column: Column, series: Any) -> NumericEncoder:
        """Learn the median, and whether missing values are frequent enough for an indicator.

        An indicator of a handful of rows would only single these out.
        """
        values = numbers(series, column)
        gaps = np.isnan(values)
        n_gaps = int(np.count_nonzero(gaps))
        known = values[~gaps] if n_gaps else values
        if not len(known):
            return cls.from_summary(column, len(values), n_gaps)
        middle, low, high = float(np.median(known)), float(known.min()), float(known.max())
        return cls.from_summary(column, len(values), n_gaps, middle, low, high)

    @classmethod
    def from_summary(
        cls, column: Column, n_rows: int, n_gaps: int, median: float = 0.0, low: float = -np.inf, high: float = np.inf
    ) -> NumericEncoder:
        """The same from statistics of all rows, wherever they are."""
        return cls(column, median, n_gaps >= _min_count(n_rows), low, high)

    @property
    def known(self) -> tuple[str, ...]:
        """The categories of an ordered column."""
        return self.column.order

    def values(self, series: Any) -> Array:
        """The numbers, with NaN for no value."""
        return numbers(series, self.column)

    def categories(self, series: Any) -> tuple[Array, list[str]]:
        """The label number of each cell, −1 for missing ones, and the labels."""
        return factorise(series, self.column)

    @property
    def names(self) -> list[str]:
        """Names of the output columns; some are messages."""
        name = self.column.name
        own = Message("{name} (days)", name=name) if self.column.kind == "date" else name
        return [own, Message("{name} missing", name=name)] if self.marked else [own]

    def write(self, series: Any, made: Array) -> None:
        """Write the numbers into the first column, and the indicator of missing cells into the second.

        Parameters
        ----------
        made : ndarray of shape (n, columns made)
            Filled.
        """
        values = numbers(series, self.column)
        made[:, 0] = values
        if self.marked or np.isnan(values.sum()):
            gaps = np.isnan(values)
            made[gaps, 0] = self.fill
            made[:, 1:] = gaps[:, None]


@dataclass(frozen=True)
class CategoricalEncoder:
    """A nominal column: a column of 0 and 1 for each frequent category.

    Zeros in all of them stand for a missing value; for the most frequent category if (almost) every row has a value,
    since columns for all categories and the intercept would be linearly dependent; and for a category that was not seen
    before, unless rare ones were pooled. A column with only rare categories gets no output column.

    Attributes
    ----------
    kept : tuple of str
        The categories with a column.
    reference : str or None
        The most frequent category, if it has no column.
    known : tuple of str
        All categories of the fit.
    """

    column: Column
    kept: tuple[str, ...]
    reference: str | None
    known: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Column, series: Any) -> CategoricalEncoder:
        """Learn which categories get a column: at most 50, each in at least 1% of the rows and in 30 rows."""
        codes, labels = factorise(series, column)
        counts = np.bincount(np.asarray(codes, dtype=np.int64) + 1, minlength=len(labels) + 1)
        return cls.from_counts(column, labels, counts[1:], int(counts[0]))

    @classmethod
    def from_counts(cls, column: Column, labels: list[str], counts: Array, gaps: int) -> CategoricalEncoder:
        """The same from the number of rows with each label, and without one."""
        known = tuple(label for label, seen in zip(labels, (counts > 0).tolist(), strict=True) if seen)
        return cls(column, *_frequent_categories(counts, gaps, labels), known)

    def categories(self, series: Any) -> tuple[Array, list[str]]:
        """The label number of each cell, −1 for missing ones, and the labels."""
        return factorise(series, self.column)

    @property
    def names(self) -> list[str]:
        """Names of the output columns; some are messages."""
        name = self.column.name
        return [Message("{name} = (other)", name=name) if label == RARE else f"{name} = {label}" for label in self.kept]

    def write(self, series: Any, made: Array) -> None:
        """Write a one where a row has the category of the column.

        Parameters
        ----------
        made : ndarray of shape (n, columns made)
            Filled.
        """
        place = {label: number for number, label in enumerate(self.kept)} | {self.reference: -1}
        codes, labels = factorise(series, self.column)
        lookup = np.array([*(place.get(label, place.get(RARE, -1)) for label in labels), -1], dtype=np.int8)
        found = lookup[codes]
        for number in range(len(self.kept)):
            np.equal(found, number, out=made[:, number], casting="unsafe")


def pack_encoders(encoders: Sequence[NumericEncoder | CategoricalEncoder]) -> str:
    """Encoders as one text."""
    return json.dumps([[isinstance(each, NumericEncoder), asdict(each)] for each in encoders])


def unpack_encoders(text: str) -> list[NumericEncoder | CategoricalEncoder]:
    """The inverse of `pack_encoders`."""

    def encoder(numeric: bool, fields: dict[str, Any]) -> NumericEncoder | CategoricalEncoder:
        column = column_of(fields["column"])
        if numeric:
            return NumericEncoder(**fields | {"column": column})
        return CategoricalEncoder(column, tuple(fields["kept"]), fields["reference"], tuple(fields["known"]))

    return [encoder(*each) for each in json.loads(text)]


def numbers(series: Any, column: Column) -> Array:
    """The numbers of a column, with NaN for missing values, of shape (n,)."""
    kind = getattr(series.dtype, "kind", "O")
    if column.kind == "ordered":
        codes, labels = factorise(series, column)
        place = {label: float(number) for number, label in enumerate(column.order)}
        return np.array([*(place.get(label, np.nan) for label in labels), np.nan])[codes]
    if kind not in "iufb" and column.kind != "ordered" and series.isna().all():
        return np.full(len(series), np.nan)
    if column.kind == "date":
        if kind != "M":
            raise InvalidData(_type_error_message(series, column, Message("dates")))
        days = series.to_numpy(dtype="datetime64[us]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64) / 86_400e6)
    if kind not in "iufb":
        raise InvalidData(_type_error_message(series, column, Message("numbers")))
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    empty = [code for code in column.codes if not isinstance(code, str)]
    return np.where(np.isin(values, empty), np.nan, values) if empty else values


def _type_error_message(series: Any, column: Column, expected: Message) -> Message:
    row = int(np.flatnonzero(_not_numbers(series))[0])
    return Message(
        "column {name!r} holds {value!r} (row {row}); the model knows {expected} in it. Correct the file, or fit the "
        "model again.",
        name=column.name,
        value=series.iloc[row : row + 1].tolist()[0],
        row=row + 1,
        expected=expected,
    )


def _not_numbers(series: Any) -> Array:
    """Text cells that are not numbers; the first nonempty cell if all are."""
    import pandas as pd

    there = series.notna().to_numpy()
    text = series.astype(object).where(there, None)
    odd = there & pd.to_numeric(text, errors="coerce").isna().to_numpy()
    return np.asarray(odd if odd.any() else there)


def factorise(series: Any, column: Column) -> tuple[Array, list[str]]:
    """The label number of each cell, −1 for missing ones, and the labels."""
    import pandas as pd

    if not isinstance(series.dtype, pd.CategoricalDtype):
        codes, values = pd.factorize(series)
    else:
        codes, values = series.cat.codes.to_numpy(), series.cat.categories
    labels = [label_of(value) for value in values.tolist()]
    empty = [k for k, label in enumerate(labels) if label in {label_of(code) for code in column.codes}]
    return (np.where(np.isin(codes, empty), -1, codes) if empty else codes), labels


def label_of(value: Any) -> str:
    """Label of a value. Integers look the same whether or not the column has gaps (and so is float); so do booleans."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()  # as in files
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _min_count(n_rows: int) -> float:
    """Least number of rows of a category with its own column; a model would memorise the classes of fewer rows."""
    return max(1, min(_FEWEST, n_rows // 20), _SHARE * n_rows)


def _frequent_categories(counts: Array, gaps: int, labels: list[str]) -> tuple[tuple[str, ...], str | None]:
    """The categories that get a column, in their order, and the reference category, if any."""
    by_count = np.argsort(-counts, kind="stable")[:_MOST]
    enough = _min_count(int(counts.sum()) + gaps)
    kept = [number for number in by_count.tolist() if counts[number] >= enough]
    pooled = [number for number in range(len(labels)) if counts[number] and number not in set(kept)]
    if len(pooled) == 1 and len(kept) < _MOST:
        kept, pooled = [*kept, *pooled], []
    if gaps < enough and not kept:
        return (), None  # one column for all rows would duplicate the intercept
    reference = None if gaps >= enough else labels[kept[0]]
    names = [labels[number] for number in sorted(kept, key=lambda number: labels[number])]
    own = tuple(name for name in names if name != reference)
    return (*own, RARE) if pooled else own, reference
