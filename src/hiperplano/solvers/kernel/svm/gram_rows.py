"""Rows of a Gram matrix: in memory, in a cache of bounded size, or computed on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.kernels import KernelMatrix
from hiperplano.kernels.matrix import cut
from hiperplano.solvers.kernel.svm.gram_loops import add_rows, gather, put_tile

TILE = 384  # rows and columns of a tile, which should stay in a core's cache while it is filled and used
_SUMMED = 4096  # columns of the Gram matrix that one task sums
SMALL = 1024  # up to this number of rows, the whole Gram matrix costs almost nothing


class GramRows(Protocol):
    """Interface to parts of a symmetric Gram matrix.

    Attributes
    ----------
    n : int
    diagonal : ndarray of shape (n,)
        In float64.
    large : int
        Size of a working set above which all rows cost no more.
    rounded : bool
        Whether values were computed in float64, and possibly rounded. Values computed in float32 have larger errors.
    in_parts : bool
        Whether a product for some rows costs proportionally less, and the matrix is known to be positive semidefinite.
    """

    n: int
    diagonal: Array
    large: int
    rounded: bool
    in_parts: bool

    def block(self, rows: Array) -> Array:
        """The Gram matrix of some rows."""

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        """Σⱼ Kᵢⱼ·factorⱼ over some columns, for some rows; for every row if None."""


class HeldGram:
    """A whole Gram matrix in memory.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Values computed in float64.
    """

    rounded, in_parts = True, False

    def __init__(self, gram: Array) -> None:
        self.gram, self.n = gram, len(gram)
        self.large = self.n // 2  # using all rows needs no copy
        self.diagonal = gram.diagonal().astype(np.float64)

    def block(self, rows: Array) -> Array:
        if len(rows) == self.n:  # rows are sorted, so these are all rows in order
            return self.gram
        found = np.empty((len(rows), len(rows)), self.gram.dtype)
        gather(self.gram, rows, rows, found)
        return found

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        return of_rows(sum_of_rows(self.gram, columns, factors), rows)


class ComputedGram:
    """Kernel values computed tile by tile in threads, and not stored.

    Parameters
    ----------
    matrix : KernelMatrix
        Kernel matrix of all rows with each other.
    diagonal : ndarray of shape (n,)
    """

    def __init__(self, matrix: KernelMatrix, diagonal: Array) -> None:
        self.matrix, self.n, self.diagonal = matrix, matrix.shape[0], diagonal
        self.large, self.rounded = self.n, matrix.dtype == np.float64
        self.in_parts = matrix.kernel.positive_definite

    def block(self, rows: Array) -> Array:
        found = np.empty((len(rows), len(rows)), self.matrix.dtype)
        self.fill_block(rows, found)
        return found

    def fill_block(self, rows: Array, found: Array) -> None:
        """Write the Gram matrix of some rows into the beginning of an array."""
        m = len(rows)
        left, right = cut(self.matrix.left, rows), cut(self.matrix.right, rows)

        def fill(start: int) -> None:
            columns = slice(start, min(start + TILE, m))
            z = cut(right, columns)
            for first in range(start, m, TILE):  # the matrix is symmetric, so half of the tiles are computed
                chosen = slice(first, min(first + TILE, m))
                tile = np.empty((chosen.stop - first, columns.stop - start), self.matrix.dtype)
                self.matrix.kernel.fill(cut(left, chosen), z, tile)
                found[columns, chosen] = tile.T
                found[chosen, columns] = tile

        in_threads(fill, range(0, m, TILE), m * m)

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        size = float(np.abs(factors).max(initial=0.0)) or 1.0  # factors may exceed the range of float32
        found, rounded = np.zeros(self.n if rows is None else len(rows)), (factors / size).astype(self.matrix.dtype)

        def add(which: Array, part: slice, tile: Array) -> None:
            found[part] += rounded[which] @ tile

        self.tiles(columns, rows, add)
        return found * size

    def tiles(self, rows: Array, columns: Array | None, use: Callable[[Array, slice, Array], None]) -> None:
        """Compute the values of rows with columns (all if None), and call `use` on each tile.

        Tiles of the same columns are used by one thread at a time, in the order of their rows.
        """
        left, right = cut(self.matrix.left, rows), self.matrix.right
        if columns is not None:
            right = cut(right, columns)
        n_columns = self.n if columns is None else len(columns)

        def fill(start: int) -> None:
            part = slice(start, min(start + TILE, n_columns))
            z = cut(right, part)
            for first in range(0, len(rows), TILE):
                which = np.arange(first, min(first + TILE, len(rows)))
                tile = np.empty((len(which), part.stop - start), self.matrix.dtype)
                self.matrix.kernel.fill(cut(left, slice(first, first + TILE)), z, tile)
                use(which, part, tile)

        in_threads(fill, range(0, n_columns, TILE), len(rows) * n_columns)


class CachedGram(ComputedGram):
    """Computed kernel values with a least-recently-used cache of rows, up to a number of bytes.

    Attributes
    ----------
    held : ndarray of shape (slots, n)
        Rows of the Gram matrix.
    slot_of : ndarray of int of shape (n,)
        Slot of each row; −1 if it is not cached.
    """

    def __init__(self, matrix: KernelMatrix, diagonal: Array, n_bytes: int) -> None:
        super().__init__(matrix, diagonal)
        self.in_parts = False  # the cache holds whole rows
        room = min(self.n, max(1, n_bytes // (self.n * matrix.dtype.itemsize)))
        self.held = np.empty((room, self.n), matrix.dtype)
        self._row_in, self._used = np.full(room, -1), np.zeros(room, dtype=np.int64)
        self.slot_of, self._clock = np.full(self.n, -1), 0

    def fill_block(self, rows: Array, found: Array) -> None:
        def put(which: Array, part: slice, tile: Array) -> None:
            found[which, part] = tile

        self.tiles(rows, rows, put)

    def tiles(self, rows: Array, columns: Array | None, use: Callable[[Array, slice, Array], None]) -> None:
        every = np.arange(self.n) if columns is None else columns
        slots = self.slot_of[rows]
        held, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)

        def copy(start: int) -> None:
            part = slice(start, min(start + TILE, len(every)))
            for first in range(0, len(held), TILE):
                which = held[first : first + TILE]
                tile = np.empty((len(which), part.stop - start), self.matrix.dtype)
                gather(self.held, slots[which], every[part], tile)
                use(which, part, tile)

        in_threads(copy, range(0, len(every), TILE), len(held) * len(every))
        super().tiles(rows[missing], columns, lambda which, part, tile: use(missing[which], part, tile))

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        found, room = np.zeros(self.n), len(self.held)
        if not room:
            return super().times(columns, factors, rows)
        for start in range(0, len(columns), room):
            part = slice(start, start + room)
            found += sum_of_rows(self.held, self.hold(columns[part]), factors[part])
        return of_rows(found, rows)

    def release(self) -> None:
        """Empty the cache and free its memory."""
        self.held = np.empty((0, self.n), self.matrix.dtype)
        self.slot_of[:] = -1
        self.in_parts = self.matrix.kernel.positive_definite

    def hold(self, rows: Array) -> Array:
        """Load rows into the cache, evicting the least recently used ones; return their slots.

        Parameters
        ----------
        rows : ndarray of int
            Distinct rows, at most as many as there are slots.
        """
        self._clock += 1
        slots = self.slot_of[rows]
        self._used[slots[slots >= 0]] = self._clock
        new = rows[slots < 0]
        if len(new):
            taken = np.argpartition(self._used, len(new) - 1)[: len(new)]
            evicted = self._row_in[taken]
            self.slot_of[evicted[evicted >= 0]] = -1
            self.slot_of[new], self._row_in[taken], self._used[taken] = taken, new, self._clock
            self._compute(new, taken)
        return self.slot_of[rows]

    def _compute(self, rows: Array, slots: Array) -> None:
        def keep(which: Array, part: slice, tile: Array) -> None:
            self.held[slots[which], part] = tile

        super().tiles(rows, None, keep)


class WorkingGram:
    """The Gram matrix of one working set after another.

    Computed values of rows that were also in the previous working set are kept.

    Parameters
    ----------
    limit : int
        Largest size of a working set.
    """

    def __init__(self, source: GramRows, limit: int) -> None:
        self._source, self.limit = source, min(limit, source.n)
        self._values, self._rows = np.empty(0), np.empty(0, dtype=np.int64)

    def of(self, rows: Array) -> tuple[Array, Array]:
        """Rows of the working set in the order of their Gram matrix, and an array that begins with this matrix."""
        source = self._source
        if not isinstance(source, ComputedGram):
            return rows, source.block(rows)
        if not self._values.size:
            self._values = np.empty((self.limit, self.limit), source.matrix.dtype)
        # Rows that stay keep their positions, and new rows take those of rows that leave; positions beyond the new size
        # are dropped.
        order, before = np.full(len(rows), -1), self._rows[: len(rows)]
        stays = np.flatnonzero(np.isin(before, rows))
        order[stays] = before[stays]
        if 2 * len(stays) < len(rows):  # computing the whole symmetric matrix costs less
            self._rows = rows
            source.fill_block(rows, self._values)
            return rows, self._values
        new, kept = np.flatnonzero(order < 0), order >= 0
        order[new] = np.setdiff1d(rows, before[stays])

        def put(which: Array, part: slice, tile: Array) -> None:
            put_tile(self._values, new[which], kept, part.start, tile)

        source.tiles(order[new], order, put)
        self._rows = order
        return order, self._values


def kept_bytes(rows: GramRows | None) -> int:
    """Size of a source's cache in bytes."""
    return rows.held.nbytes if isinstance(rows, CachedGram) else 0


def sum_of_rows(held: Array, slots: Array, factors: Array) -> Array:
    """Σ factor·row over the rows in some slots, computed in threads."""
    found = np.zeros(held.shape[1])

    def add(start: int) -> None:
        add_rows(held, slots, factors, found[start : start + _SUMMED], start)

    in_threads(add, range(0, len(found), _SUMMED), len(slots) * len(found))
    return found


def of_rows(found: Array, rows: Array | None) -> Array:
    """The values of some rows, or all."""
    return found if rows is None else found[rows]
