"""Symmetric matrices in square tiles: half the memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import cholesky, solve_triangular

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.linalg.tiles.product import cuts, run, symmetric_product
from hiperplano.linalg.tiles.triangular import TriangularTiles


class SymmetricTiles:
    """The lower half of a symmetric matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    dtype : dtype
    fill : callable
        Writes the entries of some rows and columns, two slices, into an array.
    borders : ndarray of int, optional
        Required tile borders, from 0 to n.
    """

    def __init__(
        self, n: int, dtype: DTypeLike, fill: Callable[[slice, slice, Array], None], borders: Array | None = None
    ) -> None:
        self.n, self.dtype = n, np.dtype(dtype)
        self.cuts = cuts(n, borders)
        sizes = [each.stop - each.start for each in self.cuts]
        places = [(i, j) for i in range(len(self.cuts)) for j in range(i + 1)]
        ends = np.cumsum([sizes[i] * sizes[j] for i, j in places])
        values = np.empty(ends[-1], self.dtype)  # one array, for which the system uses large pages
        self._tiles = {
            (i, j): values[end - sizes[i] * sizes[j] : end].reshape(sizes[i], sizes[j])
            for (i, j), end in zip(places, ends.tolist(), strict=True)
        }
        in_threads(lambda at: fill(self.cuts[at[0]], self.cuts[at[1]], self._tiles[at]), places, n * n)

    def tile(self, i: int, j: int) -> Array:
        """The tile of two slices, the first not smaller than the second."""
        return self._tiles[i, j]

    def astype(self, dtype: type) -> SymmetricTiles:
        """A copy in another precision."""
        number = {each.start: place for place, each in enumerate(self.cuts)}

        def fill(rows: slice, columns: slice, out: Array) -> None:
            with np.errstate(over="ignore"):  # infinities are found in the first product
                out[...] = self._tiles[number[rows.start], number[columns.start]]

        return SymmetricTiles(self.n, dtype, fill, np.array([0, *(each.stop for each in self.cuts)]))

    @cached_property
    def single(self) -> SymmetricTiles:
        """The same in float32."""
        return self.astype(np.float32)

    def dot(self, right: Array, there: Array | None = None, asked: Array | None = None) -> Array:
        """The matrix times `right`, of shape (n,) or (n, k), in its own precision, as `symmetric_product`."""
        return symmetric_product(self.cuts, self._rows_of_tile, right.astype(self.dtype, copy=False), there, asked)

    def _rows_of_tile(self, i: int, j: int, rows: slice) -> Array:
        start = self.cuts[i].start
        return self._tiles[i, j][rows.start - start : rows.stop - start]

    def lower(self) -> Array:
        """One array with the lower half, and zeros above the tiles on the diagonal."""
        found = np.zeros((self.n, self.n), self.dtype)  # uninitialised memory may hold NaN
        for (i, j), tile in self._tiles.items():
            found[self.cuts[i], self.cuts[j]] = tile
        return found

    def part(self, rows: Array) -> Array:
        """The submatrix of some rows, in increasing order, and the same columns."""
        found = np.empty((len(rows), len(rows)), self.dtype)
        borders = np.searchsorted(rows, [0, *(each.stop for each in self.cuts)])
        mine = [slice(*ends) for ends in pairwise(borders.tolist())]
        for (i, j), tile in self._tiles.items():
            values = tile[run(rows[mine[i]] - self.cuts[i].start)][:, run(rows[mine[j]] - self.cuts[j].start)]
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
        """The Cholesky factor, computed in place, which destroys the matrix.

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
        return TriangularTiles(self.cuts, self.tile)
