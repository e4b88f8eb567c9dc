"""Rows of a Gram matrix, in memory or computed when they are needed."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count

_BLOCK = 1024  # rows, and columns, of a Gram block that is computed at once


class GramRows(Protocol):
    """A symmetric Gram matrix of which parts can be had.

    Attributes
    ----------
    n : int
    diagonal : ndarray of shape (n,)
    """

    n: int
    diagonal: Array

    def block(self, rows: Array, columns: Array) -> Array:
        """The entries of some rows and columns."""

    def times(self, columns: Array, factors: Array) -> Array:
        """Σⱼ Kᵢⱼ·factorⱼ over some columns, for every row."""


class HeldGram:
    """A whole Gram matrix in memory.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    """

    def __init__(self, gram: Array) -> None:
        self.gram, self.n = gram, len(gram)
        self.diagonal = gram.diagonal().astype(np.float64)

    def block(self, rows: Array, columns: Array) -> Array:
        if len(rows) == len(columns) == self.n:  # in which order does not matter: both are sorted
            return self.gram
        return self.gram[rows[:, None], columns]

    def times(self, columns: Array, factors: Array) -> Array:
        return np.asarray(factors @ self.gram[columns])  # rows for columns: contiguous in memory


class ComputedGram:
    """Kernel values computed block by block, in threads, and not kept.

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or csr_array of shape (n, d)
    """

    def __init__(self, kernel: Any, x: Any) -> None:
        self.kernel, self.x, self.n = kernel, x, x.shape[0]
        self.diagonal = np.asarray(kernel.diagonal(x), dtype=np.float64)

    def block(self, rows: Array, columns: Array) -> Array:
        others = self.x[columns]
        parts = _cut(rows)
        found = ordered_map(lambda part: self.kernel(self.x[part], others), parts, worker_count())
        return np.concatenate(found) if len(found) > 1 else found[0]

    def times(self, columns: Array, factors: Array) -> Array:
        chosen = [(self.x[part], part_factors) for part, part_factors in zip(_cut(columns), _cut(factors), strict=True)]

        def of_rows(rows: slice) -> Array:
            own = self.x[rows]
            return sum((self.kernel(own, x) @ factor for x, factor in chosen), np.zeros(own.shape[0]))

        slices = [slice(start, start + _BLOCK) for start in range(0, self.n, _BLOCK)]
        return np.concatenate(ordered_map(of_rows, slices, worker_count()))


def _cut(values: Array) -> list[Array]:
    return [values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK)]
