"""Columns of numbers decoded in parallel: each thread reads some of them, and writes them to their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from threading import Lock

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import worker_count
from hiperplano.data.stream.read_ahead import read_ahead
from hiperplano.errors import InvalidData
from hiperplano.features.scanning.cells import nonfinite
from hiperplano.features.scanning.walking import Chunk, Walk
from hiperplano.tables.batches import BatchedTable

_AHEAD = 1


def read_side_by_side(
    walk: Walk, number: int, columns: tuple[str, ...], start: int, make: Callable[[int], Array], unseen: bool
) -> Iterator[Array]:
    """The chunks of a table from a row on, as arrays of these columns.

    Parameters
    ----------
    number : int
        Number of the table.
    make : callable, int -> ndarray
        Returns an array with a given number of rows, to be filled.
    unseen : bool
        As in `write_numbers`.
    """
    arrays = _Arrays(make)

    def lane(places: Array) -> Iterator[int]:
        names, row = [columns[place] for place in places], start
        for chunk_number, chunk in enumerate(walk.chunks(number, names, start, parallel=False)):
            out = arrays.of(chunk_number, chunk.num_rows)
            write_numbers(chunk, names, out[:, places[0] : places[-1] + 1], walk.tables[number], row, unseen)
            row += chunk.num_rows
            yield chunk_number

    shares = np.array_split(np.arange(len(columns)), min(worker_count(), len(columns)))
    with ExitStack() as stack:
        lanes = [stack.enter_context(read_ahead(lane(share), _AHEAD)) for share in shares]
        for chunk_number, *_others in zip(*lanes, strict=True):
            yield arrays.take(chunk_number)


def write_numbers(
    chunk: Chunk, columns: Sequence[str], out: Array, table: BatchedTable, start: int, unseen: bool
) -> None:
    """Write columns of numbers without gaps into an array.

    Parameters
    ----------
    table : BatchedTable
        Table of the columns, whose first row is `start`; for messages.
    unseen : bool
        Whether these rows have not been checked for NaN and infinity.
    """
    for j, column in enumerate(columns):
        first = 0
        for piece in chunk.column(column).chunks:
            if piece.null_count:
                raise InvalidData(
                    "Column {column!r} of {file} has a missing value, and had none in the first pass; every pass must "
                    "see the same rows. Scan them again when nothing writes to them.",
                    column=column,
                    file=table.name,
                )
            values = piece.to_numpy(zero_copy_only=False)
            if unseen and values.dtype.kind == "f":
                _refuse_nonfinite(values, column, table, start + first)
            out[first : first + len(piece), j] = values
            first += len(piece)


def _refuse_nonfinite(values: Array, column: str, table: BatchedTable, start: int) -> None:
    if len(values) and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise nonfinite(column, bool(np.isinf(values[bad])), start + bad, table)


class _Arrays:
    """The arrays being filled, by chunk number; the first thread that needs one creates it."""

    def __init__(self, make: Callable[[int], Array]) -> None:
        self._make, self._lock = make, Lock()
        self._arrays: dict[int, Array] = {}

    def of(self, number: int, n_rows: int) -> Array:
        with self._lock:
            if number not in self._arrays:
                self._arrays[number] = self._make(n_rows)
            return self._arrays[number]

    def take(self, number: int) -> Array:
        with self._lock:
            return self._arrays.pop(number)
