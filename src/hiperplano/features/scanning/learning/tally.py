"""Statistics of each column from the first pass: gaps, range and categories."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.errors import InvalidData
from hiperplano.features.columns import Column
from hiperplano.features.encoders import CategoricalEncoder, NumericEncoder, label_of
from hiperplano.features.scanning.cells import numbers_of, refuse_nonfinite
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.reading import plain_column

_MOST_LABELS = 100_000  # distinct texts above which a column is not a category, and counting them takes too much memory


@dataclass
class NumberTally:
    """Statistics of a column of numbers, dates or ordered categories.

    Attributes
    ----------
    n_rows, n_gaps : int
        Number of cells, and of missing ones.
    low, high : float
        The range of the values.
    single : bool
        Whether all numbers are float32.
    median : float or None
        None while unknown.
    """

    column: Column
    nan_is_missing: bool
    n_rows: int = 0
    n_gaps: int = 0
    low: float = np.inf
    high: float = -np.inf
    single: bool = True
    median: float | None = None

    def add(self, table: pa.Table, where: BatchedTable, start: int) -> None:
        """Add a chunk, which begins at a row of a table."""
        values = numbers_of(table, self.column, where.name)
        self.n_rows += len(values)
        self.single &= values.dtype == np.float32
        if not len(values):
            return
        low, high = float(values.min()), float(values.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            refuse_nonfinite(values, table, self.column, where, start, self.nan_is_missing)
            gaps = np.isnan(values)
            self.n_gaps += int(np.count_nonzero(gaps))
            if gaps.all():
                return
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
        self.low, self.high = min(self.low, low), max(self.high, high)

    def merge(self, other: NumberTally, where: BatchedTable, row: int) -> None:
        """Merge the statistics of the next chunk."""
        self.n_rows += other.n_rows
        self.n_gaps += other.n_gaps
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.single &= other.single

    @property
    def needs_median(self) -> bool:
        """Whether there are gaps to fill, and numbers to compute a median from."""
        return self.n_gaps > 0 and self.has_values and self.median is None

    @property
    def has_values(self) -> bool:
        return self.n_gaps < self.n_rows

    def encoder(self) -> NumericEncoder:
        """The encoder of the column; 0 stands for a median that is not needed."""
        if not self.has_values:
            return NumericEncoder.from_summary(self.column, self.n_rows, self.n_gaps)
        return NumericEncoder.from_summary(
            self.column, self.n_rows, self.n_gaps, self.median or 0.0, self.low, self.high
        )


@dataclass
class CategoryTally:
    """Statistics of a nominal column: the number of rows with each label, in the order of first occurrence."""

    column: Column
    counts: dict[str, int] = field(default_factory=dict)
    n_gaps: int = 0

    def add(self, table: pa.Table, where: BatchedTable, start: int) -> None:
        """Add a chunk."""
        cells = plain_column(where.name, self.column.name, table.column(self.column.name))
        empty = {label_of(code) for code in self.column.codes}
        found = pc.value_counts(cells)
        for value, count in zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True):
            label = None if value is None or value != value else label_of(value)
            if label is None or label in empty:
                self.n_gaps += count
            else:
                self.counts[label] = self.counts.get(label, 0) + count

    def merge(self, other: CategoryTally, where: BatchedTable, row: int) -> None:
        """Merge the statistics of the next chunk, which ends before a row of a table."""
        self.n_gaps += other.n_gaps
        for label, count in other.counts.items():
            self.counts[label] = self.counts.get(label, 0) + count
        if len(self.counts) > _MOST_LABELS:
            raise InvalidData(
                "Column {column!r} holds more than {most:,} different texts (row {row} of {file}): it tells rows apart "
                "and is no category. Leave it out with columns=[…].",
                column=self.column.name,
                most=_MOST_LABELS,
                row=row,
                file=where.name,
            )

    def encoder(self) -> CategoricalEncoder:
        """The encoder of the column."""
        counts = np.array(list(self.counts.values()), dtype=np.int64)
        return CategoricalEncoder.from_counts(self.column, list(self.counts), counts, self.n_gaps)


Tally = NumberTally | CategoryTally


def tally_of(column: Column, nan_is_missing: bool) -> Tally:
    """Empty statistics for a column."""
    return CategoryTally(column) if column.kind == "nominal" else NumberTally(column, nan_is_missing)
