"""A table that is read in batches, repeatedly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from hiperplano.errors import InvalidFile
from hiperplano.messages import Message
from hiperplano.tables.reading import ReadErrors, no_such_column


@dataclass(frozen=True)
class RowsByColumn:
    """Rows whose columns are decoded on demand, used instead of a `pyarrow.Table`.

    One column at a time stays in the cache until it has been used; all at once would go to memory and back.
    """

    num_rows: int
    column_names: Sequence[str]
    column: Callable[[str], pa.ChunkedArray]


class BatchedTable(ABC):
    """Rows in batches, from one file or from a function.

    Attributes
    ----------
    name : str
        For messages.
    """

    name: str
    by_column: ClassVar[bool] = False
    """Whether some columns can be read without the cost of the others."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    @abstractmethod
    def batches(
        self, columns: Sequence[str], rows: int, skip: int = 0, parallel: bool = True
    ) -> Iterator[pa.RecordBatch]:
        """The rows from number `skip` on, at most `rows` at a time, with these columns in this order.

        Parameters
        ----------
        parallel : bool
            Whether columns may be decoded in several threads.
        """

    def odd_cell(self, column: str, kind: pa.DataType) -> Message | None:
        """Message about the first cell of another kind than in other tables, for text cells."""
        return None

    def groups(self) -> Sequence[int] | None:
        """Sizes of the parts that can be read separately, column by column; None if there are none."""
        return None

    def rows_of_groups(self, columns: Sequence[str], spans: Iterable[range]) -> Iterator[RowsByColumn]:
        """The rows of such parts, some neighbours at a time; valid until the next are requested.

        Only for tables with `groups`.
        """
        raise NotImplementedError

    def is_complete(self, columns: Sequence[str]) -> bool:
        """Whether it is known, before they are read, that no cell of these columns is empty.

        (NaN is a number here.)
        """
        return False

    @property
    @abstractmethod
    def state(self) -> str:
        """Changes when the rows change, as far as that can be detected without reading them."""

    def has(self, columns: Sequence[str]) -> None:
        """Raise an error for the first missing column."""
        there = self.schema().names
        for name in columns:
            if name not in there:
                raise InvalidFile(no_such_column(Path(self.name), name, there))


@dataclass(frozen=True)
class TableFile(BatchedTable):
    """A file.

    Attributes
    ----------
    partition : mapping of str to value
        Columns with one value for the whole file, from the names of its folders.
    filesystem : pyarrow FileSystem
    """

    name: str
    filesystem: Any = field(repr=False)
    partition: dict[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> str:
        info = self.filesystem.get_file_info(self.name)
        return f"{info.size} {info.mtime_ns}"

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """The open file; errors while reading name the file."""
        with ReadErrors(Path(self.name)), self.filesystem.open_input_file(self.name) as stream:
            yield stream

    def schema(self) -> pa.Schema:
        found = self._own_schema()
        for name, value in self.partition.items():
            if name not in found.names:
                found = found.append(pa.field(name, pa.scalar(value).type))
        return found

    @abstractmethod
    def _own_schema(self) -> pa.Schema:
        """Schema of the columns in the file."""

    def batches(
        self, columns: Sequence[str], rows: int, skip: int = 0, parallel: bool = True
    ) -> Iterator[pa.RecordBatch]:
        schema = self._own_schema()
        own = [name for name in columns if name in schema.names]
        for batch in self._own_batches(own, rows, skip, parallel):
            yield self._with_partition(batch, columns)

    @abstractmethod
    def _own_batches(self, columns: list[str], rows: int, skip: int, parallel: bool) -> Iterator[pa.RecordBatch]:
        """Batches of the columns in the file."""

    def _with_partition(self, batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
        if list(columns) == batch.schema.names:
            return batch
        arrays = [
            batch.column(name)
            if name in batch.schema.names
            else pa.repeat(pa.scalar(self.partition[name]), batch.num_rows)
            for name in columns
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))


@dataclass(frozen=True)
class GivenBatches(BatchedTable):
    """Record batches, or tables, from a function that can be called repeatedly."""

    make: Callable[[], Iterable[Any]]
    name: str = "the given batches"
    state: str = ""

    def schema(self) -> pa.Schema:
        for batch in self.make():
            return batch.schema
        raise InvalidFile(
            "{file} hold nothing, not even names of columns; a fit needs rows. Check what the function yields.",
            file=self.name,
        )

    def batches(
        self, columns: Sequence[str], rows: int, skip: int = 0, parallel: bool = True
    ) -> Iterator[pa.RecordBatch]:
        pieces = (batch for given in self.make() for batch in _cut(given, list(columns), rows, self.name))
        return from_row(pieces, skip)


def _cut(given: Any, columns: list[str], rows: int, name: str) -> Iterator[pa.RecordBatch]:
    missing = [column for column in columns if column not in given.schema.names]
    if missing:
        raise InvalidFile(no_such_column(Path(name), missing[0], given.schema.names))
    table = pa.Table.from_batches([given]) if isinstance(given, pa.RecordBatch) else given
    yield from table.select(columns).to_batches(max_chunksize=rows)


def typed_table(tables: Sequence[BatchedTable]) -> BatchedTable:
    """The first table with a type for each column, or the first of all; a text table without rows has no types."""
    return next((table for table in tables if pa.null() not in table.schema().types), tables[0])


def from_row(batches: Iterable[pa.RecordBatch], skip: int) -> Iterator[pa.RecordBatch]:
    """Batches without the first `skip` rows."""
    for batch in batches:
        if skip >= batch.num_rows:
            skip -= batch.num_rows
        else:
            yield batch.slice(skip)
            skip = 0
