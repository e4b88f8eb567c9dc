"""A small Gram matrix whose rows are computed on demand, for machines with few support vectors."""

from __future__ import annotations

from typing import Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.kernels import KernelMatrix
from hiperplano.solvers.kernel.svm.gram_loops import drop_tiny
from hiperplano.solvers.kernel.svm.smo.loops import ASKED

FIRST = 32  # rows in the first batch; each later batch is twice as large
_MANY = 0.5  # if more than this share of the rows is needed, all rows are computed
# Kernel values below this share of the largest are set to 0, since subnormal products are 100 times as slow.
_TINY = 1e-150
_LOOKED_AT = 8  # approximate number of rows that are checked for such values


class RowsAsked:
    """A Gram matrix of which only some rows are computed.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        Rows that are not computed hold arbitrary values, except that row 0 is always finite.
    there : ndarray of uint8 of shape (n,)
        1 for rows that are computed, `ASKED` for those that a loop requested.
    diagonal : ndarray of shape (n,)
    matrix : KernelMatrix, optional
        Kernel matrix of all rows with each other; not needed if all rows are computed.
    """

    def __init__(self, values: Array, there: Array, diagonal: Array, matrix: KernelMatrix | None = None) -> None:
        self.values, self.there, self.diagonal = values, there, diagonal
        self._matrix, self._next = matrix, FIRST

    @classmethod
    def whole(cls, gram: Array) -> Self:
        """Wrap a complete matrix."""
        return cls(gram, np.ones(len(gram), dtype=np.uint8), gram.diagonal().copy())

    @classmethod
    def begun(cls, matrix: KernelMatrix, rows: Array) -> Self:
        """Start with some rows."""
        n = matrix.shape[0]
        found = cls(np.empty((n, n)), np.zeros(n, dtype=np.uint8), matrix.diagonal, matrix)
        found.values[0] = 0.0  # loops start from row 0, multiplied by 0
        found._compute(rows)
        return found

    @property
    def is_whole(self) -> bool:
        return bool((self.there == 1).all())

    def require(self, rows: Array) -> None:
        """Compute those of these rows that are missing."""
        self._compute(rows[self.there[rows] != 1])

    def add(self, violation: Array) -> None:
        """Compute the requested rows, and those that violate the optimality conditions most.

        If these are many, all rows are computed.
        """
        rows = np.flatnonzero(self.there != 1)
        rank = np.where(self.there[rows] == ASKED, np.inf, violation[rows])
        self._compute(rows[np.argsort(-rank)[: self._next]])
        self._next *= 2

    def _compute(self, rows: Array) -> None:
        if (self.there == 1).sum() + len(rows) > _MANY * len(self.there):
            rows = np.flatnonzero(self.there != 1)
        if len(rows):
            assert self._matrix is not None
            computed = self._matrix.rows(rows)
            _drop_tiny(computed, self.diagonal)
            self.values[rows], self.there[rows] = computed, 1


def dense_gram(matrix: KernelMatrix) -> Array:
    """The whole matrix, with tiny values set to 0: they do not matter, and are slow to multiply."""
    gram = matrix.dense()
    _drop_tiny(gram, matrix.diagonal)
    return gram


def _drop_tiny(values: Array, diagonal: Array) -> None:
    least = _TINY * float(np.abs(diagonal).max())
    if np.abs(values[:: -(-len(values) // _LOOKED_AT)]).min() < least:
        drop_tiny(values, least)
