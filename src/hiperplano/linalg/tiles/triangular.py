"""Triangular matrices in tiles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from hiperplano.data.design import Array


class TriangularTiles:
    """A lower Cholesky factor L in tiles, as `SymmetricTiles.factor` makes it."""

    def __init__(self, cuts: list[slice], tile: Callable[[int, int], Array]) -> None:
        self._cuts, self._tile = cuts, tile

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
