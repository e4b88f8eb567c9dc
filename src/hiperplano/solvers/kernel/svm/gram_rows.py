"""Rows of a Gram matrix: in memory, kept in a cache of bounded size, or computed when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads
from hiperplano.kernels import KernelMatrix
from hiperplano.kernels.matrix import cut
from hiperplano.solvers.kernel.svm.gram_loops import add_rows, gather

_TILE = 384  # rows and columns of a tile: it should stay in a core's cache while it is filled and used
_SUMMED = 4096  # columns that are summed together
SMALL = 1024  # rows whose whole Gram matrix costs next to nothing


class GramRows(Protocol):
    """A symmetric Gram matrix of which parts can be had.

    Attributes
    ----------
    n : int
    diagonal : ndarray of shape (n,)
        In float64.
    large : int
        Rows of a working set beyond which all of them cost no more.
    rounded : bool
        Whether values are those of float64, rounded at most: those computed in float32 are off by more.
    in_parts : bool
        Whether a product for some rows costs as much less, and the matrix is known to be positive semidefinite.
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
        Of values computed in float64.
    """

    rounded, in_parts = True, False

    def __init__(self, gram: Array) -> None:
        self.gram, self.n = gram, len(gram)
        self.large = self.n // 2  # all rows need no copy
        self.diagonal = gram.diagonal().astype(np.float64)

    def block(self, rows: Array) -> Array:
        if len(rows) == self.n:  # sorted, so it is all of them in their order
            return self.gram
        found = np.empty((len(rows), len(rows)), self.gram.dtype)
        gather(self.gram, rows, rows, found)
        return found

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        return of_rows(sum_of_rows(self.gram, columns, factors), rows)


class ComputedGram:
    """Kernel values computed tile by tile, in threads, and not kept.

    Parameters
    ----------
    matrix : KernelMatrix
        Of all rows with each other.
    diagonal : ndarray of shape (n,)
    """

    def __init__(self, matrix: KernelMatrix, diagonal: Array) -> None:
        self.matrix, self.n, self.diagonal = matrix, matrix.shape[0], diagonal
        self.large, self.rounded = self.n, matrix.dtype == np.float64
        self.in_parts = matrix.kernel.positive_definite

    def block(self, rows: Array) -> Array:
        m = len(rows)
        found = np.empty((m, m), self.matrix.dtype)
        left, right = cut(self.matrix.left, rows), cut(self.matrix.right, rows)

        def fill(start: int) -> None:
            columns = slice(start, min(start + _TILE, m))
            z = cut(right, columns)
            for first in range(start, m, _TILE):  # the other half is the same
                chosen = slice(first, min(first + _TILE, m))
                tile = np.empty((chosen.stop - first, columns.stop - start), self.matrix.dtype)
                self.matrix.kernel.fill(cut(left, chosen), z, tile)
                found[columns, chosen] = tile.T
                found[chosen, columns] = tile

        in_threads(fill, range(0, m, _TILE), m * m)
        return found

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        size = float(np.abs(factors).max(initial=0.0)) or 1.0  # which may be beyond float32
        found, rounded = np.zeros(self.n if rows is None else len(rows)), (factors / size).astype(self.matrix.dtype)

        def add(which: slice, part: slice, tile: Array) -> None:
            found[part] += rounded[which] @ tile

        self._tiles(columns, rows, add)
        return found * size

    def _tiles(self, rows: Array, columns: Array | None, use: Callable[[slice, slice, Array], None]) -> None:
        """Compute the values of rows with columns (all, if None), and have each tile used; no two threads at once use
        tiles of the same columns, and those come in the order of their rows."""
        left, right = cut(self.matrix.left, rows), self.matrix.right
        if columns is not None:
            right = cut(right, columns)
        n_columns = self.n if columns is None else len(columns)

        def fill(start: int) -> None:
            part = slice(start, min(start + _TILE, n_columns))
            z = cut(right, part)
            for first in range(0, len(rows), _TILE):
                chosen = slice(first, min(first + _TILE, len(rows)))
                tile = np.empty((chosen.stop - first, part.stop - start), self.matrix.dtype)
                self.matrix.kernel.fill(cut(left, chosen), z, tile)
                use(chosen, part, tile)

        in_threads(fill, range(0, n_columns, _TILE), len(rows) * n_columns)


class CachedGram(ComputedGram):
    """The same with the rows last used kept, up to a number of bytes.

    Attributes
    ----------
    held : ndarray of shape (slots, n)
        Rows of the Gram matrix.
    slot_of : ndarray of int of shape (n,)
        Where each row is held; −1 if it is not.
    """

    def __init__(self, matrix: KernelMatrix, diagonal: Array, n_bytes: int) -> None:
        super().__init__(matrix, diagonal)
        self.in_parts = False  # rows are kept whole
        room = min(self.n, max(1, n_bytes // (self.n * matrix.dtype.itemsize)))
        self.held = np.empty((room, self.n), matrix.dtype)
        self._row_in, self._used = np.full(room, -1), np.zeros(room, dtype=np.int64)
        self.slot_of, self._clock = np.full(self.n, -1), 0

    def block(self, rows: Array) -> Array:
        found = np.empty((len(rows), len(rows)), self.matrix.dtype)
        slots = self.slot_of[rows]
        gather(self.held, slots, rows, found)
        missing = np.flatnonzero(slots < 0)

        def put(part: slice, columns: slice, tile: Array) -> None:
            found[missing[part], columns] = tile

        self._tiles(rows[missing], rows, put)
        return found

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        found, room = np.zeros(self.n), len(self.held)
        for start in range(0, len(columns), room):
            part = slice(start, start + room)
            found += sum_of_rows(self.held, self.hold(columns[part]), factors[part])
        return of_rows(found, rows)

    def hold(self, rows: Array) -> Array:
        """Where these rows are held, after those that were not have taken the place of the least recently used.

        Parameters
        ----------
        rows : ndarray of int
            No row twice, and no more than there are slots.
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
        def keep(part: slice, columns: slice, tile: Array) -> None:
            self.held[slots[part], columns] = tile

        self._tiles(rows, None, keep)


def sum_of_rows(held: Array, slots: Array, factors: Array) -> Array:
    """Σ factor·row over rows in some slots, in threads."""
    found = np.zeros(held.shape[1])

    def add(start: int) -> None:
        add_rows(held, slots, factors, found[start : start + _SUMMED], start)

    in_threads(add, range(0, len(found), _SUMMED), len(slots) * len(found))
    return found


def of_rows(found: Array, rows: Array | None) -> Array:
    """Some of the values, or all."""
    return found if rows is None else found[rows]
