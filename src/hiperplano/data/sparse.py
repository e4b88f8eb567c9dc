"""Rows of a SciPy CSR array."""

from __future__ import annotations

from typing import Any

from hiperplano.data.design import Array, Design

_BLOCK_ENTRIES = 2**19
_DENSE_CELLS = 2**21  # a block must be small enough to be made dense
_FEWEST_ROWS = 256
_MOST_ROWS = 2**15


class SparseDesign(Design):
    """Rows of a CSR array with sorted, unique column numbers."""

    @property
    def density(self) -> float:
        """Share of entries that are stored."""
        return float(self.x.nnz) / max(1, self.n_rows * self.n_columns)

    def block_rows(self) -> int:
        by_entries = int(_BLOCK_ENTRIES * self.n_rows / max(1, self.x.nnz))
        by_cells = _DENSE_CELLS // max(1, self.n_columns)
        return min(_MOST_ROWS, max(_FEWEST_ROWS, min(by_entries, by_cells) if by_cells > _FEWEST_ROWS else by_entries))

    def _slice(self, rows: slice) -> Any:
        # Slicing or constructing through SciPy would copy and check; these are views but for the row pointer.
        first, last = self.x.indptr[rows.start], self.x.indptr[rows.stop]
        part = type(self.x)((rows.stop - rows.start, self.n_columns), dtype=self.x.dtype)
        part.data, part.indices = self.x.data[first:last], self.x.indices[first:last]
        part.indptr = self.x.indptr[rows.start : rows.stop + 1] - first
        part.has_canonical_format = True
        return part

    def take(self, rows: Array | slice) -> Any:
        return self.x[rows]
