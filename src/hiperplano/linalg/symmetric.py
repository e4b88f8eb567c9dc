"""Symmetric positive semidefinite systems, scaled to a unit diagonal before they are solved."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, lapack
from scipy.linalg.blas import dtrsv

from hiperplano.data.design import Array

SINGULAR = 1e-13  # reciprocal condition below which directions count as absent


class SymmetricSolver:
    """Inverse of a matrix by Cholesky, or its pseudo-inverse by eigenvectors if it is singular.

    Parameters
    ----------
    matrix : ndarray of shape (k, k)
        Symmetric and positive semidefinite up to rounding.
    threshold : float
        Reciprocal condition number of the matrix with unit diagonal below which it counts as singular.

    Attributes
    ----------
    singular : bool
        Whether the matrix is numerically singular.
    unit_null : ndarray of shape (k, r)
        Null space of the matrix with unit diagonal, in columns; empty unless it is singular.
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
        # The transpose is the same matrix, in LAPACK's order, which avoids a copy.
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
        """Reciprocal condition number of the matrix with unit diagonal; 0 if it is not positive definite."""
        if self._failed:
            return 0.0
        return float(lapack.dpocon(self._upper, self._norm, uplo="U")[0])

    @property
    def least(self) -> float:
        """The smallest eigenvalue of the matrix with unit diagonal, at least: 1 over the 1-norm of its inverse."""
        return self.reciprocal * float(self._norm)

    @property
    def null(self) -> Array:
        """Null space of the matrix itself, in columns."""
        return np.asarray(self._root[:, None] * self.unit_null)

    def solve(self, right: Array) -> Array:
        """The inverse times `right`, of shape (k,) or (k, m)."""
        root = self._root if right.ndim == 1 else self._root[:, None]
        if self.singular:
            return np.asarray(root * (self._half @ (self._half.T @ (root * right))))
        if right.ndim == 1:  # takes half the time of the function for many right-hand sides
            inner = dtrsv(self._upper, root * right, trans=1, overwrite_x=1)
            return np.asarray(root * dtrsv(self._upper, inner, overwrite_x=1))
        return np.asarray(root * lapack.dpotrs(self._upper, root * right, lower=0)[0])

    def precondition(self, vector: Array) -> Array:
        """The inverse times a vector of k entries, of any shape."""
        return self.solve(vector.ravel()).reshape(vector.shape)

    def half_inverse(self) -> Array:
        """A square matrix H whose product with its transpose is the inverse.

        It turns many products with small matrices into products with one array.
        """
        out = np.zeros((len(self._root), len(self._root)))
        if self.singular:
            out[:, : self._half.shape[1]] = self._half
        else:
            out[...] = np.triu(lapack.dtrtri(self._upper)[0])
        return np.asarray(self._root[:, None] * out)


def _far_from_singular(upper: Array, threshold: float) -> bool:
    """Whether the determinant proves, in a fraction of the time, a reciprocal condition number above `threshold`.

    With a unit diagonal, the product of the other eigenvalues is below e, so the smallest is at least det/e. The 1-norm
    is at most k, and that of the inverse at most √k divided by the smallest eigenvalue.
    """
    root = float(np.multiply.reduce(upper.diagonal()))
    return root * root > math.e * len(upper) ** 1.5 * threshold
