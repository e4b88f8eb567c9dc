"""A triangular factor of unit-length columns: everything small that least squares needs after its passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.design import Array


@dataclass(frozen=True)
class Factor:
    """Upper triangular U with UᵀU = D·(XᵀX + penalty)·D, where D brings columns to unit length.

    Attributes
    ----------
    upper : ndarray of shape (d, d)
    scale : ndarray of shape (d,)
        The diagonal of D; 0 for a column that does not vary, whose coefficient is then 0.
    condition : float
        Estimated condition number of the columns, the square root of that of UᵀU.
    """

    upper: Array
    scale: Array
    condition: float

    def solve(self, right: Array) -> Array:
        """(UᵀU)⁻¹·right in scaled coordinates, for `right` of shape (d,) or (d, k)."""
        return np.asarray(lapack.dpotrs(self.upper, right, lower=0)[0])

    def forward(self, right: Array) -> Array:
        """U⁻ᵀ·right."""
        return np.asarray(lapack.dtrtrs(self.upper, right, trans=1)[0])

    def backward(self, right: Array) -> Array:
        """U⁻¹·right."""
        return np.asarray(lapack.dtrtrs(self.upper, right)[0])


@dataclass(frozen=True)
class Columns:
    """A few rows whose products of columns are those of all rows, less their means, times `scale`; no penalty.

    Attributes
    ----------
    rows : ndarray of shape (r, d)
    scale : ndarray of shape (d,)
        0 for a column that does not vary.
    """

    rows: Array
    scale: Array


def cholesky(gram: Array, scale: Array) -> Factor | None:
    """Factor a Gram matrix with unit diagonal; None where rounding makes it indefinite."""
    upper, failed = lapack.dpotrf(gram, lower=0, clean=1)
    if failed:
        return None
    reciprocal, _ = lapack.dpocon(upper, np.abs(gram).sum(axis=0).max(initial=0.0), uplo="U")
    return Factor(upper, scale, float(max(reciprocal, 1e-300)) ** -0.5)


def from_triangle(upper: Array, scale: Array) -> Factor:
    """Wrap the triangle of an orthogonal factorisation of columns multiplied by `scale`."""
    fixed = upper.copy()
    fixed[np.diag_indices_from(fixed)] += scale == 0  # a column of zeros has an empty pivot
    reciprocal, _ = lapack.dtrcon(fixed, norm="1", uplo="U")
    return Factor(fixed, scale, 1.0 / float(max(reciprocal, 1e-300)))
