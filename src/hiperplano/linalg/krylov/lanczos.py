"""Lanczos: symmetric systems with many shifts, (matrix + σ)·x = right, from one Krylov space for each right side.

The space does not depend on σ. Every new direction is made orthogonal to all before it: rounding delays nothing. The
smaller a residual has become, the less the next product counts: the last ones may be rounded (van den Eshof and
Sleijpen 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads
from hiperplano.linalg.conjugate_gradient import steps_needed
from hiperplano.linalg.krylov.lanczos_loops import extend_basis

_TRIAL = 10  # steps after which to see whether products may be rounded
_SHARE = 0.1  # of the tolerance, that the rounding of one product may take
_Product = Callable[[Array, Array], Array]


class ShiftedSolutions(NamedTuple):
    """Solutions for every right side and shift; NaN where they were given up.

    Attributes
    ----------
    x : ndarray of shape (d, k, shifts)
    """

    x: Array
    n_iter: int


def shifted_solutions(
    product: _Product, right: Array, shifts: Array, *, rtol: float, budget: int, rounded: _Product | None = None
) -> ShiftedSolutions:
    """Solutions of (matrixⱼ + σ)·x = rightⱼ for every column j and shift σ.

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
    rounded : callable, optional
        `product`, faster and in float32: for the steps whose rounding is too small to matter. Residuals are then those
        of the exact matrix if its error is about the same for all directions.
    """
    most = min(2 * budget, len(right))
    spaces = [_KrylovSpace(column, shifts, most, rtol) for column in right.T]
    rough, step = False, 0
    while step < most:
        active = np.array([number for number, space in enumerate(spaces) if not space.done], dtype=np.intp)
        if not len(active):
            break
        chosen = [spaces[number] for number in active]
        directions = np.array([space.basis[step] for space in chosen]).T
        if rough and rounded is not None:
            images = rounded(directions, active)
        else:
            images = product(directions, active)
            if rounded is not None and step % _TRIAL == _TRIAL - 1:
                rough = _may_be_rounded(chosen, images, partial(rounded, directions, active))
        pairs = list(zip(chosen, np.ascontiguousarray(images.T), strict=True))
        parts = in_threads(_extend_roughly if rough else _extend, pairs, step * images.size)
        for space, part in zip(chosen, parts, strict=True):
            space.note(*part)
        step += 1
        if step == budget // 4:
            for space in spaces:
                space.give_up(2 * budget)
    found = in_threads(_KrylovSpace.solutions, spaces, right.size * len(shifts))
    return ShiftedSolutions(np.stack(found, axis=1), step)


def _extend(pair: tuple[_KrylovSpace, Array]) -> tuple[float, float]:
    return pair[0].extend(pair[1], rough=False)


def _extend_roughly(pair: tuple[_KrylovSpace, Array]) -> tuple[float, float]:
    return pair[0].extend(pair[1], rough=True)


def _may_be_rounded(spaces: list[_KrylovSpace], images: Array, rounded: Callable[[], Array]) -> bool:
    """Whether the next products may be, from what rounding does to this one."""
    least = np.finfo(np.float32).eps / 8 * np.linalg.norm(images, axis=0)  # that of the images alone
    if not all(space.allows(error) for space, error in zip(spaces, least, strict=True)):
        return False
    errors = np.linalg.norm(rounded() - images, axis=0)
    return all(space.allows(error) for space, error in zip(spaces, errors, strict=True))


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
        self._pivots = self._least = np.full(len(shifts), np.inf)
        self.residuals = np.full(len(shifts), 1.0 if self._size else 0.0)
        self._wanted = np.ones(len(shifts), dtype=bool)
        self.basis = np.empty((most + 1, len(right)))
        self.basis[0] = right / (self._size or 1.0)
        self._single: Array | None = None  # the basis in float32

    @property
    def done(self) -> bool:
        """Whether every shift is solved or given up."""
        return not (self._wanted & (self.residuals > self._rtol)).any()

    def allows(self, error: float) -> bool:
        """Whether an error of this length in the products to come leaves the residuals as they are.

        The solution's coefficient of a direction is about the residual before it, over a pivot.
        """
        coefficients = self.residuals[self._wanted] / self._least[self._wanted]
        return bool(error * coefficients.max(initial=0.0) <= _SHARE * self._rtol)

    def extend(self, image: Array, rough: bool) -> tuple[float, float]:
        """Add a direction, from the image of the last one; the new entries of T."""
        count = len(self._diagonal) + 1
        beside = self._beside[-1] if count > 1 else 0.0
        if not rough:
            return extend_basis(self.basis, self.basis, image, count, beside)
        if self._single is None:
            self._single = np.empty(self.basis.shape, dtype=np.float32)
            self._single[:count] = self.basis[:count]
        self._single[count - 1] = self.basis[count - 1]
        return extend_basis(self.basis, self._single, image, count, beside)

    def note(self, weight: float, length: float) -> None:
        """The residuals, from the new entries of T."""
        before = self._beside[-1] ** 2 if self._beside else 0.0
        pivots = weight + self._shifts - before / self._pivots
        self._wanted &= pivots > 0  # rounding: the shift drowns in the matrix
        self._pivots = np.where(self._wanted, pivots, np.inf)
        self._least = np.minimum(self._least, self._pivots)
        self.residuals = self.residuals * length / self._pivots
        self._diagonal.append(weight)
        self._beside.append(length)

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
