"""Inverses of a symmetric matrix plus many shifts, from its tridiagonal form.

This takes half the time of an eigendecomposition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads

_ROWS = 128  # rows for which the sums of several shifts stay in a core's L1 cache
_PANEL = 32  # block size of LAPACK's reflections


class Inverses(NamedTuple):
    """Inverses of matrix + shift for every shift: their diagonals, and products with right-hand sides.

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
        Diagonal and off-diagonal of T.
    turn : ndarray of shape (n, n)
        Q.
    """

    diagonal: Array
    beside: Array
    turn: Array

    @classmethod
    def of(cls, matrix: Array, least: float, shift: float = 0.0) -> Tridiagonal | None:
        """Reduce a symmetric matrix, which is overwritten, for shifts of at least `shift`.

        Return None if, with that shift, an eigenvalue is below `least` times the largest.
        """
        n = len(matrix)
        # The transpose is the same matrix, in LAPACK's order, which avoids a copy.
        held, diagonal, beside, tau, _ = lapack.dsytrd(matrix.T, lower=1, lwork=_PANEL * n, overwrite_a=1)
        near = np.zeros(n)
        near[:-1] += np.abs(beside)
        near[1:] += np.abs(beside)
        # An upper bound of the largest eigenvalue, too large by a factor of three at most.
        largest = float((np.abs(diagonal) + near).max())
        if lapack.dpttrf(diagonal + (shift - least * (largest + shift)), beside)[2]:
            return None
        # The reflections are stored as in a reduction to Hessenberg form.
        return cls(diagonal, beside, lapack.dorghr(held, tau, lwork=_PANEL * n, overwrite_a=1)[0])

    def shifted(self, shifts: Array) -> ShiftedTridiagonal:
        """Factor T plus each shift; `of` has checked that this is possible."""
        n, n_shifts = len(self.diagonal), len(shifts)
        pivots, below = np.empty((n, n_shifts)), np.zeros((n, n_shifts))
        for number, shift in enumerate(shifts):
            pivots[:, number], below[1:, number], _ = lapack.dpttrf(self.diagonal + shift, self.beside)
        return ShiftedTridiagonal(pivots, below)

    def inverses(self, right: Array, shifts: Array) -> Inverses:
        """Inverses and solutions for right-hand sides of shape (n, k) and nonnegative shifts."""
        n, n_shifts = len(self.diagonal), len(shifts)
        shifted = self.shifted(shifts)
        diagonal = shifted.quadratic_forms(self.turn.T)
        solved = shifted.solve(self.turn.T @ right)
        solved = (self.turn @ solved.reshape(n, -1)).reshape(n, n_shifts, -1)
        return Inverses(diagonal, np.swapaxes(solved, 1, 2))


class ShiftedTridiagonal(NamedTuple):
    """L·D·Lᵀ = T + shift, for every shift.

    Attributes
    ----------
    pivots : ndarray of shape (n, shifts)
        D.
    below : ndarray of shape (n, shifts)
        Subdiagonal of L; 0 in the first row.
    """

    pivots: Array
    below: Array

    def quadratic_forms(self, vectors: Array) -> Array:
        """vᵀ·(T + shift)⁻¹·v = Σₖ zₖ²/Dₖ with v = L·z, for the m columns v of `vectors`: of shape (m, shifts)."""
        from hiperplano.linalg.shifted.loops import add_inverse_diagonals

        out, inverse = np.zeros((vectors.shape[1], self.pivots.shape[1])), 1.0 / self.pivots

        def part(start: int) -> None:
            some = slice(start, start + _ROWS)
            add_inverse_diagonals(vectors[:, some], inverse, self.below, out[some])

        in_threads(part, range(0, len(out), _ROWS), out.size * len(vectors))
        return out

    def solve(self, right: Array) -> Array:
        """(T + shift)⁻¹·right, of shape (n, shifts, k) for right-hand sides of shape (n, k)."""
        n, n_shifts = self.pivots.shape
        solved = np.empty((n, n_shifts, right.shape[1]))
        for number in range(n_shifts):
            solved[:, number] = lapack.dpttrs(self.pivots[:, number], self.below[1:, number], right)[0]
        return solved
