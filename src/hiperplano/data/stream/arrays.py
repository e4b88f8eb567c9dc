"""A source of arrays: a function that yields the same blocks at each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from hiperplano.data.block import Array
from hiperplano.data.stream.design import Stream
from hiperplano.data.stream.settings import Settings
from hiperplano.data.stream.source import Source
from hiperplano.data.stream.vectors import StoredVector
from hiperplano.data.validate import refuse_no_weight, weights_of_some
from hiperplano.errors import InvalidData
from hiperplano.messages import Message

Blocks = Callable[[], Iterable[Any]]


class ArraySource(Source):
    """Blocks of arrays from a function that can be called repeatedly.

    Parameters
    ----------
    blocks : callable, () -> iterable
        Yields X, (X, y) or (X, y, weight), with X an array or a SciPy sparse matrix of shape (m, d).
    names : sequence of str, optional
        Names of the columns.
    """

    def __init__(self, blocks: Blocks, names: Sequence[str] | None = None) -> None:
        self._blocks = blocks
        self.names = None if names is None else np.asarray(names, dtype=object)
        self.sizes = np.empty(0, dtype=np.int64)

    def learn(self, settings: Settings) -> dict[str, StoredVector]:
        """Read all blocks once, for their sizes and the row vectors that come with them."""
        sizes: list[int] = []
        vectors: dict[str, StoredVector] = {}
        kinds: list[np.dtype[Any]] = []
        entries = 0
        digest = blake2b(digest_size=16)
        for number, (rows, y, weight) in enumerate(map(_parted, self._blocks())):
            rows = self._checked(number, rows, first=not sizes)
            pieces = {"y": _target(number, len_of(rows), y), "weight": _weights(weight, len_of(rows))}
            if number and set(vectors) != {name for name, piece in pieces.items() if piece is not None}:
                raise InvalidData("Block {block} of the rows {rule}.", block=number, rule=_SAME_PARTS)
            for name, piece in pieces.items():
                if piece is not None:
                    vectors.setdefault(name, StoredVector(settings.memory // 4)).append(piece)
            if settings.checkpoint is not None:
                for array in (rows.data, rows.indices, rows.indptr) if self.is_sparse else (rows,):
                    digest.update(np.ascontiguousarray(array).data)
            kinds.append(rows.dtype)
            sizes.append(len_of(rows))
            entries += rows.nnz if self.is_sparse else rows.size
        self.sizes = np.array(sizes, dtype=np.int64)
        if not self.sizes.sum():
            raise InvalidData("The blocks hold no rows; a fit needs some. Check what the function yields.")
        if "weight" in vectors:
            refuse_no_weight(any(vectors["weight"].piece(k).any() for k in range(len(sizes))), int(self.sizes.sum()))
        self.dtype = np.result_type(*kinds)
        self.density = entries / max(1, int(self.sizes.sum()) * self.n_columns) if self.is_sparse else 1.0
        self.fingerprint = f"{digest.hexdigest()} {sizes}"
        return vectors

    def read(self, chunks: Sequence[int]) -> Iterator[Any]:
        wanted = set(chunks)
        seen = -1
        for seen, given in enumerate(self._blocks()):
            if seen not in wanted:
                continue
            rows = self._checked(seen, _parted(given)[0], first=False).astype(self.dtype, copy=False)
            if seen >= len(self.sizes) or len_of(rows) != self.sizes[seen]:
                raise self._changed(seen, len_of(rows))
            yield rows
            if seen == chunks[-1]:
                return
        if chunks and seen < chunks[-1]:
            raise self._changed(seen + 1, 0)

    def give_back(self, rows: Any) -> None:
        """Do nothing: the arrays belong to the function."""

    def place(self, chunk: int, row: int) -> str:
        return Message("{row} of block {block}", row=row, block=chunk)

    def _checked(self, number: int, rows: Any, first: bool) -> Any:
        """Rows as CSR or as an array of floats, with the same number of columns as the first block."""
        if issparse(rows):
            rows = csr_array(rows)
            rows.sum_duplicates()
        else:
            rows = np.asarray(rows)
        if rows.ndim != 2 or rows.dtype.kind not in "fiub":
            raise InvalidData(
                "Block {block} of the rows has shape {shape} and type {dtype}; numbers of shape (rows, columns) are "
                "needed. Convert them in the function.",
                block=number,
                shape=rows.shape,
                dtype=str(rows.dtype),
            )
        if first:
            self.n_columns, self.is_sparse = rows.shape[1], issparse(rows)
        if rows.shape[1] != self.n_columns or issparse(rows) != self.is_sparse:
            raise InvalidData(
                "Block {block} of the rows has {columns} columns ({kind}), and the first has {expected} ({first}); all "
                "must be alike. Check what the function yields.",
                block=number,
                columns=rows.shape[1],
                kind=_kind(issparse(rows)),
                expected=self.n_columns,
                first=_kind(self.is_sparse),
            )
        return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)

    def _changed(self, number: int, found: int) -> InvalidData:
        expected = int(self.sizes[number]) if number < len(self.sizes) else 0
        return InvalidData(
            "Block {block} has {found} rows, and had {expected} in the first pass; every pass must see the same rows. "
            "Let the function yield the same blocks whenever it is called.",
            block=number,
            found=found,
            expected=expected,
        )


_SAME_PARTS = Message("come with other parts than the first; each must be X, (X, y) or (X, y, weight), all alike")


def stream_of_arrays(blocks: Blocks, settings: Settings | None = None, names: Sequence[str] | None = None) -> Stream:
    """The design of the blocks that a function yields."""
    settings = settings or Settings()
    source = ArraySource(blocks, names)
    vectors = source.learn(settings)
    one_target = vectors["y"].piece(0).ndim == 1
    return Stream(source, {**vectors, "y": _in_columns(vectors["y"], settings)}, one_target, settings)


def _in_columns(vector: StoredVector, settings: Settings) -> StoredVector:
    if vector.piece(0).ndim == 2:
        return vector
    return StoredVector.of((vector.piece(k)[:, None] for k in range(len(vector))), settings.memory // 4)


def len_of(rows: Any) -> int:
    """Number of rows of an array or a CSR array."""
    return int(rows.shape[0])


def _parted(given: Any) -> tuple[Any, Any, Any]:
    """Rows, targets and weights of a yielded block."""
    parts = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(parts) <= 3:
        raise InvalidData("A block of rows {rule}.", rule=_SAME_PARTS)
    return (*parts, *(None,) * (3 - len(parts)))


def _weights(weight: Any, n_rows: int) -> Array | None:
    return None if weight is None else weights_of_some(weight, n_rows)


def _target(number: int, n_rows: int, y: Any) -> Array:
    if y is None:
        return np.empty((n_rows, 0))
    found = np.asarray(y)
    if found.ndim not in (1, 2) or len(found) != n_rows:
        raise InvalidData(
            "Block {block} has {n_rows} rows and a target of shape {shape}; one target for each row is needed. Check "
            "what the function yields.",
            block=number,
            n_rows=n_rows,
            shape=found.shape,
        )
    return found


def _kind(sparse: bool) -> Message:
    return Message("sparse") if sparse else Message("dense")
