"""Rows of tables as numbers: the source of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, groupby
from typing import Any

import joblib
import numpy as np
import pyarrow as pa

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import worker_count
from hiperplano.data.stream.source import Source
from hiperplano.errors import InvalidData
from hiperplano.features.coding import Coding
from hiperplano.features.encoders import CategoricalEncoder, label_of
from hiperplano.features.scanning.lanes import read_side_by_side, write_numbers
from hiperplano.features.scanning.walking import Chunk, Place, Walk, row_of
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.reading import plain_column, to_frame

Code = Any
"""PlainNumbers, CodedColumns or UncodedColumns: called with a chunk and an array, fills the array."""
_DECODING = 8.0  # nanoseconds of a core to decode a number of a Parquet file; other formats take longer
_APART = 48
_MOST_KEPT = 6  # most arrays kept for reuse
# Memory of a chunk that is read column by column (itself and one column), as a share of that in other cases.
_BY_COLUMN = 0.3


class TableSource(Source):
    """Chunks of tables, coded.

    Parameters
    ----------
    walk : Walk
    sizes, places : sequence
        Size and position of each chunk.
    code : PlainNumbers, CodedColumns or UncodedColumns
        Encodes a chunk as numbers.
    seen : bool
        Whether a first pass has checked all numbers. If not, NaN and infinity are errors when they are first read.
    """

    reading_cost = _DECODING

    def __init__(
        self, walk: Walk, sizes: Sequence[int], places: Sequence[Place], code: Code, seen: bool = True
    ) -> None:
        self._walk, self._places, self._code = walk, list(places), code
        self.sizes = np.asarray(sizes, dtype=np.int64)
        self._seen = np.full(len(self.sizes), seen)
        self.names, self.dtype = code.made, np.dtype(code.dtype)
        self.n_columns = len(code.made)
        # Padding: columns at distances of a power of two would evict each other from the cache.
        self._shape = (int(self.sizes.max(initial=0)) + _APART, self.n_columns)
        self._free: list[Array] = []
        told = [table.name for table in walk.tables], list(walk.states), self.sizes, code
        self.fingerprint = blake2b(joblib.hash(told).encode(), digest_size=16).hexdigest()

    def coded_by(self, code: Code) -> TableSource:
        """The same chunks with another encoding."""
        return TableSource(self._walk, self.sizes.tolist(), self._places, code)

    def read(self, chunks: Sequence[int]) -> Iterator[Any]:
        for number, wanted in groupby(chunks, key=lambda chunk: self._places[chunk].table):
            yield from self._read_table(number, list(wanted))

    def can_begin(self, chunk: int) -> bool:
        return chunk in self.beginnings

    @cached_property
    def beginnings(self) -> frozenset[int]:
        """Chunks at which a file or a row group begins."""
        starts = [{0, *accumulate(table.groups() or ())} for table in self._walk.tables]
        return frozenset(chunk for chunk, place in enumerate(self._places) if place.start in starts[place.table])

    def bytes_in_hand(self, chunk: int) -> float:
        whole = isinstance(self._code, PlainNumbers) and self._plans[self._places[chunk].table]
        return super().bytes_in_hand(chunk) * (_BY_COLUMN if whole else 1.0)

    @cached_property
    def _plans(self) -> list[bool]:
        """For each table, whether it is read by whole row groups, column by column."""
        return [self._walk.by_groups(number) for number in range(len(self._walk.tables))]

    def _read_table(self, number: int, wanted: list[int]) -> Iterator[Any]:
        table, left = self._walk.tables[number], len(wanted)
        places = {self._places[chunk].start: chunk for chunk in wanted}
        start = self._places[wanted[0]].start
        for rows in self._coded(number, start, unseen=not self._seen[wanted].all()):
            size = len(rows)
            if start in places:
                self._refuse_other_size(places[start], size, table)
                self._seen[places[start]] = True
                yield rows
                left -= 1
                if not left:
                    return
            else:
                self.give_back(rows)
            start += size
        self._refuse_other_size(places[min(place for place in places if place >= start)], 0, table)

    def _coded(self, number: int, start: int, unseen: bool) -> Iterator[Array]:
        """The chunks of a table from a row on, encoded."""
        table, code = self._walk.tables[number], self._code
        several = worker_count() > 1
        if isinstance(code, PlainNumbers) and table.by_column and several:
            yield from read_side_by_side(self._walk, number, code.columns, start, self._array, unseen)
            return
        for chunk in self._walk.chunks(number, code.columns, start, parallel=several):
            rows = self._array(chunk.num_rows)
            if isinstance(code, PlainNumbers):
                write_numbers(chunk, code.columns, rows, table, start, unseen)
            else:
                code(chunk, rows, table, start)
            yield rows
            start += chunk.num_rows

    def _refuse_other_size(self, chunk: int, found: int, table: BatchedTable) -> None:
        if found != self.sizes[chunk]:
            raise InvalidData(
                "{file} had {expected} rows from row {row} on in the first pass, and has {found} now; every pass must "
                "see the same rows. Scan it again when nothing writes to it.",
                file=table.name,
                expected=int(self.sizes[chunk]),
                row=self._places[chunk].start + 1,
                found=found,
            )

    def _array(self, n_rows: int) -> Array:
        """An array to fill, reused if possible, since fresh memory costs as much time as filling it."""
        try:
            return self._free.pop()[:n_rows]
        except IndexError:
            return np.empty(self._shape, dtype=self.dtype, order="F")[:n_rows]

    def give_back(self, rows: Any) -> None:
        whole = rows.base if rows.base is not None else rows
        if whole.shape == self._shape and len(self._free) < _MOST_KEPT:
            self._free.append(whole)

    def place(self, chunk: int, row: int) -> str:
        where = self._places[chunk]
        return row_of(self._walk.tables[where.table], where.start + row)


@dataclass(frozen=True)
class PlainNumbers:
    """Columns of numbers without gaps, unchanged.

    Attributes
    ----------
    columns : tuple of str
        Names in the tables.
    dtype : str
    """

    columns: tuple[str, ...]
    dtype: str

    @property
    def made(self) -> Array:
        """Names of the output columns."""
        return np.array(self.columns, dtype=object)

    def __call__(self, chunk: Chunk, out: Array, table: BatchedTable, start: int) -> Array:
        write_numbers(chunk, self.columns, out, table, start, unseen=False)
        return out


@dataclass(frozen=True)
class CodedColumns:
    """Columns of any kind, with fitted encoders.

    Attributes
    ----------
    known_only : bool
        Whether an unseen category is an error, because the encoders learned from these rows.
    """

    coding: Coding
    known_only: bool
    dtype: str = "float64"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the tables."""
        return tuple(self.coding.feature_names_in_.tolist())

    @property
    def made(self) -> Array:
        """Names of the output columns."""
        return self.coding.get_feature_names_out()

    def __call__(self, chunk: Chunk, out: Array, table: BatchedTable, start: int) -> Array:
        columns = {name: plain_column(table.name, name, chunk.column(name)) for name in self.columns}
        if self.known_only:
            self._refuse_unknown(columns, table, start)
        out[:] = self.coding.rows(to_frame(pa.table(columns)))
        return out

    def _refuse_unknown(self, columns: dict[str, pa.ChunkedArray], table: BatchedTable, start: int) -> None:
        for coder in self.coding.coders_:
            if not isinstance(coder, CategoricalEncoder):
                continue
            known = {*coder.known, *(label_of(code) for code in coder.column.codes)}
            cells = columns[coder.column.name]
            odd = [value for value in cells.unique().to_pylist() if value is not None and label_of(value) not in known]
            if odd:
                row = cells.to_pylist().index(odd[0])
                raise InvalidData(
                    "Column {column!r} holds {value!r} (row {row} of {file}), which was not there in the first pass; "
                    "every pass must see the same rows. Scan them again when nothing writes to them.",
                    column=coder.column.name,
                    value=odd[0],
                    row=start + row + 1,
                    file=table.name,
                )
