"""Inverses of a symmetric matrix plus a few shifts, from a Cholesky factor for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.linalg.shifted.tridiagonal import Inverses
from hiperplano.linalg.triangular import inverse_triangle


@dataclass(frozen=True)
class ShiftedFactors:
    """A symmetric matrix M, and the upper triangular U with UᵀU = M + shift for the smallest shift."""

    matrix: Array
    shift: float
    factor: Array

    @classmethod
    def of(cls, matrix: Array, least: float, shift: float = 0.0) -> ShiftedFactors | None:
        """Factor for shifts of at least `shift`; None if the reciprocal condition number there is below `least`."""
        factor = _factor(matrix, shift)
        if factor is None:
            return None
        norm = lapack.dlange("1", matrix.T) + shift
        return cls(matrix, shift, factor) if lapack.dpocon(factor, norm, uplo="U")[0] >= least else None

    def inverses(self, right: Array, shifts: Array) -> Inverses:
        """Inverses and solutions for right-hand sides of shape (n, k)."""
        n, n_shifts = len(self.matrix), len(shifts)
        diagonal, solved = np.empty((n, n_shifts)), np.empty((n, right.shape[1], n_shifts))

        def invert(number: int) -> None:
            shift = float(shifts[number])
            factor = self.factor if shift == self.shift else _factor(self.matrix, shift)
            if factor is None:
                raise ValueError(f"shift {shift} is below {self.shift}")
            inverse = inverse_triangle(factor)
            diagonal[:, number] = np.einsum("ij,ij->i", inverse, inverse)
            solved[:, :, number] = lapack.dpotrs(factor, right, lower=0)[0]

        in_threads(invert, range(n_shifts), diagonal.size * n)
        return Inverses(diagonal, solved)


def _factor(matrix: Array, shift: float) -> Array | None:
    """Upper triangular U with UᵀU = matrix + shift; None if rounding makes the matrix indefinite."""
    shifted = matrix.copy()
    shifted.flat[:: len(shifted) + 1] += shift
    # The transpose has LAPACK's order, which avoids a copy.
    upper, failed = lapack.dpotrf(shifted.T, lower=0, clean=1, overwrite_a=1)
    return None if failed else np.asarray(upper)
