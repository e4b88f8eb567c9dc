"""A Gram matrix stored as float32 values and 16-bit corrections: almost as accurate as float64."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.mirror import mirror
from hiperplano.data.parallel.threads import in_threads
from hiperplano.kernels import KernelMatrix
from hiperplano.solvers.kernel.svm.gram_loops import split
from hiperplano.solvers.kernel.svm.gram_rows import TILE, HeldGram

_UNIT = 2.0**-38  # unit of a correction, as a share of the largest value: float32's rounding then fits in 16 bits
REFINED_BYTES = 6  # bytes of each value


class RefinedGram:
    """A whole Gram matrix as float32 values with 16-bit corrections.

    Parameters
    ----------
    matrix : KernelMatrix
        Kernel matrix in float64. The kernel is positive definite, so its largest value is on the diagonal.

    Attributes
    ----------
    held : HeldGram
        The float32 values.
    resolution : float
        Resolution of the stored values, in units of the largest value.
    """

    rounded, in_parts, resolution = True, False, 0.5 * _UNIT

    def __init__(self, matrix: KernelMatrix) -> None:
        n = self.n = self.large = matrix.shape[0]
        self.diagonal = matrix.diagonal
        self._unit = _UNIT * max(float(self.diagonal.max()), float(np.finfo(np.float32).tiny))
        rounded, rest = np.empty((n, n), np.float32), np.empty((n, n), np.int16)

        def fill(start: int) -> None:
            rows = slice(start, min(start + TILE, n))
            for other in range(start, n, TILE):
                columns = slice(other, min(other + TILE, n))
                split(matrix.rows(rows, columns), rounded, rest, start, other, 1.0 / self._unit)
                for each in (rounded, rest):
                    mirror(each, (start, rows.stop), (other, columns.stop))

        in_threads(fill, range(0, n, TILE), n * n)
        self.held, self._rest = HeldGram(rounded), HeldGram(rest)

    def block(self, rows: Array) -> Array:
        return self.held.block(rows) + self._unit * self._rest.block(rows)

    def times(self, columns: Array, factors: Array, rows: Array | None = None) -> Array:
        return self.held.times(columns, factors, rows) + self._unit * self._rest.times(columns, factors, rows)
