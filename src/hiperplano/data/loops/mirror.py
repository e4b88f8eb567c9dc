"""Copies a block of a symmetric matrix to the other side of the diagonal."""

from __future__ import annotations

from hiperplano.data.loops.compiled import loop

_TILE = 16  # rows and columns of a tile, which stays in the L1 cache while it is transposed


@loop
def mirror(matrix, rows, columns):  # type: ignore[no-untyped-def]
    """Copy the part above the diagonal of a block to below it; blocks are given by their start and end."""
    for top in range(rows[0], rows[1], _TILE):
        bottom = min(top + _TILE, rows[1])
        for left in range(columns[0], columns[1], _TILE):
            right = min(left + _TILE, columns[1])
            for j in range(left, right):
                for i in range(top, min(bottom, j)):
                    matrix[j, i] = matrix[i, j]
