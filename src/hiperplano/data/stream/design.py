"""Rows that are read chunk by chunk in every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import joblib
import numpy as np
from scipy.sparse import csr_array, vstack

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Rows, RowVector, Statistic, Sums, add
from hiperplano.data.in_memory import InMemory
from hiperplano.data.stream.read_ahead import read_ahead
from hiperplano.data.stream.settings import Settings
from hiperplano.data.stream.source import Source
from hiperplano.data.stream.vectors import StoredVector
from hiperplano.errors import NotAvailable

_AHEAD = 2  # chunks that wait while one is summed


class Stream(Design):
    """Chunks of a source, each of which is summed as rows in memory are, one after the other.

    The next chunk is read while the last is summed. The order of additions is fixed by the chunks, so that two fits
    give the same bits. Row vectors are kept for all rows, in memory or in a temporary file; rows are not.

    Parameters
    ----------
    source : Source
    vectors : mapping of str to StoredVector
        "y", of shape (rows, targets), "weight" where rows have weights, and others.
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
        self.names = source.names
        self._vectors = vectors
        self._keep: StoredVector | None = None  # rows of the source that are there; vectors have entries for these only
        self._scale: tuple[Array, Array] | None = None  # what is taken from the columns, and what they are divided by
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

    def parts(self, chunks: Sequence[int] | None = None) -> Iterator[InMemory]:
        """All rows, some at a time and in their order; not to be used after the next are asked for."""
        with self._read(range(len(self._sizes)) if chunks is None else chunks) as found:
            for _number, part in found:
                yield part

    @contextmanager
    def _read(self, chunks: Sequence[int]) -> Iterator[Iterator[tuple[int, InMemory]]]:
        """Numbers and rows of these chunks; those without rows are left out."""
        wanted = [chunk for chunk in chunks if self._sizes[chunk]]
        with read_ahead(self.source.read(wanted), _AHEAD) as found:
            yield self._walk(wanted, found)

    def _walk(self, wanted: Sequence[int], found: Iterator[Any]) -> Iterator[tuple[int, InMemory]]:
        watcher, seen = self.settings.watcher, int(self._sizes[: wanted[0]].sum()) if wanted else 0
        if watcher is not None:
            watcher.begin()
        for number, rows in zip(wanted, found, strict=True):
            yield number, self._part(number, self._as_seen(number, rows))
            self.source.give_back(rows)
            seen += int(self._sizes[number])
            if watcher is not None:
                watcher.tell(seen, self.n_rows)

    def _as_seen(self, number: int, rows: Any) -> Any:
        """Rows of the source without those that are not there, in the units of the design."""
        rows = rows if self._keep is None else rows[self._keep.piece(number)]
        return rows if self._scale is None else (rows - self._scale[0]) / self._scale[1]

    def _part(self, number: int, rows: Any) -> InMemory:
        vectors = {name: vector.piece(number) for name, vector in self._vectors.items()}
        return InMemory(rows, vectors.pop("y"), None, self.one_target, self.names, vectors)

    def _without_rows(self) -> Iterator[tuple[int, InMemory]]:
        """For statistics that read vectors only: nothing is read, and who looks at rows nevertheless finds NaN."""
        nothing = np.array(np.nan, dtype=self.dtype)
        for number, size in enumerate(self._sizes.tolist()):
            if size:
                yield number, self._part(number, np.broadcast_to(nothing, (size, self.n_columns)))

    @contextmanager
    def _parts_for(self, statistic: Any, first: int = 0) -> Iterator[Iterator[tuple[int, InMemory]]]:
        if not getattr(statistic, "reads_rows", True):
            yield self._without_rows()
            return
        with self._read(range(first, len(self._sizes))) as found:
            yield found

    def fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        if self.settings.checkpoint is not None and getattr(statistic, "reads_rows", True):
            return self._saved_fold(statistic, combine)
        total: Sums | None = None
        with self._parts_for(statistic) as parts:
            for _number, part in parts:
                sums = part.fold(statistic, combine)
                total = sums if total is None else combine(total, sums)
        assert total is not None  # a design has rows
        return total

    def _saved_fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums]) -> Sums:
        """The same, with what is found in the checkpoint and what is put there."""
        checkpoint = self.settings.checkpoint
        assert checkpoint is not None
        key = blake2b(self._digest + joblib.hash((statistic, combine)).encode(), digest_size=16).digest()
        done, total = checkpoint.find(key)
        if total is not None and done == len(self._sizes):
            return total
        with self._parts_for(statistic, done) as parts:
            for number, part in parts:
                sums = part.fold(statistic, combine)
                total = sums if total is None else combine(total, sums)
                if checkpoint.is_due:
                    checkpoint.save(key, number + 1, total)
        assert total is not None
        checkpoint.save(key, len(self._sizes), total)
        return total

    @cached_property
    def _digest(self) -> bytes:
        """Of everything that a sum depends on, but for the statistic."""
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
        total: Sums | None = None
        kept: dict[str, StoredVector] = {}
        with self._parts_for(statistic) as parts:
            for number, part in parts:
                sums, vectors = part.fold_and_map(statistic, combine)
                total = sums if total is None else combine(total, sums)
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
        """The rows where the masks of the chunks are true, still to be read in every pass."""
        vectors = {
            name: StoredVector.of(
                (piece[mask] for piece, mask in zip(self._pieces(name), masks, strict=True)), self._vector_limit
            )
            for name in self._vectors
        }
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        changed.__dict__.pop("_digest", None)
        changed._vectors, changed._keep = vectors, StoredVector.of(self._within_source(masks), self._vector_limit)
        changed._sizes = np.array([int(mask.sum()) for mask in masks], dtype=np.int64)
        changed.n_rows = int(changed._sizes.sum())
        return changed

    def scaled(self, shift: Array, scale: Array) -> Self:
        """The rows with (x − shift)/scale in the place of x, of dense rows."""
        changed = self.with_vectors()
        changed._scale, changed.dtype = (shift, scale), np.dtype(np.float64)
        return changed

    def _within_source(self, masks: Sequence[Array]) -> Iterator[Array]:
        """Masks of the rows that are there as masks of the source's rows."""
        for number, mask in enumerate(masks):
            if self._keep is None:
                yield mask
            else:
                there = self._keep.piece(number).copy()
                there[there] = mask
                yield there

    def sample(self, size: int, seed: int = 0) -> InMemory:
        rows = np.arange(self.n_rows)
        if size < self.n_rows:
            rows = np.sort(np.random.default_rng(seed).choice(self.n_rows, size, replace=False, shuffle=False))
        return self._taken(np.split(rows, np.searchsorted(rows, np.cumsum(self._sizes)[:-1])))

    def gather(self, mask: RowVector) -> InMemory:
        masks = self._stored("mask", mask)
        starts = np.cumsum(self._sizes) - self._sizes
        return self._taken([np.flatnonzero(masks.piece(k)) + start for k, start in enumerate(starts)])

    def _taken(self, rows: Sequence[Array]) -> InMemory:
        """Rows with these numbers, given for each chunk, on the host."""
        self._refuse_too_many(sum(map(len, rows)))
        starts = np.cumsum(self._sizes) - self._sizes
        numbers = self._vectors.get("row")
        found = []
        with self._read([number for number, some in enumerate(rows) if len(some)]) as parts:
            for number, part in parts:
                chosen = rows[number] - starts[number]
                if numbers is None:
                    part = part.with_vectors(row=self._numbers_of(number))
                found.append(part.subset(chosen))
        if not found:
            nothing = self._part(0, self._no_rows())
            return nothing.with_vectors(row=np.empty(0, dtype=np.int64)).subset(slice(0, 0))
        return _joined(found)

    def _numbers_of(self, number: int) -> Array:
        """Numbers of the rows of a chunk in the source."""
        start = int(self.source.sizes[:number].sum())
        if self._keep is None:
            return np.arange(start, start + self._sizes[number])
        return start + np.flatnonzero(self._keep.piece(number))

    def _no_rows(self) -> Any:
        shape = (int(self._sizes[0]), self.n_columns)
        return csr_array(shape, dtype=self.dtype) if self.is_sparse else np.empty(shape, dtype=self.dtype)

    def _refuse_too_many(self, n_rows: int) -> None:
        size = n_rows * self.n_columns * self.density * (self.dtype.itemsize + (4 if self.is_sparse else 0))
        if size > self.settings.memory and n_rows > 1:
            raise NotAvailable(
                "This fit needs {n_taken:,} of {n_rows:,} rows in memory ({size:.0f} MB), and a stream holds at most "
                "{memory:.0f} MB. Raise memory in scan, or choose a model that only needs sums of rows: least squares, "
                "ridge, logistic regression, linear discriminants.",
                n_taken=n_rows,
                n_rows=self.n_rows,
                size=size / 2**20,
                memory=self.settings.memory / 2**20,
            )


def _joined(parts: Sequence[InMemory]) -> InMemory:
    """The rows of several designs, with their vectors."""
    arrays = [part.as_held() for part in parts]
    rows = csr_array(vstack(arrays)) if parts[0].is_sparse else np.concatenate(arrays)
    vectors = {name: np.concatenate([part.vectors[name] for part in parts]) for name in parts[0].vectors}
    return InMemory(rows, vectors.pop("y"), None, parts[0].one_target, parts[0].names, vectors)
