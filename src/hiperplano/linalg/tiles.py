"""Symmetric matrices of many rows in square tiles: half the memory, products and Cholesky factors in threads.

Every tile is the work of one thread and sums are made in a fixed order, so the number of threads does not change a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from operator import iadd

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cholesky, solve_triangular

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads, ordered_reduce, worker_count
from hiperplano.linalg.tile_loops import add_both_products

_TILE = 1024  # rows and columns: long enough that BLAS reads a tile at the speed of the memory
_LARGE = 2**18  # cells beyond which a second thread pays
_FEW = 12  # columns for which BLAS would be held up by reading the matrix


def cuts(n: int, borders: Array | None = None) -> list[slice]:
    """Where the rows of a matrix are cut: at the borders, from 0 to n, and between them where it is far."""
    found = []
    for start, stop in pairwise([0, n] if borders is None else borders.tolist()):
        step = _TILE if borders is None else -(-(stop - start) // -(-(stop - start) // _TILE))
        found += [slice(each, min(each + step, stop)) for each in range(start, stop, step)]
    return found


def symmetric_product(
    parts: list[slice], tile: Callable[[int, int], Array], right: Array, there: Array | None = None
) -> Array:
    """matrix·right, for a symmetric matrix whose tiles on and below the diagonal are asked for one by one.

    Parameters
    ----------
    parts : list of slice
        Where the rows are cut.
    tile : callable
        From the numbers of two cuts, the first not below the second, to the tile.
    right : ndarray of shape (n,) or (n, k)
    there : ndarray of bool of shape (cuts, k), optional
        Where columns are not 0, and are asked for: elsewhere the product is 0.
    """
    n, k = len(right), 1 if right.ndim == 1 else right.shape[1]
    there = np.ones((len(parts), k), dtype=bool) if there is None else there
    chosen = [[np.flatnonzero(there[i] & there[j]) for j in range(i + 1)] for i in range(len(parts))]
    turned = np.ascontiguousarray(right.T).reshape(-1, n)

    def thin_panel(i: int) -> Array:
        found = np.zeros(turned.shape, dtype=right.dtype)
        for j, mine in enumerate(chosen[i]):
            add_both_products(tile(i, j), turned, found, mine, parts[i].start, parts[j].start)
        return found

    def panel(i: int) -> Array:
        found = np.zeros(right.shape, dtype=right.dtype)
        for j, numbers in enumerate(chosen[i]):
            values, mine = tile(i, j), _run(numbers)
            found[parts[i], mine] += values @ right[parts[j], mine]
            if i != j:
                found[parts[j], mine] += values.T @ right[parts[i], mine]
        return found

    order = range(len(parts) - 1, -1, -1)  # the longest panels first, so that threads end together
    workers = worker_count() if n * n >= _LARGE else 1
    if k <= _FEW:
        return ordered_reduce(thin_panel, order, iadd, workers).T.reshape(right.shape)
    return ordered_reduce(panel, order, iadd, workers)


def _run(rows: Array) -> Array | slice:
    """Numbers without a gap as a slice, which is copied several times as fast."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


class SymmetricTiles:
    """The lower half of a symmetric matrix.

    Parameters
    ----------
    n : int
        Rows.
    dtype : dtype
    fill : callable
        Writes the entries of some rows and columns, two slices, into an array.
    borders : ndarray of int, optional
        Where to cut the rows in any case, from 0 to n.
    """

    def __init__(
        self, n: int, dtype: object, fill: Callable[[slice, slice, Array], None], borders: Array | None = None
    ) -> None:
        self.n, self.dtype = n, np.dtype(dtype)  # type: ignore[call-overload]
        self.cuts = cuts(n, borders)
        sizes = [each.stop - each.start for each in self.cuts]
        places = [(i, j) for i in range(len(self.cuts)) for j in range(i + 1)]
        ends = np.cumsum([sizes[i] * sizes[j] for i, j in places])
        values = np.empty(ends[-1], self.dtype)  # one array: the system gives it large pages
        self._tiles = {
            (i, j): values[end - sizes[i] * sizes[j] : end].reshape(sizes[i], sizes[j])
            for (i, j), end in zip(places, ends.tolist(), strict=True)
        }
        in_threads(lambda at: fill(self.cuts[at[0]], self.cuts[at[1]], self._tiles[at]), places, n * n)

    def tile(self, i: int, j: int) -> Array:
        """Of two cuts, the first not below the second."""
        return self._tiles[i, j]

    def astype(self, dtype: type) -> SymmetricTiles:
        """A copy, in any precision."""
        number = {each.start: place for place, each in enumerate(self.cuts)}

        def fill(rows: slice, columns: slice, out: Array) -> None:
            out[...] = self._tiles[number[rows.start], number[columns.start]]

        return SymmetricTiles(self.n, dtype, fill, np.array([0, *(each.stop for each in self.cuts)]))

    @cached_property
    def single(self) -> SymmetricTiles:
        """The same in float32."""
        return self.astype(np.float32)

    def dot(self, right: Array, there: Array | None = None) -> Array:
        """The matrix times `right`, of shape (n,) or (n, k), in its own precision, as `symmetric_product`."""
        return symmetric_product(self.cuts, self.tile, right.astype(self.dtype, copy=False), there)

    def part(self, rows: Array) -> Array:
        """The matrix of some rows, in increasing order, and the same columns."""
        found = np.empty((len(rows), len(rows)), self.dtype)
        borders = np.searchsorted(rows, [0, *(each.stop for each in self.cuts)])
        mine = [slice(*ends) for ends in pairwise(borders.tolist())]
        for (i, j), tile in self._tiles.items():
            values = tile[_run(rows[mine[i]] - self.cuts[i].start)][:, _run(rows[mine[j]] - self.cuts[j].start)]
            found[mine[i], mine[j]] = values
            found[mine[j], mine[i]] = values.T
        return found

    def add_to_diagonal(self, values: Array | float) -> None:
        """Add to the diagonal in place."""
        values = np.broadcast_to(np.asarray(values, dtype=self.dtype), (self.n,))
        for number, rows in enumerate(self.cuts):
            tile = self._tiles[number, number]
            tile[np.diag_indices(len(tile))] += values[rows]

    def factor(self) -> TriangularTiles:
        """The Cholesky factor, made in place: the matrix is gone.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the matrix is not positive definite.
        """
        tiles, count = self._tiles, len(self.cuts)
        for k in range(count):
            tiles[k, k] = corner = cholesky(tiles[k, k], lower=True, check_finite=False)

            def divide(i: int, k: int = k, corner: Array = corner) -> None:
                tiles[i, k] = np.ascontiguousarray(
                    solve_triangular(corner, tiles[i, k].T, lower=True, check_finite=False).T
                )

            def subtract(place: tuple[int, int], k: int = k) -> None:
                i, j = place
                tiles[place] -= tiles[i, k] @ tiles[j, k].T

            cells = (self.n - self.cuts[k].start) ** 2
            in_threads(divide, range(k + 1, count), cells)
            in_threads(subtract, [(i, j) for i in range(k + 1, count) for j in range(k + 1, i + 1)], cells)
        return TriangularTiles(self)


class TriangularTiles:
    """A lower Cholesky factor L in tiles, as `SymmetricTiles.factor` makes it."""

    def __init__(self, made: SymmetricTiles) -> None:
        self._cuts, self._tile = made.cuts, made.tile

    def solve(self, right: Array) -> Array:
        """(L·Lᵀ)⁻¹·right, for `right` of shape (n,) or (n, k)."""
        return self.backward(self.forward(right))

    def forward(self, right: Array) -> Array:
        """L⁻¹·right."""
        found = np.array(right, dtype=np.float64)
        for i, rows in enumerate(self._cuts):
            for j in range(i):
                found[rows] -= self._tile(i, j) @ found[self._cuts[j]]
            found[rows] = solve_triangular(self._tile(i, i), found[rows], lower=True, check_finite=False)
        return found

    def backward(self, right: Array) -> Array:
        """L⁻ᵀ·right."""
        found = np.array(right, dtype=np.float64)
        for i in range(len(self._cuts) - 1, -1, -1):
            rows = self._cuts[i]
            for j in range(i + 1, len(self._cuts)):
                found[rows] -= self._tile(j, i).T @ found[self._cuts[j]]
            found[rows] = solve_triangular(self._tile(i, i), found[rows], lower=True, trans=1, check_finite=False)
        return found


__all__ = ["LinAlgError", "SymmetricTiles", "TriangularTiles", "cuts", "symmetric_product"]
