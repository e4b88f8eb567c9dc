"""The first pass over tables: what encoders need to know, the targets and weights of all rows, and where chunks lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hiperplano.data.design import Array
from hiperplano.data.stream.read_ahead import read_ahead
from hiperplano.data.stream.settings import CHUNKS_IN_HAND, Settings
from hiperplano.data.stream.vectors import StoredVector
from hiperplano.data.threads import in_threads
from hiperplano.data.validate import refuse_no_weight
from hiperplano.errors import InvalidData, InvalidFile
from hiperplano.features.columns import Column
from hiperplano.features.scanning.cells import kind_of_type
from hiperplano.features.scanning.labels import target_of, weight_of
from hiperplano.features.scanning.tally import NumberTally, Tally, tally_of
from hiperplano.features.scanning.walking import Place, Walk, cut, power_of_two
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.batches.table import typed_table

_FEWEST_ROWS, _MOST_ROWS = 2**10, 2**17
_AHEAD = 2


@dataclass(frozen=True)
class Wanted:
    """Columns that are wanted of every table.

    Attributes
    ----------
    columns : sequence of Column
        Those that a model sees.
    targets : sequence of str
    weight : str or None
    """

    columns: Sequence[Column]
    targets: Sequence[str] = ()
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """All, each once."""
        others = [*self.targets, *([] if self.weight is None else [self.weight])]
        return list(dict.fromkeys([*(column.name for column in self.columns), *others]))


@dataclass
class FirstPass:
    """What it found.

    Attributes
    ----------
    walk : Walk
        How the rows are read again.
    sizes, places : list
        Of the chunks.
    tallies : list
        Of the columns, in their order.
    vectors : dict of str to StoredVector
        "y" and, where there are weights, "weight".
    """

    walk: Walk
    tallies: list[Tally]
    limit: int
    sizes: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    vectors: dict[str, StoredVector] = field(default_factory=dict)

    def add_rows(self, place: Place, vectors: dict[str, Array]) -> None:
        """Take note of a chunk."""
        self.places.append(place)
        self.sizes.append(len(vectors["y"]))
        for name, piece in vectors.items():
            self.vectors.setdefault(name, StoredVector(self.limit)).append(piece)

    def in_chunks_for(self, row_bytes: int, settings: Settings) -> FirstPass:
        """The same with chunks of rows that take so many bytes as numbers."""
        rows = chunk_rows(row_bytes, settings)
        if rows >= self.walk.rows:
            return self
        sizes, places = cut(self.sizes, self.places, rows)
        vectors = {
            name: StoredVector.of(
                (
                    vector.piece(k)[first : first + rows]
                    for k, size in enumerate(self.sizes)
                    for first in range(0, size, rows)
                ),
                self.limit,
            )
            for name, vector in self.vectors.items()
        }
        walk = Walk(self.walk.tables, self.walk.states, rows)
        return FirstPass(walk, self.tallies, self.limit, sizes, places, vectors)

    @property
    def numbers(self) -> list[NumberTally]:
        """Tallies of columns that hold numbers."""
        return [tally for tally in self.tallies if isinstance(tally, NumberTally)]


def chunk_rows(row_bytes: int, settings: Settings) -> int:
    """Rows of a chunk, so that those in hand fit into the memory that is allowed."""
    return power_of_two(settings.memory / CHUNKS_IN_HAND / max(row_bytes, 1), _FEWEST_ROWS, _MOST_ROWS)


def _cell_bytes(kind: pa.DataType) -> int:
    """Of a cell of a column; of texts those of their numbers in a dictionary."""
    return max(1, kind.bit_width // 8) if pa.types.is_primitive(kind) else 8


def first_pass(tables: Sequence[BatchedTable], wanted: Wanted, settings: Settings, nan_is_missing: bool) -> FirstPass:
    """Read all tables once."""
    refuse_unlike(tables, wanted.names)
    schema = typed_table(tables).schema()
    walk = Walk.over(tables, chunk_rows(sum(_cell_bytes(schema.field(name).type) for name in wanted.names), settings))
    found = FirstPass(walk, [tally_of(column, nan_is_missing) for column in wanted.columns], settings.memory // 4)
    watcher, seen = settings.watcher, 0
    if watcher is not None:
        watcher.begin()
    for number, table in enumerate(tables):
        start = 0
        with read_ahead(walk.chunks(number, wanted.names), _AHEAD) as chunks:
            for chunk in chunks:
                vectors = {"y": target_of(chunk, wanted.targets, table, start)}
                if wanted.weight is not None:
                    vectors["weight"] = weight_of(chunk, wanted.weight, table, start)
                found.add_rows(Place(number, start), vectors)
                _add(found.tallies, chunk, table, start)
                start += chunk.num_rows
                seen += chunk.num_rows
                if watcher is not None:
                    watcher.tell(seen, 0)
    if not seen:
        raise InvalidData("The tables hold no rows ({file} …); a fit needs some. Check them.", file=tables[0].name)
    if watcher is not None:
        watcher.tell(seen, seen)
    if wanted.weight is not None:
        pieces = found.vectors["weight"]
        refuse_no_weight(any(pieces.piece(k).any() for k in range(len(pieces))), seen)
    return found


def _add(tallies: Sequence[Tally], chunk: pa.Table, table: BatchedTable, start: int) -> None:
    def add(tally: Any) -> None:
        tally.add(chunk, table, start)

    in_threads(add, tallies, chunk.num_rows * len(tallies))


def refuse_unlike(tables: Sequence[BatchedTable], names: Sequence[str]) -> None:
    """All tables need these columns, with values of one kind."""
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


def only_float32(tallies: Sequence[NumberTally]) -> bool:
    """Whether all numbers came as float32."""
    return all(tally.single for tally in tallies)
