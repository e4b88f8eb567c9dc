"""Inverses of a symmetric matrix plus many shifts, from its tridiagonal form: half the time of eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads

_ROWS = 128  # for which the sums of some shifts stay in a core's first cache
_PANEL = 32  # columns in a block of LAPACK's reflections


class Inverses(NamedTuple):
    """Of matrix + shift, for every shift: their diagonals, and products with right-hand sides.

    Attributes
    ----------
    diagonal : ndarray of shape (n, shifts)
    solved : ndarray of shape (n, k, shifts)
    """

    diagonal: Array
    solved: Array


@dataclass(frozen=True)
class Tridiagonal:
    """A matrix M = Q·T·Qᵀ, with Q orthogonal.

    Attributes
    ----------
    diagonal, beside : ndarray of shape (n,) and (n − 1,)
        Of T, on the diagonal and beside it.
    turn : ndarray of shape (n, n)
        Q, in columns.
    """

    diagonal: Array
    beside: Array
    turn: Array

    @classmethod
    def of(cls, matrix: Array, least: float, shift: float = 0.0) -> Tridiagonal | None:
        """Of a symmetric matrix, which is overwritten, for shifts of at least `shift`.

        None where with that an eigenvalue is below `least` of the largest.
        """
        n = len(matrix)
        # The transpose is the same matrix, in the order of memory that LAPACK takes without a copy.
        held, diagonal, beside, tau, _ = lapack.dsytrd(matrix.T, lower=1, lwork=_PANEL * n, overwrite_a=1)
        near = np.zeros(n)
        near[:-1] += np.abs(beside)
        near[1:] += np.abs(beside)
        largest = float((np.abs(diagonal) + near).max())  # no less, and of such a matrix at most three times that
        if lapack.dpttrf(diagonal + (shift - least * (largest + shift)), beside)[2]:
            return None
        # Reflections lie where those of a reduction to Hessenberg form do.
        return cls(diagonal, beside, lapack.dorghr(held, tau, lwork=_PANEL * n, overwrite_a=1)[0])

    def inverses(self, right: Array, shifts: Array) -> Inverses:
        """For right-hand sides of shape (n, k) and shifts of 0 or more.

        With T + shift = L·D·Lᵀ the diagonal is Σₖ zᵢₖ²/Dₖ, where row i of Q is L·zᵢ.
        """
        from hiperplano.linalg.shifted.loops import add_inverse_diagonals

        n, n_shifts = len(self.diagonal), len(shifts)
        turned = self.turn.T @ right
        pivots, below = np.empty((n, n_shifts)), np.zeros((n, n_shifts))
        solved = np.empty((n, n_shifts, right.shape[1]))
        for number, shift in enumerate(shifts):
            pivots[:, number], below[1:, number], _ = lapack.dpttrf(self.diagonal + shift, self.beside)
            solved[:, number] = lapack.dpttrs(pivots[:, number], below[1:, number], turned)[0]
        diagonal = np.zeros((n, n_shifts))

        def part(start: int) -> None:
            rows = slice(start, start + _ROWS)
            add_inverse_diagonals(self.turn[rows].T, 1.0 / pivots, below, diagonal[rows])

        in_threads(part, range(0, n, _ROWS), diagonal.size * n)
        solved = (self.turn @ solved.reshape(n, -1)).reshape(n, n_shifts, -1)
        return Inverses(diagonal, np.swapaxes(solved, 1, 2))
