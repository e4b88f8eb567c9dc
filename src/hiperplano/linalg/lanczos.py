"""Lanczos: symmetric systems with many shifts, (matrix + σ)·x = right, from one Krylov space for each right side.

The space does not depend on σ. Every new direction is made orthogonal to all before it: rounding delays nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads
from hiperplano.linalg.conjugate_gradient import steps_needed


def shifted_solutions(
    product: Callable[[Array, Array], Array], right: Array, shifts: Array, *, rtol: float, budget: int
) -> Array:
    """Solutions of (matrixⱼ + σ)·x = rightⱼ for every column j and shift σ, of shape (d, k, shifts); NaN if given up.

    Parameters
    ----------
    product : callable, (ndarray of shape (d, m), numbers of the m columns) -> ndarray of shape (d, m)
        Each direction times the matrix of its column, symmetric and positive semidefinite.
    right : ndarray of shape (d, k)
    shifts : ndarray of shape (shifts,)
        More than 0.
    rtol : float
        Length of the residual to reach, relative to that of the right side.
    budget : int
        Steps beyond which another method would be faster: a shift is given up when a quarter of them is done and its
        progress says that twice as many will be needed, and when twice as many are made.
    """
    most = min(2 * budget, len(right))
    spaces = [_KrylovSpace(column, shifts, most, rtol) for column in right.T]
    for step in range(most):
        active = np.array([number for number, space in enumerate(spaces) if not space.done], dtype=np.intp)
        if not len(active):
            break
        images = product(np.stack([spaces[number].basis[step] for number in active], axis=1), active)

        def extend(place: int, images: Array = images, active: Array = active) -> None:
            spaces[active[place]].extend(images[:, place])

        in_threads(extend, range(len(active)), step * images.size)
        if step + 1 == budget // 4:
            for space in spaces:
                space.give_up(2 * budget)
    return np.stack(in_threads(_KrylovSpace.solutions, spaces, right.size * len(shifts)), axis=1)


class _KrylovSpace:
    """An orthonormal basis V of right, matrix·right, …, in which the matrix is tridiagonal.

    Attributes
    ----------
    basis : ndarray of shape (steps + 1, d)
    residuals : ndarray of shape (shifts,)
        Relative, of the best solution in the space for each shift, as the pivots of T + σ imply them.
    """

    def __init__(self, right: Array, shifts: Array, most: int, rtol: float) -> None:
        self._size, self._shifts, self._rtol = float(np.linalg.norm(right)), shifts, rtol
        self._diagonal: list[float] = []
        self._beside: list[float] = []
        self._pivots = np.full(len(shifts), np.inf)
        self.residuals = np.full(len(shifts), 1.0 if self._size else 0.0)
        self._wanted = np.ones(len(shifts), dtype=bool)
        self.basis = np.empty((most + 1, len(right)))
        self.basis[0] = right / (self._size or 1.0)

    @property
    def done(self) -> bool:
        """Whether every shift is solved or given up."""
        return not (self._wanted & (self.residuals > self._rtol)).any()

    def extend(self, image: Array) -> None:
        """Add a direction, from the image of the last one."""
        steps = len(self._diagonal)
        known, rest, weight = self.basis[: steps + 1], image, 0.0
        for _ in range(2):  # twice is enough, to the last bit
            along = known @ rest
            rest = rest - along @ known
            weight += float(along[-1])
        length = float(np.linalg.norm(rest))
        before = self._beside[-1] ** 2 if steps else 0.0
        pivots = weight + self._shifts - before / self._pivots
        self._wanted &= pivots > 0  # rounding: the shift drowns in the matrix
        self._pivots = np.where(self._wanted, pivots, np.inf)
        self.residuals = self.residuals * length / self._pivots
        self._diagonal.append(weight)
        self._beside.append(length)
        self.basis[steps + 1] = rest / (length or 1.0)

    def give_up(self, most: int) -> None:
        """Leave out the shifts that will need more steps, if residuals go on shrinking as they did."""
        self._wanted &= steps_needed(len(self._diagonal), self.residuals, self._rtol) <= most

    def solutions(self) -> Array:
        """The best in the space, of shape (d, shifts)."""
        steps = len(self._diagonal)
        found = np.full((self.basis.shape[1], len(self._shifts)), np.nan)
        solved = self._wanted & (self.residuals <= self._rtol)
        if not steps:
            found[:, solved] = 0.0
            return found
        bands, first = np.array([self._diagonal, self._beside]), np.zeros(steps)
        first[0] = self._size
        weights = np.empty((steps, len(self._shifts)))
        for number in np.flatnonzero(solved).tolist():
            try:
                shifted = bands + np.array([[self._shifts[number]], [0.0]])
                weights[:, number] = solveh_banded(shifted, first, lower=True, check_finite=False)
            except LinAlgError:
                solved[number] = False
        found[:, solved] = self.basis[:steps].T @ weights[:, solved]
        return found
