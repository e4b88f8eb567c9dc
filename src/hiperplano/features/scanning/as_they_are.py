"""Uncoded columns of tables, for binning: numbers with gaps, dates, and category numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.features.binning.reading import as_numbers
from hiperplano.features.scanning.learning.tally import CategoryTally, Tally
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.reading import plain_column, to_frame


@dataclass(frozen=True)
class UncodedColumns:
    """One column of numbers for each column of the tables, with NaN for missing values.

    Attributes
    ----------
    columns : tuple of str
        Names in the tables.
    kinds : tuple of str
        "numeric", "date" (microseconds since 1970) or "categorical".
    categories : tuple of tuple or None
        For each column of texts or booleans, the values that the numbers 0, 1, 2, … stand for; one more number stands
        for any other text.
    known_only : bool
        Whether such a text is an error, because categories were counted in these rows.
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    known_only: bool
    dtype: str = "float64"

    @classmethod
    def of(cls, tallies: Sequence[Tally], schema: pa.Schema, known_only: bool) -> UncodedColumns:
        """Build from the counts of the first pass."""
        names = tuple(tally.column.name for tally in tallies)
        numeric = [_holds_numbers(schema.field(name).type) for name in names]
        kinds = [
            "categorical" if tally.column.kind in ("nominal", "ordered") else tally.column.kind for tally in tallies
        ]
        listed = [None if plain else _categories(tally, schema) for tally, plain in zip(tallies, numeric, strict=True)]
        return cls(names, tuple(kinds), tuple(listed), known_only)

    @property
    def made(self) -> Array:
        """Names of the output columns."""
        return np.array(self.columns, dtype=object)

    def __call__(self, chunk: pa.Table, out: Array, table: BatchedTable, start: int) -> Array:
        for place, (name, categories) in enumerate(zip(self.columns, self.categories, strict=True)):
            cells = chunk.column(name)
            if categories is None or pa.types.is_boolean(cells.type):
                out[:, place] = _numbers(cells, table.name, name)
            else:
                out[:, place] = self._coded(cells, name, categories, table, start)
        return out

    def _coded(self, cells: Any, name: str, categories: tuple[Any, ...], table: BatchedTable, start: int) -> Array:
        if pa.types.is_null(cells.type):
            return np.full(len(cells), np.nan)
        texts = cells.cast(pa.string())
        found = pc.index_in(texts, pa.array(categories, pa.string())).to_numpy().astype(np.float64)
        other = np.isnan(found) & texts.is_valid().to_numpy()
        if other.any() and self.known_only:
            row = int(np.flatnonzero(other)[0])
            raise InvalidData(
                "Column {column!r} holds {value!r} (row {row} of {file}), which was not there in the first pass; "
                "every pass must see the same rows. Scan them again when nothing writes to them.",
                column=name,
                value=texts[row].as_py(),
                row=start + row + 1,
                file=table.name,
            )
        found[other] = len(categories)
        return np.asarray(found)


def _holds_numbers(kind: pa.DataType) -> bool:
    """Whether cells are numbers or dates."""
    if pa.types.is_dictionary(kind):
        return _holds_numbers(kind.value_type)
    return not (
        pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind)
    )


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind))


def _categories(tally: Tally, schema: pa.Schema) -> tuple[Any, ...]:
    """Texts in ascending order, like the categories of a column in memory."""
    if pa.types.is_boolean(schema.field(tally.column.name).type):
        return False, True
    return tuple(sorted(tally.counts)) if isinstance(tally, CategoryTally) else tuple(sorted(tally.column.order))


def _numbers(cells: Any, file: str, name: str) -> Array:
    """Numbers, booleans as 0 and 1, dates as microseconds."""
    if pa.types.is_boolean(cells.type):
        cells = cells.cast(pa.int8())
    plain = plain_column(file, name, cells)
    return as_numbers(to_frame(pa.table({name: plain}))[name], name)
