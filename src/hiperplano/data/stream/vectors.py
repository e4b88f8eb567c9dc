"""Row vectors of a stream: one piece for each chunk, in memory or, if they are long, in a temporary file."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.block import Array


class _Place(NamedTuple):
    """Position of a piece in the file, and its type."""

    offset: int
    shape: tuple[int, ...]
    stored: np.dtype[Any]
    dtype: np.dtype[Any]


class StoredVector:
    """A row vector in pieces. It can be passed to a design, but not be used in computations directly.

    Integers are stored in the shortest type that holds them: class codes, and ±1.0 for two classes, take one byte per
    row.

    Parameters
    ----------
    limit : int
        Size above which pieces are stored in a temporary file, which is deleted with the vector.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._pieces: list[tuple[Array, np.dtype[Any]] | _Place] = []
        self._file: Any = None
        self._access = Lock()

    @classmethod
    def of(cls, pieces: Iterable[Array], limit: int) -> StoredVector:
        """Build from all pieces."""
        vector = cls(limit)
        for piece in pieces:
            vector.append(piece)
        return vector

    def append(self, piece: Array) -> None:
        """Add the piece of the next chunk, which is copied."""
        dtype = piece.dtype
        short = np.array(piece, dtype=_shortest(piece), order="C")
        if self._held + short.nbytes <= self._limit or dtype.hasobject:
            self._held += short.nbytes
            self._pieces.append((short, dtype))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="hiperplano-")  # noqa: SIM115  it lives as long as the vector
            weakref.finalize(self, self._file.close)
        offset = self._file.seek(0, 2)
        self._file.write(short.data if short.size else b"")
        self._pieces.append(_Place(offset, short.shape, short.dtype, dtype))

    def at(self, places: Array, sizes: Array) -> Array:
        """The values at these ascending row positions, for pieces of these sizes."""
        ends = np.cumsum(sizes)
        shares = np.split(places, np.searchsorted(places, ends[:-1]))
        found = [self.piece(k)[some - (ends[k] - sizes[k])] for k, some in enumerate(shares) if len(some)]
        return np.concatenate(found) if found else self.piece(0)[:0]

    def in_pieces(self, sizes: Sequence[int]) -> StoredVector:
        """The same values in pieces of other sizes."""
        found, waiting, chunk = StoredVector(self._limit), self.piece(0)[:0], 0
        for size in sizes:
            while len(waiting) < size:
                waiting, chunk = np.concatenate([waiting, self.piece(chunk)]), chunk + 1
            found.append(waiting[:size])
            waiting = waiting[size:]
        return found

    def piece(self, chunk: int) -> Array:
        """The values of a chunk's rows; read-only."""
        found = self._pieces[chunk]
        if not isinstance(found, _Place):
            return found[0].astype(found[1], copy=False)
        values = np.empty(found.shape, dtype=found.stored)
        with self._access:  # reading moves the shared file position
            self._file.seek(found.offset)
            self._file.readinto(values.reshape(-1).view(np.uint8)) if values.size else None
        return values.astype(found.dtype, copy=False)

    def __len__(self) -> int:
        """Number of pieces."""
        return len(self._pieces)

    def __array__(self, *_args: Any, **_kwargs: Any) -> Array:
        raise TypeError("a row vector is opaque: hand it to with_vectors, gather or collect")

    @cached_property
    def digest(self) -> bytes:
        """Equal for the same values in the same pieces."""
        found = blake2b(digest_size=16)
        for chunk in range(len(self)):
            piece = self.piece(chunk)
            found.update(repr((piece.dtype.str, piece.shape)).encode())
            found.update(repr(piece.tolist()).encode() if piece.dtype.hasobject else np.ascontiguousarray(piece).data)
        return found.digest()


def _shortest(values: Array) -> np.dtype[Any]:
    """The shortest type that holds the values without change."""
    if not values.size:
        return values.dtype
    if values.dtype.kind == "f":
        return np.dtype(np.int8) if _are_small_integers(values) else values.dtype
    if values.dtype.kind not in "iu":
        return values.dtype
    low, high = int(values.min()), int(values.max())
    types = (np.uint8, np.uint16, np.uint32) if low >= 0 else (np.int8, np.int16, np.int32)
    for kind in types:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return np.dtype(kind)
    return values.dtype


def _are_small_integers(values: Array) -> bool:
    """Whether int8 holds all values; −0.0 does not fit."""
    if not np.abs(values).max() <= np.iinfo(np.int8).max:  # also excludes NaN
        return False
    short = values.astype(np.int8)
    return bool((short == values).all() and not np.signbit(values[short == 0]).any())
