"""Division of tables into chunks of a fixed number of rows, and positions of rows."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from hiperplano.errors import InvalidFile
from hiperplano.messages import Message
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.batches.table import RowsByColumn

Chunk: TypeAlias = pa.Table | RowsByColumn


class Piece(NamedTuple):
    """Number of rows of a chunk, and its row groups; empty if it is a part of one."""

    size: int
    groups: range


@dataclass(frozen=True)
class Walk:
    """The rows of several tables, in chunks that never hold rows of two of them.

    If a table has row groups, chunks end where groups end, so that no group is decoded twice: a chunk is one group,
    several small ones, or a part of a large one.

    Attributes
    ----------
    tables : sequence of BatchedTable
    states : sequence of str
        States of the tables when they were first read; a pass over a changed table is an error.
    rows : int
        Rows of each partial chunk, except the last of a table or group; and most rows of several groups together.
    whole : int
        Most rows of a row group that forms one chunk.
    """

    tables: Sequence[BatchedTable]
    states: Sequence[str]
    rows: int
    whole: int = 0

    @classmethod
    def over(cls, tables: Sequence[BatchedTable], rows: int, whole: int = 0) -> Walk:
        """Start from the current state of the tables."""
        return cls(tables, [table.state for table in tables], rows, max(rows, whole))

    def chunks(self, number: int, columns: Sequence[str], skip: int = 0, parallel: bool = True) -> Generator[Chunk]:
        """The chunks of a table from row `skip` on, which begins a chunk; each is valid until the next is requested.

        Parameters
        ----------
        parallel : bool
            Whether columns may be decoded in several threads; otherwise they are decoded on use.
        """
        self.refuse_changed(number)
        table, plan = self.tables[number], self.plan(number)
        begun = 0 if plan is None else _chunks_before(skip, plan)
        if plan is not None and not parallel and self.by_groups(number):
            yield from table.rows_of_groups(columns, (piece.groups for piece in islice(plan, begun, None)))
        else:
            sizes = chain((piece.size for piece in islice(plan or (), begun, None)), repeat(self.rows))
            yield from _in_sizes(table.batches(columns, self.rows, skip, parallel), sizes)
        self.refuse_changed(number)

    def plan(self, number: int) -> list[Piece] | None:
        """The chunks of a table; None if the number of rows is known only after reading."""
        groups = self.tables[number].groups()
        return None if groups is None else planned(groups, self.rows, self.whole)

    def by_groups(self, number: int) -> bool:
        """Whether all chunks of a table are whole row groups."""
        plan = self.plan(number)
        return plan is not None and all(piece.groups for piece in plan)

    def sizes(self, number: int, n_rows: int) -> list[int]:
        """Sizes of the chunks of a table with a given number of rows."""
        plan = self.plan(number)
        return _cut(n_rows, self.rows) if plan is None else [piece.size for piece in plan]

    def refuse_changed(self, number: int) -> None:
        """Raise an error if a table has changed since it was first read."""
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
    """A row of a table, counted from 0, for messages, which count from 1."""
    name = Path(table.name).name if "/" in table.name else table.name
    return Message("{row} of {file}", row=row + 1, file=name)


def planned(groups: Sequence[int], rows: int, whole: int) -> list[Piece]:
    """Chunks of a table with these row groups, as described in `Walk`."""
    found: list[Piece] = []
    for number, size in enumerate(groups):
        last = found[-1] if found else Piece(rows, range(0))
        if size > whole:
            found += [Piece(part, range(0)) for part in _cut(size, rows)]
        elif last.groups and last.size + size <= rows:
            found[-1] = Piece(last.size + size, range(last.groups.start, number + 1))
        elif size:
            found.append(Piece(size, range(number, number + 1)))
    return found


def _cut(n_rows: int, rows: int) -> list[int]:
    return [min(rows, n_rows - first) for first in range(0, n_rows, rows)]


def _chunks_before(row: int, plan: Sequence[Piece]) -> int:
    """Number of chunks that end before a row, which begins one."""
    return int(np.searchsorted(np.cumsum([piece.size for piece in plan]), row, side="right"))


def _in_sizes(batches: Iterable[pa.RecordBatch], sizes: Iterator[int]) -> Iterator[pa.Table]:
    """The rows of batches as tables of these sizes; the last one may be shorter."""
    waiting: list[pa.RecordBatch] = []
    count, size = 0, next(sizes)
    for batch in batches:
        while count + batch.num_rows >= size:
            first = size - count
            yield pa.Table.from_batches([*waiting, batch.slice(0, first)])
            waiting, count, batch, size = [], 0, batch.slice(first), next(sizes)
        if batch.num_rows:
            waiting.append(batch)
            count += batch.num_rows
    if count:
        yield pa.Table.from_batches(waiting)


def power_of_two(rows: float, low: int, high: int) -> int:
    """The largest power of two up to `rows`, within bounds, so that chunks can be divided into equal smaller ones."""
    return int(min(high, max(low, 2 ** int(np.log2(max(rows, 1))))))
