"""Symmetric positive semidefinite systems, equilibrated to a unit diagonal before they are solved."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, lapack
from scipy.linalg.blas import dtrsv

from hiperplano.data.design import Array

SINGULAR = 1e-13  # reciprocal condition below which directions count as absent


class SymmetricSolver:
    """The inverse of a matrix, by Cholesky; where that is singular, its pseudo-inverse, by eigenvectors.

    Parameters
    ----------
    matrix : ndarray of shape (k, k)
        Symmetric and positive semidefinite up to rounding.
    threshold : float
        Reciprocal condition, of the matrix with a diagonal of ones, below which it counts as singular.

    Attributes
    ----------
    singular : bool
        Whether some direction hardly counts.
    unit_null : ndarray of shape (k, r)
        Directions, in columns, that the matrix with a diagonal of ones takes to 0; none unless it is singular.
    """

    def __init__(self, matrix: Array, threshold: float = SINGULAR) -> None:
        diagonal = matrix.diagonal()
        if not diagonal.min(initial=np.inf) > 0.0:
            diagonal = np.where(diagonal > 0.0, diagonal, np.inf)
        root = 1.0 / np.sqrt(diagonal)
        self._root = root
        unit = matrix * root[:, None]
        unit *= root
        unit.flat[:: len(unit) + 1] = 1.0
        # The transpose is the same matrix, in the order of memory that LAPACK takes without a copy.
        self._norm = lapack.dlange("1", unit.T)
        self._upper, failed = lapack.dpotrf(unit.T, lower=0, clean=0)
        self._failed = bool(failed)
        self.singular = self._failed or not (_far_from_singular(self._upper, threshold) or self.reciprocal >= threshold)
        self.unit_null = np.empty((len(unit), 0))
        if self.singular:
            values, vectors = eigh(unit)
            there = values > threshold * values[-1]
            self.unit_null = vectors[:, ~there]
            self._half = vectors[:, there] / np.sqrt(values[there])

    @cached_property
    def reciprocal(self) -> float:
        """The reciprocal condition of the matrix with a diagonal of ones; 0 where it is not positive definite."""
        if self._failed:
            return 0.0
        return float(lapack.dpocon(self._upper, self._norm, uplo="U")[0])

    @property
    def null(self) -> Array:
        """Directions, in columns, that the matrix itself takes to 0."""
        return np.asarray(self._root[:, None] * self.unit_null)

    def solve(self, right: Array) -> Array:
        """The inverse times `right`, of shape (k,) or (k, m)."""
        root = self._root if right.ndim == 1 else self._root[:, None]
        if self.singular:
            return np.asarray(root * (self._half @ (self._half.T @ (root * right))))
        if right.ndim == 1:  # in half the time of what is made for many right sides
            inner = dtrsv(self._upper, root * right, trans=1, overwrite_x=1)
            return np.asarray(root * dtrsv(self._upper, inner, overwrite_x=1))
        return np.asarray(root * lapack.dpotrs(self._upper, root * right, lower=0)[0])

    def precondition(self, vector: Array) -> Array:
        """The inverse times a vector that has any shape, of k entries."""
        return self.solve(vector.ravel()).reshape(vector.shape)

    def half_inverse(self) -> Array:
        """A square matrix that makes the inverse when it is multiplied with its transpose.

        For many products with small matrices, which then are those of one array.
        """
        out = np.zeros((len(self._root), len(self._root)))
        if self.singular:
            out[:, : self._half.shape[1]] = self._half
        else:
            out[...] = np.triu(lapack.dtrtri(self._upper)[0])
        return np.asarray(self._root[:, None] * out)


def _far_from_singular(upper: Array, threshold: float) -> bool:
    """Whether the determinant tells that the reciprocal condition is above `threshold`, in a fraction of its time.

    With a diagonal of ones, the other eigenvalues multiply to less than e: the least is no less than det/e. The norm of
    sums is at most k, and that of the inverse √k over the least eigenvalue.
    """
    root = float(np.multiply.reduce(upper.diagonal()))
    return root * root > math.e * len(upper) ** 1.5 * threshold
