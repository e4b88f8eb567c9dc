"""Lanczos: symmetric systems with many shifts, (matrix + σ)·x = right, from one Krylov space for each right side.

The space does not depend on σ. Every new direction is made orthogonal to all before it: rounding delays nothing. The
smaller a residual has become, the less the next product counts: all but the first ones may be rounded (van den Eshof
and Sleijpen 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads
from hiperplano.linalg.conjugate_gradient import steps_needed
from hiperplano.linalg.krylov.lanczos_loops import extend_basis, extend_basis_roughly

_FIRST_TRIAL = 9  # steps before the rounding of a product is measured; again when it seems to have become small enough
_SHARE = 0.05  # of the tolerance, that the rounding of one product may take
_FASTER = 0.5  # share of the steps still to come, if they did as those before, that will be: they do better and better
_Product = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class KrylovSpace:
    """An orthonormal basis in which a symmetric matrix is tridiagonal, but for what leads out of the space.

    Attributes
    ----------
    basis : ndarray of shape (m, d)
    bands : ndarray of shape (2, m)
        The diagonal, and beside it.
    """

    basis: Array
    bands: Array

    @cached_property
    def single(self) -> Array:
        """The basis in float32."""
        return self.basis.astype(np.float32)

    def solve(self, right: Array, shift: float) -> Array:
        """The best approximation of (matrix + shift)⁻¹·right in the space, if that holds `right`.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the shift drowns in the rounding of the matrix.
        """
        return np.asarray(self._inverse(self.basis @ right, shift) @ self.basis)

    def precondition(self, right: Array, shift: float, rest: float) -> Array:
        """(matrix + shift)⁻¹·right in about seven digits, if the matrix were `rest` times the identity outside.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the shift drowns in the rounding of the matrix.
        """
        size = float(np.abs(right).max(initial=0.0)) or 1.0  # small residuals leave the range of float32
        scaled = (right / size).astype(np.float32)
        inside = self.single @ scaled
        solved = self._inverse(inside, shift) - inside / (rest + shift)
        along = (solved.astype(np.float32) @ self.single).astype(np.float64)
        return np.asarray(size * along + right / (rest + shift))

    def _inverse(self, inside: Array, shift: float) -> Array:
        bands = self.bands + np.array([[shift], [0.0]])
        return np.asarray(solveh_banded(bands, inside, lower=True, check_finite=False))


class ShiftedSolutions(NamedTuple):
    """Solutions for every right side and shift.

    Attributes
    ----------
    x : ndarray of shape (d, k, shifts)
        The best in the space; 0 for a shift that drowns in the rounding of the matrix.
    solved : ndarray of bool of shape (k, shifts)
        Which of them are good enough; others were given up.
    steps : ndarray of int of shape (k, shifts)
        Steps after which each was found, or given up.
    beside : list of KrylovSpace
        Of the right sides that went along.
    """

    x: Array
    solved: Array
    steps: Array
    beside: list[KrylovSpace]

    @property
    def n_iter(self) -> int:
        """Steps in all."""
        return int(self.steps.max(initial=0))


def shifted_solutions(
    product: _Product,
    right: Array,
    shifts: Array,
    *,
    rtol: float,
    most: int,
    otherwise: Callable[[int], float] | None = None,
    rounded: _Product | None = None,
    beside: int = 0,
) -> ShiftedSolutions:
    """Solutions of (matrixⱼ + σ)·x = rightⱼ for every column j and shift σ.

    Parameters
    ----------
    product : callable, (ndarray of shape (m, d), numbers of m columns) -> ndarray of shape (m, d)
        Each direction, which is a row, times the matrix of its column, symmetric and positive semidefinite.
    right : ndarray of shape (d, k)
    shifts : ndarray of shape (shifts,)
        More than 0.
    rtol : float
        Length of the residual to reach, relative to that of the right side.
    most : int
        Steps that are made at most.
    otherwise : callable, int -> float, optional
        What another method would cost for so many of the least shifts, in steps. When three quarters of that for one
        are spent, and now and then later, the least shifts are given up if progress says that going on would cost more.
    rounded : callable, optional
        `product`, faster and less exact: for the steps whose rounding is too small to matter. Residuals are then those
        of the exact matrix if its error is about the same for all directions.
    beside : int, default=0
        How many of the last columns go along, and make no steps of their own: of these the spaces are returned.
    """
    k = right.shape[1] - beside
    spaces, others = _KrylovSpaces(right, shifts, min(most, len(right)), rtol), np.arange(k, right.shape[1])
    errors, may_round = np.zeros(k), False
    pause = max(1, int(otherwise(1) / 4)) if otherwise is not None else most
    with one_blas_thread():  # once: every product and every extension would ask for it
        while len(active := spaces.unfinished(k)):
            every = np.append(active, others)
            directions = spaces.directions(every)
            if may_round and rounded is not None:
                images = rounded(directions, every)
            else:
                images = product(directions, every)
                if rounded is not None and spaces.n_steps >= _FIRST_TRIAL and spaces.allow(errors[active], active):
                    rough = rounded(directions[: len(active)], active)
                    errors[active] = np.linalg.norm(rough - images[: len(active)], axis=1)
                    may_round = spaces.allow(errors[active], active)
            spaces.extend(images, every, may_round)
            if otherwise is not None and spaces.n_steps >= 3 * pause and spaces.n_steps % pause == 0:
                spaces.give_up(k, otherwise)
    found = in_threads(spaces.solutions, range(k), right.size * len(shifts))
    beside_them = [spaces.space(each) for each in others]
    return ShiftedSolutions(np.stack(found, axis=1), spaces.solved[:k], spaces.steps[:k], beside_them)


class _KrylovSpaces:
    """For each column an orthonormal basis of right, matrix·right, …, in which the matrix is tridiagonal, T.

    Attributes
    ----------
    n_steps : int
        Of the columns that are not finished.
    steps : ndarray of int of shape (k, shifts)
        Of each shift, until it was solved or given up.
    residuals : ndarray of shape (k, shifts)
        Relative, of the best solution in the space for each shift, as the pivots of T + σ imply them.
    """

    def __init__(self, right: Array, shifts: Array, most: int, rtol: float) -> None:
        d, k = right.shape
        self._shifts, self._most, self._rtol = shifts, most, rtol
        self._sizes = np.linalg.norm(right, axis=0)
        self._basis = np.empty((k, most + 1, d))
        self._single = np.empty((k, most + 1, d), dtype=np.float32)  # the basis in float32,
        self._n_single = 0  # as far as it was asked for
        self._basis[:, 0] = (right / np.where(self._sizes > 0, self._sizes, 1.0)).T
        self._bands = np.zeros((k, 2, most))  # of T: the diagonal, and beside it
        self._dimensions = np.zeros(k, dtype=int)
        self._pivots = np.full((k, len(shifts)), np.inf)  # the last ones of T + σ
        self._least = self._pivots.copy()
        self._wanted = np.ones((k, len(shifts)), dtype=bool)
        self.residuals = np.tile(np.where(self._sizes > 0, 1.0, 0.0)[:, None], len(shifts))
        self.n_steps, self.steps = 0, np.zeros((k, len(shifts)), dtype=int)

    def unfinished(self, k: int) -> Array:
        """Those of the first k columns with shifts that are neither solved nor given up; none if all steps are made."""
        if self.n_steps == self._most:
            return np.empty(0, dtype=int)
        return np.flatnonzero((self._wanted & (self.residuals > self._rtol))[:k].any(axis=1))

    def directions(self, columns: Array) -> Array:
        """The last ones, as rows."""
        return self._basis[columns, self.n_steps]

    def allow(self, errors: Array, columns: Array) -> bool:
        """Whether errors of these lengths in the products to come leave the residuals of some columns as they are.

        The solution's coefficient of a direction is about the residual before it, over a pivot.
        """
        coefficients = np.where(self._wanted, self.residuals / self._least, 0.0)[columns].max(axis=1)
        return bool((errors * coefficients <= _SHARE * self._rtol).all())

    def extend(self, images: Array, columns: Array, roughly: bool) -> None:
        """Add a direction to the spaces of some columns, from the images of the last ones.

        If roughly, it is made orthogonal to the basis in float32.
        """
        step = self.n_steps
        self.steps[columns] += self._wanted[columns] & (self.residuals[columns] > self._rtol)
        before = self._bands[columns, 1, step - 1] if step else np.zeros(len(columns))
        new = slice(self._n_single, step + 1)

        def extend(place: int) -> tuple[float, float]:
            basis, single = self._basis[columns[place]], self._single[columns[place]]
            if not roughly:
                return extend_basis(basis, images[place], step + 1, before[place])
            single[new] = basis[new]
            return extend_basis_roughly(basis, single, images[place], step + 1, before[place])

        entries = np.array(in_threads(extend, range(len(columns)), step * images.size))
        self._bands[columns, :, step] = entries
        self.n_steps, self._n_single = step + 1, step + 1 if roughly else 0
        self._dimensions[columns] = step + 1
        pivots = entries[:, :1] + self._shifts - before[:, None] ** 2 / self._pivots[columns]
        self._wanted[columns] &= pivots > 0  # rounding: the shift drowns in the matrix
        self._pivots[columns] = pivots = np.where(self._wanted[columns], pivots, np.inf)
        self._least[columns] = np.minimum(self._least[columns], pivots)
        self.residuals[columns] *= entries[:, 1:] / pivots

    @property
    def solved(self) -> Array:
        """Which shifts are, of shape (k, shifts)."""
        return np.asarray(self._wanted & (self.residuals <= self._rtol))

    def give_up(self, k: int, otherwise: Callable[[int], float]) -> None:
        """Leave out as many of the least shifts as makes what is left to do cheapest, if the residuals of the first k
        columns go on as expected."""
        order, wanted = np.argsort(self._shifts), self._wanted[:k] & (self.residuals[:k] > self._rtol)
        more = _FASTER * (steps_needed(self.n_steps, self.residuals[:k], self._rtol) - self.n_steps)
        more = np.append(np.where(wanted, more, 0.0)[:, order].max(axis=0), 0.0)
        first = int(np.argmax(np.append(self._wanted[:k, order].any(axis=0), True)))  # not given up before
        costs = [more[count:].max() + otherwise(count) for count in range(first, len(more))]
        self._wanted[:, order[: first + int(np.argmin(costs))]] = False

    def space(self, column: int) -> KrylovSpace:
        """That of a column, without the memory of the others."""
        dimension = self._dimensions[column]
        return KrylovSpace(self._basis[column, :dimension].copy(), self._bands[column, :, :dimension].copy())

    def solutions(self, column: int) -> Array:
        """The best in the space of a column, of shape (d, shifts)."""
        dimension = self._dimensions[column]
        first = np.zeros(dimension)
        first[:1] = self._sizes[column]
        weights = np.zeros((dimension, len(self._shifts)))
        for number, shift in enumerate(self._shifts.tolist() if dimension else ()):
            shifted = self._bands[column, :, :dimension] + np.array([[shift], [0.0]])
            try:
                weights[:, number] = solveh_banded(shifted, first, lower=True, check_finite=False)
            except LinAlgError:
                self._wanted[column, number] = False
        return np.asarray(self._basis[column, :dimension].T @ weights)
