"""Lanczos method for symmetric systems with many shifts, with one Krylov space per right-hand side.

The systems are (matrix + σ)·x = right.

The space does not depend on σ. Every new direction is orthogonalised against all previous ones, so rounding does not
delay convergence. The smaller a residual has become, the less accurate the next product needs to be: all but the first
products may be rounded (van den Eshof and Sleijpen 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded

from hiperplano.data.design import Array
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.parallel.threads import in_threads
from hiperplano.linalg.conjugate_gradient import steps_needed
from hiperplano.linalg.krylov.lanczos_loops import extend_basis, extend_basis_roughly

# Steps before the rounding error of a product is measured; it is measured again when it may have become small enough.
_FIRST_TRIAL = 9
_SHARE = 0.05  # share of the tolerance that the rounding error of one product may use
_FASTER = 0.5  # expected share of the extrapolated steps, since convergence becomes faster
_Product = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class KrylovSpace:
    """An orthonormal basis of a Krylov space, in which the projection of a symmetric matrix is tridiagonal.

    Attributes
    ----------
    basis : ndarray of shape (m, d)
    bands : ndarray of shape (2, m)
        The diagonal and the off-diagonal of the projected matrix.
    """

    basis: Array
    bands: Array

    @cached_property
    def single(self) -> Array:
        """The basis in float32."""
        return self.basis.astype(np.float32)

    def solve(self, right: Array, shift: float) -> Array:
        """The best approximation of (matrix + shift)⁻¹·right in the space, which must contain `right`.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the shift is below the rounding errors of the matrix.
        """
        return np.asarray(self._inverse(self.basis @ right, shift) @ self.basis)

    def precondition(self, right: Array, shift: float, rest: float) -> Array:
        """(matrix + shift)⁻¹·right to about seven digits; outside the space, the matrix counts as `rest`·identity.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the shift is below the rounding errors of the matrix.
        """
        size = float(np.abs(right).max(initial=0.0)) or 1.0  # small residuals would leave the range of float32
        scaled = (right / size).astype(np.float32)
        inside = self.single @ scaled
        solved = self._inverse(inside, shift) - inside / (rest + shift)
        along = (solved.astype(np.float32) @ self.single).astype(np.float64)
        return np.asarray(size * along + right / (rest + shift))

    def _inverse(self, inside: Array, shift: float) -> Array:
        bands = self.bands + np.array([[shift], [0.0]])
        return _solve_tridiagonal(bands, inside)


class ShiftedSolutions(NamedTuple):
    """Solutions for every right-hand side and shift.

    Attributes
    ----------
    x : ndarray of shape (d, k, shifts)
        Best approximations in the space; 0 for shifts below the rounding errors of the matrix.
    solved : ndarray of bool of shape (k, shifts)
        Systems that have converged; the others were given up.
    steps : ndarray of int of shape (k, shifts)
        Steps after which each system converged or was given up.
    beside : list of KrylovSpace
        Krylov spaces of the additional right-hand sides.
    """

    x: Array
    solved: Array
    steps: Array
    beside: list[KrylovSpace]

    @property
    def n_iter(self) -> int:
        """Number of steps in total."""
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
    """Solve (matrixⱼ + σ)·x = rightⱼ for every column j and shift σ.

    Parameters
    ----------
    product : callable, (ndarray of shape (m, d), numbers of m columns) -> ndarray of shape (m, d)
        Multiplies each direction (a row) by the matrix of its column, which is symmetric and positive semidefinite.
    right : ndarray of shape (d, k)
    shifts : ndarray of shape (shifts,)
        Positive shifts.
    rtol : float
        Norm of the residual to reach, relative to that of the right-hand side.
    most : int
        Most steps.
    otherwise : callable, int -> float, optional
        Cost, in steps, of another method for a number of the smallest shifts. Once three quarters of its cost for one
        shift are spent, and occasionally later, the smallest shifts are given up if continuing is predicted to cost
        more.
    rounded : callable, optional
        A faster, less accurate `product`, for steps where its rounding error does not matter. Residuals then hold for
        the exact matrix if that error is about the same for all directions.
    beside : int, default=0
        Number of last columns that do not decide on the number of steps; their Krylov spaces are returned.
    """
    k = right.shape[1] - beside
    spaces, others = _KrylovSpaces(right, shifts, min(most, len(right)), rtol), np.arange(k, right.shape[1])
    errors, may_round = np.zeros(k), False
    pause = max(1, int(otherwise(1) / 4)) if otherwise is not None else most
    with one_blas_thread():  # once for all, since every product and extension would set it
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
    """For each column, an orthonormal basis of right, matrix·right, …, in which the matrix is tridiagonal (T).

    Attributes
    ----------
    n_steps : int
        Number of steps of the columns that are not finished.
    steps : ndarray of int of shape (k, shifts)
        Steps of each shift until it was solved or given up.
    residuals : ndarray of shape (k, shifts)
        Relative residuals of the best solution in the space for each shift, from the pivots of T + σ.
    """

    def __init__(self, right: Array, shifts: Array, most: int, rtol: float) -> None:
        d, k = right.shape
        self._shifts, self._most, self._rtol = shifts, most, rtol
        self._sizes = np.linalg.norm(right, axis=0)
        self._basis = np.empty((k, most + 1, d))
        self._single = np.empty((k, most + 1, d), dtype=np.float32)  # float32 copy of the basis,
        self._n_single = 0  # of which this number of rows is filled
        self._basis[:, 0] = (right / np.where(self._sizes > 0, self._sizes, 1.0)).T
        self._bands = np.zeros((k, 2, most))  # diagonal and off-diagonal of T
        self._dimensions = np.zeros(k, dtype=int)
        self._pivots = np.full((k, len(shifts)), np.inf)  # last pivots of T + σ
        self._least = self._pivots.copy()
        self._wanted = np.ones((k, len(shifts)), dtype=bool)
        self.residuals = np.tile(np.where(self._sizes > 0, 1.0, 0.0)[:, None], len(shifts))
        self.n_steps, self.steps = 0, np.zeros((k, len(shifts)), dtype=int)

    def unfinished(self, k: int) -> Array:
        """Those of the first k columns with shifts that are neither solved nor given up.

        Empty if the steps are used up.
        """
        if self.n_steps == self._most:
            return np.empty(0, dtype=int)
        return np.flatnonzero((self._wanted & (self.residuals > self._rtol))[:k].any(axis=1))

    def directions(self, columns: Array) -> Array:
        """The last directions, as rows."""
        return self._basis[columns, self.n_steps]

    def allow(self, errors: Array, columns: Array) -> bool:
        """Whether errors of these norms in the next products do not affect the residuals of some columns.

        The solution's coefficient of a new direction is about the previous residual divided by a pivot.
        """
        coefficients = np.where(self._wanted, self.residuals / self._least, 0.0)[columns].max(axis=1)
        return bool((errors * coefficients <= _SHARE * self._rtol).all())

    def extend(self, images: Array, columns: Array, roughly: bool) -> None:
        """Add a direction to the spaces of some columns, from the images of the last directions.

        If `roughly`, it is orthogonalised against the basis in float32.
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
        self._wanted[columns] &= pivots > 0  # the shift is below the rounding errors of the matrix
        self._pivots[columns] = pivots = np.where(self._wanted[columns], pivots, np.inf)
        self._least[columns] = np.minimum(self._least[columns], pivots)
        self.residuals[columns] *= entries[:, 1:] / pivots

    @property
    def solved(self) -> Array:
        """Which shifts are solved, of shape (k, shifts)."""
        return np.asarray(self._wanted & (self.residuals <= self._rtol))

    def give_up(self, k: int, otherwise: Callable[[int], float]) -> None:
        """Give up as many of the smallest shifts as minimises the predicted cost.

        It is predicted from the residuals of the first k columns.
        """
        order, wanted = np.argsort(self._shifts), self._wanted[:k] & (self.residuals[:k] > self._rtol)
        more = _FASTER * (steps_needed(self.n_steps, self.residuals[:k], self._rtol) - self.n_steps)
        more = np.append(np.where(wanted, more, 0.0)[:, order].max(axis=0), 0.0)
        # First shift that is not given up yet.
        first = int(np.argmax(np.append(self._wanted[:k, order].any(axis=0), True)))
        costs = [more[count:].max() + otherwise(count) for count in range(first, len(more))]
        self._wanted[:, order[: first + int(np.argmin(costs))]] = False

    def space(self, column: int) -> KrylovSpace:
        """The Krylov space of a column, as a copy, so that the memory of the others can be freed."""
        dimension = self._dimensions[column]
        return KrylovSpace(self._basis[column, :dimension].copy(), self._bands[column, :, :dimension].copy())

    def solutions(self, column: int) -> Array:
        """Best approximations in the space of a column, of shape (d, shifts)."""
        dimension = self._dimensions[column]
        first = np.zeros(dimension)
        first[:1] = self._sizes[column]
        weights = np.zeros((dimension, len(self._shifts)))
        for number, shift in enumerate(self._shifts.tolist() if dimension else ()):
            shifted = self._bands[column, :, :dimension] + np.array([[shift], [0.0]])
            try:
                weights[:, number] = _solve_tridiagonal(shifted, first)
            except LinAlgError:
                self._wanted[column, number] = False
        return np.asarray(self._basis[column, :dimension].T @ weights)


def _solve_tridiagonal(bands: Array, right: Array) -> Array:
    """Solve with a positive definite tridiagonal matrix, given by its diagonal and the band below it."""
    if len(right) != 1:
        return np.asarray(solveh_banded(bands, right, lower=True, check_finite=False))
    if not bands[0, 0] > 0:  # SciPy's function refuses matrices of one row
        raise LinAlgError("not positive definite")
    return np.asarray(right / bands[0, 0])
