"""Mirroring of a block of a symmetric matrix."""

from __future__ import annotations

from hiperplano.data.loops.compiled import loop

_TILE = 16  # rows and columns that stay in the nearest cache while they are turned


@loop
def mirror(matrix, rows, columns):  # type: ignore[no-untyped-def]
    """Copy what lies above the diagonal in a block to below it; blocks are given by where they begin and end."""
    for top in range(rows[0], rows[1], _TILE):
        bottom = min(top + _TILE, rows[1])
        for left in range(columns[0], columns[1], _TILE):
            right = min(left + _TILE, columns[1])
            for j in range(left, right):
                for i in range(top, min(bottom, j)):
                    matrix[j, i] = matrix[i, j]
