"""Positive semidefinite matrices in integers: half the memory of float64, with 31 binary digits."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.tiles.loops import round_to_integers
from hiperplano.linalg.tiles.product import symmetric_product
from hiperplano.linalg.tiles.symmetric import SymmetricTiles


class FixedPointTiles:
    """A copy of a positive semidefinite matrix for products with a few vectors, which are held up by reading it.

    An entry is at most the root of the product of its two diagonal entries. Over these roots it lies between -1 and 1,
    and a fixed point leaves it all digits of an integer of 32 bits: float32 has 24. The diagonal stays as it is.
    """

    def __init__(self, tiles: SymmetricTiles) -> None:
        self._diagonal = tiles.diagonal()
        root = np.sqrt(np.where(self._diagonal > 0, self._diagonal, 1.0))
        self._unit = root / np.sqrt(float(np.iinfo(np.int32).max))
        over = 1.0 / self._unit

        def write(i: int, j: int, out: Array) -> None:
            round_to_integers(tiles.tile(i, j), over[tiles.cuts[i]], over[tiles.cuts[j]], out)
            if i == j:
                np.fill_diagonal(out, 0)

        self._integers = tiles.like(np.int32, write)

    def dot(self, right: Array, there: Array | None = None) -> Array:
        """The matrix times `right`, of shape (n, k) with k few, as `symmetric_product`."""
        unit = self._unit[:, None]
        sums = symmetric_product(self._integers.cuts, self._integers.tile, unit * right, there)
        return np.asarray(unit * sums + self._diagonal[:, None] * right)
