"""Rows drawn at random in the first pass over tables, so that a fit need not read them again for a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hiperplano.data.design import Array
from hiperplano.data.stream.drawn import DrawnRows
from hiperplano.features.scanning.walking import Place
from hiperplano.tables.batches import BatchedTable

_CELLS = 2**23  # most numbers in the drawn rows, as many as solvers need
# Limits of the number of chunks that a sample is drawn from, and number of chunks per drawn chunk.
_FEWEST_PLACES, _MOST_PLACES, _ONE_OF = 4, 16, 10
_SURE = 6.0  # safety margin of the number of drawn rows, in standard deviations


@dataclass(frozen=True)
class Chosen:
    """Selected rows of a chunk.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers in the chunk; later, in all tables.
    chances : ndarray of float
        Their random numbers.
    cells : Table or None
        The columns of these rows.
    """

    place: Place
    rows: Array
    chances: Array
    cells: pa.Table | None = None

    def smallest(self, below: float) -> Chosen:
        """The rows with random numbers below a limit."""
        kept = self.chances < below
        if kept.all() or self.cells is None:
            return self
        return replace(self, rows=self.rows[kept], chances=self.chances[kept], cells=self.cells.filter(pa.array(kept)))


def in_one_buffer(table: pa.Table) -> pa.Table:
    """The same cells in one buffer, since small ones between decoded columns would fragment memory."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return pa.ipc.open_stream(sink.getvalue()).read_all()


class Draw:
    """A sample: the rows with the smallest random numbers, independent of chunks and threads.

    Parameters
    ----------
    size : int
        Rows to draw.
    n_rows : int or None
        Number of rows of all tables, if known in advance.
    """

    def __init__(self, size: int, n_rows: int | None) -> None:
        self._size, self._pieces = size, list[Chosen]()
        self._below = 1.0 if not n_rows else min(1.0, (size + _SURE * np.sqrt(size)) / n_rows)
        self._held = 0

    @classmethod
    def of(cls, row_bytes: int, n_columns: int, memory: int, n_rows: int | None) -> Draw:
        """A draw of as many rows as solvers need, within a quarter of the memory."""
        return cls(min(_CELLS // (n_columns + 1), int(memory / 4 / max(row_bytes, 1))), n_rows)

    def choose(self, place: Place, n_rows: int) -> Chosen:
        """Rows of a chunk that may be among the smallest."""
        if not self._size:
            return Chosen(place, np.empty(0, dtype=np.int64), np.empty(0))
        chances = np.random.default_rng((place.table, place.start)).random(n_rows)
        rows = np.flatnonzero(chances < self._below)
        return Chosen(place, rows, chances[rows])

    def add(self, chosen: Chosen, first: int) -> None:
        """Add selected rows of a chunk whose first row has this number among all rows."""
        self._pieces.append(replace(chosen, rows=chosen.rows + first).smallest(self._below))
        self._held += len(self._pieces[-1].rows)
        if self._held > 2 * self._size:
            self._trim()

    def _trim(self) -> None:
        chances = np.concatenate([piece.chances for piece in self._pieces])
        if len(chances) > self._size:
            self._below = float(np.partition(chances, self._size)[self._size])
            self._pieces = [piece.smallest(self._below) for piece in self._pieces]
        self._held = sum(len(piece.rows) for piece in self._pieces)

    def rows(self, code: Any, tables: Sequence[BatchedTable]) -> DrawnRows:
        """The drawn rows as numbers, encoded by `code`."""
        self._trim()
        made = np.empty((self._held, len(code.made)), dtype=code.dtype, order="F")
        first = 0
        for piece in self._pieces:
            code(piece.cells, made[first : first + len(piece.rows)], tables[piece.place.table], piece.place.start)
            first += len(piece.rows)
        numbers = np.concatenate([piece.rows for piece in self._pieces])
        return DrawnRows(numbers, np.concatenate([piece.chances for piece in self._pieces]), made)


def spread_rows(sizes: Array, beginnings: Sequence[int], size: int, seed: int) -> Array:
    """Numbers of rows drawn at random from some evenly spaced chunks, so that only these have to be read.

    Parameters
    ----------
    sizes : ndarray of int of shape (chunks,)
    beginnings : sequence of int
        Chunks at which reading can begin.
    size : int
        Rows to draw; fewer if these chunks hold fewer.
    """
    there = np.array([chunk for chunk in beginnings if sizes[chunk]])
    places = max(_FEWEST_PLACES, min(_MOST_PLACES, len(there) // _ONE_OF), int(np.ceil(size / sizes[there].mean())))
    places = min(places, len(there))
    chosen = there[((np.arange(places) + 0.5) * len(there) / places).astype(int)]
    starts = np.cumsum(sizes) - sizes
    numbers = np.concatenate([np.arange(starts[chunk], starts[chunk] + sizes[chunk]) for chunk in chosen])
    return np.sort(np.random.default_rng(seed).choice(numbers, min(size, len(numbers)), replace=False, shuffle=False))
