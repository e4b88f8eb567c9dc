"""The design whose rows are read in chunks, again in every pass."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from hashlib import blake2b
from itertools import islice
from threading import Event
from typing import Any, Self

import joblib
import numpy as np
from scipy.sparse import csr_array

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Rows, RowVector, Statistic, Sums, add
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.threads import worker_count
from hiperplano.data.stream.checkpoint import SavedSums
from hiperplano.data.stream.drawn import DrawnRows, joined, refuse_too_many
from hiperplano.data.stream.progress import Count
from hiperplano.data.stream.read_ahead import read_ahead
from hiperplano.data.stream.settings import Settings
from hiperplano.data.stream.side_by_side import Result, Run, runs_of, side_by_side, until
from hiperplano.data.stream.source import Source
from hiperplano.data.stream.vectors import StoredVector

Parts = Iterator[tuple[int, InMemory]]

_AHEAD = 2  # most chunks read ahead while one is summed
_AT_WORK = 0.75  # several threads read only if each would be busy for this share of the time


class Stream(Design):
    """Chunks of a source, each of which is summed like rows in memory, one after the other.

    The next chunk is read while the current one is summed. The order of additions is fixed by the chunks, so that two
    fits give the same result to the last bit. Row vectors are stored for all rows, in memory or in a temporary file;
    rows are not.

    Parameters
    ----------
    source : Source
    vectors : mapping of str to StoredVector
        "y", of shape (rows, targets), "weight" if rows have weights, and others.
    one_target : bool
        Whether the target is a plain vector.
    settings : Settings
    """

    def __init__(
        self,
        source: Source,
        vectors: dict[str, StoredVector],
        one_target: bool = True,
        settings: Settings | None = None,
    ) -> None:
        self.source, self.settings, self.one_target = source, settings or Settings(), one_target
        self.n_columns, self.dtype, self.density = source.n_columns, source.dtype, source.density
        self.names, self.reading_cost = source.names, source.reading_cost
        self._vectors = vectors
        self._keep: StoredVector | None = None  # rows of the source that are kept; vectors have entries for these only
        self._scale: tuple[Array, Array] | None = None  # shift and divisor of the columns
        self._sizes = np.asarray(source.sizes, dtype=np.int64)
        self.n_rows = int(self._sizes.sum())
        self._count_vectors()

    def _count_vectors(self) -> None:
        self.has_weight = "weight" in self._vectors
        pieces = self._vectors["y"]
        self.n_targets = int(pieces.piece(0).shape[1]) if len(pieces) else 0

    @property
    def is_sparse(self) -> bool:
        return self.source.is_sparse

    def stored_vectors(self) -> dict[str, StoredVector]:
        """The row vectors, by name."""
        return dict(self._vectors)

    # Passes

    def parts(self, chunks: Sequence[int] | None = None) -> Generator[InMemory]:
        """All rows, a chunk at a time and in order; each is valid until the next is requested."""
        with self._read(range(len(self._sizes)) if chunks is None else chunks) as found:
            for _number, part in found:
                yield part

    @contextmanager
    def _read(self, chunks: Sequence[int]) -> Iterator[Parts]:
        """Numbers and rows of these chunks, read ahead; chunks without rows are skipped."""
        wanted = self._filled(chunks)
        with read_ahead(self.source.read(wanted), _AHEAD) as found:
            yield self._walk(wanted, found, self._count(wanted))

    def _filled(self, chunks: Sequence[int]) -> list[int]:
        return [chunk for chunk in chunks if self._sizes[chunk]]

    def _count(self, wanted: Sequence[int]) -> Count:
        return Count(self.settings.watcher, self.n_rows - int(self._sizes[list(wanted)].sum()), self.n_rows)

    def _walk(self, wanted: Sequence[int], found: Iterator[Any], count: Count) -> Parts:
        for number, rows in zip(wanted, found, strict=True):
            yield number, self._part(number, self._as_seen(number, rows))
            self.source.give_back(rows)
            count.add(int(self._sizes[number]))

    def _as_seen(self, number: int, rows: Any) -> Any:
        """Rows of the source without dropped ones, in the units of the design."""
        rows = rows if self._keep is None else rows[self._keep.piece(number)]
        return rows if self._scale is None else (rows - self._scale[0]) / self._scale[1]

    def _part(self, number: int, rows: Any) -> InMemory:
        vectors = {name: vector.piece(number) for name, vector in self._vectors.items()}
        return InMemory(rows, vectors.pop("y"), None, self.one_target, self.names, vectors)

    def _without_rows(self, run: Run) -> Parts:
        """For statistics that read vectors only: nothing is read, and rows are NaN if they are used nevertheless."""
        nothing = np.array(np.nan, dtype=self.dtype)
        for number in run:
            yield number, self._part(number, np.broadcast_to(nothing, (int(self._sizes[number]), self.n_columns)))

    @cached_property
    def _runs(self) -> list[Run]:
        """Runs of the chunks that have rows."""
        return runs_of(self.source, self._filled(range(len(self._sizes))))

    @contextmanager
    def _results(
        self, function: Callable[[Parts], Result], runs: Sequence[Run], reads_rows: bool = True
    ) -> Iterator[Iterator[Result]]:
        """Results of a function for the chunks of each run, in the order of the runs.

        If there are enough points at which reading can begin, threads read and sum separate runs. Otherwise the next
        chunk is read while all threads sum the current one.
        """
        if not reads_rows or not runs:  # nothing is even opened if a checkpoint has all sums
            yield (function(self._without_rows(run)) for run in runs)
            return
        chunks = [chunk for run in runs for chunk in run]
        workers = self._readers(runs)
        if workers == 1:
            with self._read(chunks) as parts:
                yield (function(islice(parts, len(run))) for run in runs)
                next(parts, None)  # the last chunk has been used
            return
        count = self._count(chunks)

        def read(run: Run, stopped: Event) -> Result:
            return function(until(stopped, self._walk(run, self.source.read(run), count)))

        with side_by_side(read, runs, workers) as found:
            yield found

    def _readers(self, runs: Sequence[Run]) -> int:
        """Number of threads that read concurrently, limited by memory; 1 if there would be too little work for each."""
        largest = max((self.source.bytes_in_hand(chunk) for run in runs for chunk in run), default=1.0)
        workers = min(worker_count(), int(self.settings.memory / max(largest, 1.0)))
        if workers < 2 or not all(self.source.can_begin(run[0]) for run in runs):
            return 1
        rounds = -(-len(runs) // workers)
        return workers if len(runs) >= _AT_WORK * workers * rounds else 1

    def fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        def summed(parts: Parts) -> Sums:
            return reduce(combine, (part.fold(statistic, combine) for _number, part in parts))

        saved = self._saved(statistic, combine)
        total = saved.total
        with self._results(summed, self._runs[saved.done :], reads_rows(statistic)) as found:
            for done, sums in enumerate(found, start=saved.done + 1):
                total = sums if total is None else combine(total, sums)
                saved.keep(total, done)
        assert total is not None  # a design has rows
        return total

    def _saved(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums]) -> SavedSums:
        """The sums of this pass in the checkpoint."""
        if self.settings.checkpoint is None or not reads_rows(statistic):
            return SavedSums(None, b"", len(self._runs))
        key = blake2b(self._digest + joblib.hash((statistic, combine)).encode(), digest_size=16).digest()
        return SavedSums(self.settings.checkpoint, key, len(self._runs))

    @cached_property
    def _digest(self) -> bytes:
        """Digest of everything that a sum depends on, except the statistic."""
        found = blake2b(self.source.fingerprint.encode(), digest_size=16)
        for name, vector in sorted(self._vectors.items()):
            found.update(name.encode() + vector.digest)
        if self._keep is not None:
            found.update(self._keep.digest)
        for array in self._scale or ():
            found.update(np.ascontiguousarray(array).data)
        return found.digest()

    def fold_and_map(
        self, statistic: Callable[[Block], tuple[Sums, Rows]], combine: Callable[[Sums, Sums], Sums] = add
    ) -> tuple[Sums, dict[str, RowVector]]:
        def summed(parts: Parts) -> tuple[Sums, list[tuple[int, Rows]]]:
            total: Sums | None = None
            rows = []
            for number, part in parts:
                sums, vectors = part.fold_and_map(statistic, combine)
                total = sums if total is None else combine(total, sums)
                rows.append((number, vectors))
            assert total is not None  # a run has rows
            return total, rows

        total: Sums | None = None
        kept: dict[str, StoredVector] = {}
        with self._results(summed, self._runs, reads_rows(statistic)) as found:
            for sums, rows in found:
                total = sums if total is None else combine(total, sums)
                for number, vectors in rows:
                    for name, piece in vectors.items():
                        vector = kept.setdefault(name, StoredVector(self._vector_limit))
                        self._skip_to(number, vector, piece)
                        vector.append(piece)
        assert total is not None
        for vector in kept.values():
            self._skip_to(len(self._sizes), vector, vector.piece(0))
        return total, dict(kept)

    @staticmethod
    def _skip_to(number: int, vector: StoredVector, like: Array) -> None:
        """Empty pieces for the chunks without rows."""
        while len(vector) < number:
            vector.append(like[:0])

    @property
    def _vector_limit(self) -> int:
        return self.settings.memory // 4

    # Row vectors

    def collect(self, vector: RowVector) -> Array:
        if not isinstance(vector, StoredVector):
            return np.asarray(vector)
        return np.concatenate([vector.piece(number) for number in range(len(vector))])

    def with_vectors(self, **vectors: RowVector | None) -> Self:
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        changed.__dict__.pop("_digest", None)
        merged = {name: vector for name, vector in {**self._vectors, **vectors}.items() if vector is not None}
        changed._vectors = {name: self._stored(name, vector) for name, vector in merged.items()}
        changed._count_vectors()
        return changed

    def _stored(self, name: str, vector: RowVector) -> StoredVector:
        if not isinstance(vector, StoredVector):
            cuts = np.cumsum(self._sizes)[:-1]
            vector = StoredVector.of(np.split(np.asarray(vector), cuts), self._vector_limit)
        if name == "y" and len(vector) and vector.piece(0).ndim == 1:
            pieces = (vector.piece(number)[:, None] for number in range(len(vector)))
            return StoredVector.of(pieces, self._vector_limit)
        return vector

    def vector(self, name: str) -> RowVector:
        return self._vectors[name]

    def row_numbers(self) -> Array:
        if self._keep is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(self.collect(self._keep))

    def row_label(self, row: int) -> str:
        ends = np.cumsum(self.source.sizes)
        chunk = int(np.searchsorted(ends, row, side="right"))
        return self.source.place(chunk, row - int(ends[chunk] - self.source.sizes[chunk]))

    # Some of the rows

    def weighted_rows(self) -> Self:
        if not self.has_weight:
            return self
        counted = [piece > 0 for piece in self._pieces("weight")]
        return self if all(piece.all() for piece in counted) else self.restricted(counted)

    def _pieces(self, name: str) -> Iterator[Array]:
        vector = self._vectors[name]
        return (vector.piece(number) for number in range(len(vector)))

    def restricted(self, masks: Sequence[Array]) -> Self:
        """The rows where the masks of the chunks are True, still read in every pass."""
        vectors = {
            name: StoredVector.of(
                (piece[mask] for piece, mask in zip(self._pieces(name), masks, strict=True)), self._vector_limit
            )
            for name in self._vectors
        }
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        changed.__dict__.pop("_digest", None)
        changed.__dict__.pop("_runs", None)
        changed._vectors, changed._keep = vectors, StoredVector.of(self._within_source(masks), self._vector_limit)
        changed._sizes = np.array([int(mask.sum()) for mask in masks], dtype=np.int64)
        changed.n_rows = int(changed._sizes.sum())
        return changed

    def scaled(self, shift: Array, scale: Array) -> Self:
        """The rows with (x − shift)/scale instead of x, for dense rows."""
        changed = self.with_vectors()
        changed._scale, changed.dtype = (shift, scale), np.dtype(np.float64)
        return changed

    def _within_source(self, masks: Sequence[Array]) -> Iterator[Array]:
        """Masks of the kept rows as masks of the source's rows."""
        for number, mask in enumerate(masks):
            if self._keep is None:
                yield mask
            else:
                there = self._keep.piece(number).copy()
                there[there] = mask
                yield there

    def sample(self, size: int, seed: int = 0) -> InMemory:
        if size < self.n_rows:  # a part may be smaller, but all must be all
            size = min(size, max(1, int(self.settings.memory / self._row_bytes)))
            drawn = self._drawn(size) if seed == 0 else None
            if drawn is not None:
                return drawn
            rows = self.chosen_rows(size, seed)
        else:
            rows = np.arange(self.n_rows)
        return self._taken(np.split(rows, np.searchsorted(rows, np.cumsum(self._sizes)[:-1])))

    def chosen_rows(self, size: int, seed: int) -> Array:
        """Numbers of rows for a sample, ascending."""
        return np.sort(np.random.default_rng(seed).choice(self.n_rows, size, replace=False, shuffle=False))

    def drawn_rows(self) -> DrawnRows | None:
        """Rows of the source that were drawn in the first pass, if any."""
        return None

    def _drawn(self, size: int) -> InMemory | None:
        """A sample of those, with their vectors; None if they are too few."""
        found = self.drawn_rows()
        if found is None:
            return None
        masks = None if self._keep is None else [self._keep.piece(chunk) for chunk in range(len(self._sizes))]
        sample = found.sample(size, masks)
        if sample is None:
            return None
        drawn, places = sample
        vectors = {name: vector.at(places, self._sizes) for name, vector in self._vectors.items()}
        rows = drawn.rows if self._scale is None else (drawn.rows - self._scale[0]) / self._scale[1]
        vectors.setdefault("row", drawn.numbers)
        return InMemory(rows, vectors.pop("y"), None, self.one_target, self.names, vectors)

    def gather(self, mask: RowVector) -> InMemory:
        masks = self._stored("mask", mask)
        starts = np.cumsum(self._sizes) - self._sizes
        return self._taken([np.flatnonzero(masks.piece(k)) + start for k, start in enumerate(starts)])

    def _taken(self, rows: Sequence[Array]) -> InMemory:
        """Rows with these numbers, given for each chunk, in memory."""
        refuse_too_many(sum(map(len, rows)), self.n_rows, self._row_bytes, self.settings.memory)
        starts = np.cumsum(self._sizes) - self._sizes
        numbers = self._vectors.get("row")

        def taken(parts: Parts) -> list[InMemory]:
            found = []
            for number, part in parts:
                if numbers is None:
                    part = part.with_vectors(row=self._numbers_of(number))
                found.append(part.subset(rows[number] - starts[number]))
            return found

        wanted = self._filled([number for number, some in enumerate(rows) if len(some)])
        with self._results(taken, runs_of(self.source, wanted)) as results:
            found = [part for parts in results for part in parts]
        if not found:
            nothing = self._part(0, self._no_rows())
            return nothing.with_vectors(row=np.empty(0, dtype=np.int64)).subset(slice(0, 0))
        return joined(found)

    def _numbers_of(self, number: int) -> Array:
        """Numbers of the rows of a chunk in the source."""
        start = int(self.source.sizes[:number].sum())
        if self._keep is None:
            return np.arange(start, start + self._sizes[number])
        return start + np.flatnonzero(self._keep.piece(number))

    def _no_rows(self) -> Any:
        shape = (int(self._sizes[0]), self.n_columns)
        return csr_array(shape, dtype=self.dtype) if self.is_sparse else np.empty(shape, dtype=self.dtype)

    @property
    def _row_bytes(self) -> float:
        """Mean size of a row in memory, in bytes."""
        return max(1.0, self.n_columns * self.density * (self.dtype.itemsize + (4 if self.is_sparse else 0)))


def reads_rows(statistic: Any) -> bool:
    """Whether a statistic uses rows, and not only their vectors."""
    return bool(getattr(statistic, "reads_rows", True))
