"""Orthonormal bases of Krylov spaces, one for each right side, grown by Lanczos steps."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads
from hiperplano.linalg.conjugate_gradient import steps_needed
from hiperplano.linalg.krylov.lanczos_loops import extend_basis, extend_basis_roughly

_SHARE = 0.05  # of the tolerance, that the rounding of one product may take


class KrylovSpaces:
    """For each column an orthonormal basis of right, matrix·right, …, in which the matrix is tridiagonal, T.

    Attributes
    ----------
    n_steps : int
        Of the columns that are not finished.
    residuals : ndarray of shape (k, shifts)
        Relative, of the best solution in the space for each shift, as the pivots of T + σ imply them.
    settled : ndarray of bool of shape (k, shifts)
        Solutions that are good enough whatever their residual.
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
        self.settled = np.zeros((k, len(shifts)), dtype=bool)
        self.n_steps = 0

    def unfinished(self) -> Array:
        """Where shifts are neither solved nor given up, of shape (k, shifts); nowhere if all steps are made."""
        return self._wanted & ~self.solved() & (self.n_steps < self._most)

    def solved(self) -> Array:
        """Where solutions are good enough, of shape (k, shifts)."""
        return np.asarray(self._wanted & (self.settled | (self.residuals <= self._rtol)))

    @property
    def n_cells(self) -> int:
        """Of all bases as they are."""
        return self.n_steps * self._basis.shape[0] * self._basis.shape[2]

    def directions(self, columns: Array) -> Array:
        """The last ones, as rows."""
        return self._basis[columns, self.n_steps]

    def allow(self, errors: Array, columns: Array, rtol: float) -> bool:
        """Whether errors of these lengths in the products to come leave residuals of `rtol` as they are.

        The solution's coefficient of a direction is about the residual before it, over a pivot.
        """
        coefficients = np.where(self._wanted, self.residuals / self._least, 0.0)[columns].max(axis=1)
        return bool((errors * coefficients <= _SHARE * rtol).all())

    def extend(self, images: Array, columns: Array, roughly: bool) -> None:
        """Add a direction to the spaces of some columns, from the images of the last ones.

        If roughly, it is made orthogonal to the basis in float32.
        """
        step = self.n_steps
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

    def give_up(self, most: int) -> None:
        """Leave out the shifts that will need more steps, if residuals go on shrinking as they did."""
        self._wanted &= steps_needed(self.n_steps, self.residuals, self._rtol) <= most

    def inverse(self, column: int, number: int, right: Array) -> Array:
        """About (matrix + σ)⁻¹·right for any `right`, of shape (d,): exact in the space, and beside it as if all other
        directions were like the last."""
        basis, shift = self._basis[column, : self._dimensions[column]], self._shifts[number]
        along = basis @ right
        shifted = self._bands[column, :, : len(basis)] + np.array([[shift], [0.0]])
        inside = solveh_banded(shifted, along, lower=True, check_finite=False) - along / self._pivots[column, number]
        return np.asarray(right / self._pivots[column, number] + inside @ basis)

    def solutions(self, column: int, chosen: Array) -> Array:
        """The best in the space of a column, of shape (d, shifts), for some shifts; NaN for others."""
        dimension = self._dimensions[column]
        found = np.full((self._basis.shape[2], len(self._shifts)), np.nan)
        chosen = chosen & self._wanted[column]
        first = np.zeros(dimension)
        first[:1] = self._sizes[column]
        weights = np.zeros((dimension, len(self._shifts)))
        for number in np.flatnonzero(chosen).tolist() if dimension else ():
            shifted = self._bands[column, :, :dimension] + np.array([[self._shifts[number]], [0.0]])
            try:
                weights[:, number] = solveh_banded(shifted, first, lower=True, check_finite=False)
            except LinAlgError:
                chosen[number] = False
        found[:, chosen] = self._basis[column, :dimension].T @ weights[:, chosen]
        return found
