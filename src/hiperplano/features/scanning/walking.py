"""Tables → chunks of a fixed number of rows, and where each row lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from hiperplano.errors import InvalidFile
from hiperplano.messages import Message
from hiperplano.tables.batches import BatchedTable


@dataclass(frozen=True)
class Walk:
    """The rows of several tables, in chunks that never hold rows of two of them.

    Attributes
    ----------
    tables : sequence of BatchedTable
    states : sequence of str
        Of the tables when they were first seen: a pass over one that has changed since is refused.
    rows : int
        Of each chunk but the last of a table.
    """

    tables: Sequence[BatchedTable]
    states: Sequence[str]
    rows: int

    @classmethod
    def over(cls, tables: Sequence[BatchedTable], rows: int) -> Walk:
        """From now on."""
        return cls(tables, [table.state for table in tables], rows)

    def chunks(self, number: int, columns: Sequence[str], skip: int = 0, parallel: bool = True) -> Iterator[pa.Table]:
        """The chunks of a table, from the row `skip` on, which begins one."""
        self._refuse_changed(number)
        waiting: list[pa.RecordBatch] = []
        count = 0
        for batch in self.tables[number].batches(columns, self.rows, skip, parallel):
            while count + batch.num_rows >= self.rows:
                first = self.rows - count
                yield pa.Table.from_batches([*waiting, batch.slice(0, first)])
                waiting, count, batch = [], 0, batch.slice(first)
            if batch.num_rows:
                waiting.append(batch)
                count += batch.num_rows
        if count:
            yield pa.Table.from_batches(waiting)
        self._refuse_changed(number)

    def _refuse_changed(self, number: int) -> None:
        table = self.tables[number]
        if table.state != self.states[number]:
            raise InvalidFile(
                "{file} changed while it was read again (its size or its time is another); every pass must see the "
                "same rows. Scan it again when nothing writes to it.",
                file=table.name,
            )


@dataclass(frozen=True)
class Place:
    """A chunk: the number of its table, and its first row there."""

    table: int
    start: int


def row_of(table: BatchedTable, row: int) -> Message:
    """A row of a table, from 0 on, for messages, which count from 1."""
    name = Path(table.name).name if "/" in table.name else table.name
    return Message("{row} of {file}", row=row + 1, file=name)


def cut(sizes: Sequence[int], places: Sequence[Place], rows: int) -> tuple[list[int], list[Place]]:
    """Sizes and places of chunks that are cut into pieces of at most `rows` rows."""
    pieces = [
        (min(rows, size - first), Place(place.table, place.start + first))
        for size, place in zip(sizes, places, strict=True)
        for first in range(0, size, rows)
    ]
    return [size for size, _place in pieces], [place for _size, place in pieces]


def power_of_two(rows: float, low: int, high: int) -> int:
    """The largest power of two up to `rows`, within bounds: such chunks can be cut into smaller ones of one size."""
    return int(min(high, max(low, 2 ** int(np.log2(max(rows, 1))))))
