"""Rows of a NumPy array."""

from __future__ import annotations

from typing import Any

from hiperplano.data.design import Array, Design

# A block and the copies made of it should stay in a core's cache (2**18 doubles are 2 MiB), but hold enough
# rows that a product over it outweighs the addition of its result.
_BLOCK_CELLS = 2**18
_FEWEST_ROWS = 1024
_MOST_ROWS = 2**14


class DenseDesign(Design):
    """Rows of a two-dimensional array, of any memory order and of either float type."""

    def block_rows(self) -> int:
        return min(_MOST_ROWS, max(_FEWEST_ROWS, _BLOCK_CELLS // (self.n_columns + 1)))

    def _slice(self, rows: slice) -> Any:
        return self.x[rows]

    def take(self, rows: Array | slice) -> Any:
        return self.x[rows]
