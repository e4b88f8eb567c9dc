"""The first pass over tables: statistics for encoders, targets and weights of all rows, and positions of chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads, worker_count
from hiperplano.data.stream.read_ahead import read_ahead
from hiperplano.data.stream.settings import CHUNKS_IN_HAND, LARGEST_CHUNKS, Settings
from hiperplano.data.stream.side_by_side import Run, side_by_side
from hiperplano.data.stream.vectors import StoredVector
from hiperplano.data.validate import refuse_no_weight
from hiperplano.errors import InvalidData, InvalidFile
from hiperplano.features.columns import Column
from hiperplano.features.scanning.cells import kind_of_type
from hiperplano.features.scanning.learning.drawing import Chosen, Draw, in_one_buffer
from hiperplano.features.scanning.learning.labels import target_of, weight_of
from hiperplano.features.scanning.learning.tally import NumberTally, Tally, tally_of
from hiperplano.features.scanning.walking import Chunk, Place, Walk, power_of_two
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.batches.table import typed_table

_FEWEST_ROWS, _MOST_ROWS = 2**10, 2**17
_AHEAD = 2


@dataclass(frozen=True)
class Wanted:
    """Columns needed from every table.

    Attributes
    ----------
    columns : sequence of Column
        Columns that a model uses.
    targets : sequence of str
    weight : str or None
    """

    columns: Sequence[Column]
    targets: Sequence[str] = ()
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """All names, without duplicates."""
        others = [*self.targets, *([] if self.weight is None else [self.weight])]
        return list(dict.fromkeys([*(column.name for column in self.columns), *others]))

    def without_columns(self) -> Wanted:
        """Only targets and weights."""
        return replace(self, columns=())


@dataclass
class FirstPass:
    """Result of the first pass.

    Attributes
    ----------
    walk : Walk
        How to read the rows again.
    sizes, places : list
        Sizes and positions of the chunks.
    tallies : list
        Statistics of the columns, in order.
    vectors : dict of str to StoredVector
        "y" and, if there are weights, "weight".
    """

    walk: Walk
    tallies: list[Tally]
    limit: int
    draw: Draw
    sizes: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    vectors: dict[str, StoredVector] = field(default_factory=dict)
    n_rows: int = 0

    def add(self, chunk: LearnedChunk) -> None:
        """Record the next chunk."""
        size = len(chunk.vectors["y"])
        self.places.append(chunk.place)
        self.sizes.append(size)
        for name, piece in chunk.vectors.items():
            self.vectors.setdefault(name, StoredVector(self.limit)).append(piece)
        pairs: Any = zip(self.tallies, chunk.tallies, strict=True)
        for tally, more in pairs:
            tally.merge(more, self.walk.tables[chunk.place.table], chunk.place.start + size)
        self.draw.add(chunk.chosen, self.n_rows)
        self.n_rows += size

    def in_chunks_for(self, row_bytes: int, settings: Settings, by_column: bool) -> FirstPass:
        """The same with chunks whose rows take a given number of bytes as numbers.

        Parameters
        ----------
        by_column : bool
            Whether columns are used one by one, as stored in their files.
        """
        rows = min(self.walk.rows, chunk_rows(row_bytes, settings))
        walk = replace(self.walk, rows=rows, whole=max(rows, whole_rows(row_bytes, settings)) if by_column else rows)
        sizes: list[int] = []
        places: list[Place] = []
        for number in range(len(walk.tables)):
            there = [size for size, place in zip(self.sizes, self.places, strict=True) if place.table == number]
            cut = walk.sizes(number, sum(there))
            sizes += cut
            places += [Place(number, end - size) for end, size in zip(accumulate(cut), cut, strict=True)]
        vectors = self.vectors
        if sizes != self.sizes:
            vectors = {name: vector.in_pieces(sizes) for name, vector in vectors.items()}
        return replace(self, walk=walk, sizes=sizes, places=places, vectors=vectors)

    @property
    def numbers(self) -> list[NumberTally]:
        """Statistics of the numeric columns."""
        return [tally for tally in self.tallies if isinstance(tally, NumberTally)]


def whole_rows(row_bytes: int, settings: Settings) -> int:
    """Most rows of a row group that is read as a whole, column by column."""
    return int(settings.memory / LARGEST_CHUNKS / max(row_bytes, 1))


def chunk_rows(row_bytes: int, settings: Settings) -> int:
    """Rows of a chunk such that the current chunks fit into the memory limit."""
    return power_of_two(settings.memory / CHUNKS_IN_HAND / max(row_bytes, 1), _FEWEST_ROWS, _MOST_ROWS)


def _cell_bytes(kind: pa.DataType) -> int:
    """Bytes of a cell of a column; for texts, those of their dictionary index."""
    return max(1, kind.bit_width // 8) if pa.types.is_primitive(kind) else 8


def first_pass(tables: Sequence[BatchedTable], wanted: Wanted, settings: Settings, nan_is_missing: bool) -> FirstPass:
    """Read the needed columns of all tables once; only targets and weights if no others are needed."""
    schema = typed_table(tables).schema()
    row_bytes = sum(_cell_bytes(schema.field(name).type) for name in wanted.names)
    walk = Walk.over(tables, chunk_rows(row_bytes, settings), whole_rows(row_bytes, settings))
    groups = [table.groups() for table in tables]
    n_rows = None if None in groups else sum(map(sum, filter(None, groups)))
    draw = Draw.of(row_bytes, len(wanted.columns), settings.memory, n_rows) if wanted.columns else Draw(0, n_rows)
    found = FirstPass(walk, _tallies(wanted, nan_is_missing), settings.memory // 4, draw)
    watcher = settings.watcher
    if watcher is not None:
        watcher.begin()
    with _learned(walk, Learner(wanted, nan_is_missing, draw, tables)) as chunks:
        for chunk in chunks:
            found.add(chunk)
            if watcher is not None:
                watcher.tell(found.n_rows, n_rows or 0)
    if not found.n_rows:
        raise InvalidData("The tables hold no rows ({file} …); a fit needs some. Check them.", file=tables[0].name)
    if watcher is not None and not n_rows:
        watcher.tell(found.n_rows, found.n_rows)
    if wanted.weight is not None:
        pieces = found.vectors["weight"]
        refuse_no_weight(any(pieces.piece(k).any() for k in range(len(pieces))), found.n_rows)
    return found


class LearnedChunk(NamedTuple):
    """Statistics of one chunk."""

    place: Place
    vectors: dict[str, Array]
    tallies: list[Tally]
    chosen: Chosen


@dataclass(frozen=True)
class Learner:
    """Collects the statistics of a chunk; each column is requested once, since that may decode it."""

    wanted: Wanted
    nan_is_missing: bool
    draw: Draw
    tables: Sequence[BatchedTable]

    def __call__(self, chunk: Chunk, place: Place) -> LearnedChunk:
        table, wanted = self.tables[place.table], self.wanted
        own = pa.table({name: chunk.column(name) for name in {*wanted.targets, *filter(None, [wanted.weight])}})
        vectors = {"y": target_of(own, wanted.targets, table, place.start, chunk.num_rows)}
        if wanted.weight is not None:
            vectors["weight"] = weight_of(own, wanted.weight, table, place.start)
        chosen = self.draw.choose(place, chunk.num_rows)
        taken = pa.array(chosen.rows)
        tallies = _tallies(wanted, self.nan_is_missing)

        def look_at(tally: Any) -> Any:
            name = tally.column.name
            cells = chunk.column(name)
            tally.add(pa.table({name: cells}), table, place.start)
            return cells.take(taken)

        cells = in_threads(look_at, tallies, chunk.num_rows * len(tallies))
        drawn = pa.table(dict(zip((tally.column.name for tally in tallies), cells, strict=True)))
        return LearnedChunk(place, vectors, tallies, replace(chosen, cells=in_one_buffer(drawn) if tallies else None))


def _tallies(wanted: Wanted, nan_is_missing: bool) -> list[Tally]:
    return [tally_of(column, nan_is_missing) for column in wanted.columns]


@contextmanager
def _learned(walk: Walk, learn: Learner) -> Iterator[Iterator[LearnedChunk]]:
    """Statistics of all chunks, in order; threads process separate chunks where that is possible."""
    names, tables = learn.wanted.names, range(len(walk.tables))
    if not names:
        yield _unread(walk, learn)
        return
    if worker_count() == 1 or not all(map(walk.by_groups, tables)):
        yield _one_by_one(walk, learn)
        return
    places = [place for place, _size in _planned(walk)]

    def read(run: Run, _stopped: Event) -> LearnedChunk:
        place = places[run[0]]
        with closing(walk.chunks(place.table, names, place.start, parallel=False)) as chunks:
            return learn(next(chunks), place)

    with side_by_side(read, [[chunk] for chunk in range(len(places))], worker_count()) as chunks:
        yield chunks
    for number in tables:
        walk.refuse_changed(number)


def _planned(walk: Walk) -> Iterator[tuple[Place, int]]:
    """All chunks and their rows, for tables whose chunks are known before reading."""
    for number in range(len(walk.tables)):
        start = 0
        for piece in walk.plan(number) or ():
            yield Place(number, start), piece.size
            start += piece.size


def _unread(walk: Walk, learn: Learner) -> Iterator[LearnedChunk]:
    """The result if only the number of rows is needed."""
    for place, size in _planned(walk):
        yield LearnedChunk(place, {"y": np.empty((size, 0))}, [], learn.draw.choose(place, 0))


def _one_by_one(walk: Walk, learn: Learner) -> Iterator[LearnedChunk]:
    for number in range(len(walk.tables)):
        start = 0
        with read_ahead(walk.chunks(number, learn.wanted.names), _AHEAD) as chunks:
            for chunk in chunks:
                yield learn(chunk, Place(number, start))
                start += chunk.num_rows


def refuse_unlike(tables: Sequence[BatchedTable], names: Sequence[str]) -> None:
    """Raise an error unless all tables have these columns, with values of one kind."""
    seen: dict[str, tuple[str, Any, str]] = {}
    for table in tables:
        table.has(names)
        schema = table.schema()
        for name in names:
            kind = schema.field(name).type
            known, type_before, file_before = seen.setdefault(name, (kind_of_type(kind), kind, table.name))
            if not known:
                seen[name] = kind_of_type(kind), kind, table.name
            elif kind_of_type(kind) not in ("", known):
                if (odd := table.odd_cell(name, type_before)) is not None:
                    raise InvalidFile(odd)
                raise InvalidFile(
                    "{file}: column {name!r} holds {kind}, and {before} in {first}; a column must be of one kind in "
                    "all files. Write one of them again.",
                    file=table.name,
                    name=name,
                    kind=str(kind),
                    before=str(type_before),
                    first=file_before,
                )
