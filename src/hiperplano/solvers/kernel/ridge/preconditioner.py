"""An approximate inverse of S·K·S + α, from a low-rank approximation of S·K·S."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from hiperplano.data.design import Array
from hiperplano.linalg.products import columns_dot, rows_dot

_ABSENT = 1e-12


@dataclass(frozen=True)
class LowRankInverse:
    """(U·diag(values)·Uᵀ + α)⁻¹ for any α: 1/α on what is orthogonal to U.

    Attributes
    ----------
    basis : ndarray of shape (n, r)
        U, orthonormal.
    values : ndarray of shape (r,)
    """

    basis: Array
    values: Array

    @classmethod
    def of(cls, factor: Array) -> LowRankInverse:
        """From F, where F·Fᵀ approximates the matrix."""
        values, vectors = eigh(columns_dot(factor, factor))
        there = values > _ABSENT * values[-1] if len(values) else np.zeros(0, dtype=bool)
        values, vectors = values[there], vectors[:, there]
        return cls(rows_dot(factor, vectors / np.sqrt(values)), values)

    def __call__(self, right: Array, shift: Array) -> Array:
        """The inverse times every column of `right`, each with its own α."""
        inside = columns_dot(self.basis, right)
        inside *= (self.values / (self.values + shift[:, None])).T
        return np.asarray((right - rows_dot(self.basis, inside)) / shift)
