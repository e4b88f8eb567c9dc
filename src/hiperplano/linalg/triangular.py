"""Triangular factors of unit-norm columns, and solves with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.design import Array

EPS = float(np.finfo(float).eps)  # relative rounding error of float64
_PANEL = 64  # columns multiplied together: few enough to skip most zeros, enough for BLAS
# Condition number of the columns above which their Gram matrix, which squares it, is no longer factored.
MAX_GRAM_CONDITION = 1e3


@dataclass(frozen=True)
class Factor:
    """Upper triangular U with UᵀU = D·(XᵀX + penalty)·D, where D brings columns to unit length.

    Attributes
    ----------
    upper : ndarray of shape (d, d)
    scale : ndarray of shape (d,)
        The diagonal of D; 0 for a constant column, whose coefficient is then 0.
    condition : float
        Estimated condition number of the columns, the square root of that of UᵀU.
    rounding : float
        Rounding error of the factored values.
    """

    upper: Array
    scale: Array
    condition: float
    rounding: float = EPS

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
    """A few rows with the same Gram matrix as all rows, which are centred and multiplied by `scale`; without a penalty.

    Attributes
    ----------
    rows : ndarray of shape (r, d)
    scale : ndarray of shape (d,)
        0 for a constant column.
    """

    rows: Array
    scale: Array


def cholesky(gram: Array, scale: Array, rounding: float = EPS) -> Factor | None:
    """Factor a Gram matrix with unit diagonal.

    Parameters
    ----------
    gram : ndarray of shape (d, d)
    scale : ndarray of shape (d,)
        Factors by which the columns were multiplied.
    rounding : float
        Rounding error of the products of columns.

    Returns
    -------
    Factor or None
        None if rounding makes the matrix indefinite.
    """
    upper, failed = lapack.dpotrf(gram.T, lower=0, clean=1)  # the transpose avoids a conversion to column-major order
    if failed:
        return None
    rcond, _ = lapack.dpocon(upper, lapack.dlange("1", gram.T), uplo="U")
    return Factor(upper, scale, float(max(rcond, 1e-300)) ** -0.5, rounding)


def from_triangle(upper: Array, scale: Array) -> Factor:
    """The factor from the triangle of an orthogonal factorisation.

    Parameters
    ----------
    upper : ndarray of shape (d, d)
        R of the columns times `scale`.
    scale : ndarray of shape (d,)
    """
    fixed = upper.copy()
    fixed[np.diag_indices_from(fixed)] += scale == 0  # a column of zeros would have a zero pivot
    rcond, _ = lapack.dtrcon(fixed, norm="1", uplo="U")
    return Factor(fixed, scale, 1.0 / float(max(rcond, 1e-300)))


def inverse_triangle(upper: Array) -> Array:
    """Inverse of an upper triangular matrix by recursive halving.

    Matrix products take half the time of LAPACK's small blocks.
    """
    out = np.zeros(upper.shape)

    def invert(start: int, stop: int) -> None:
        if stop - start <= _PANEL:
            out[start:stop, start:stop] = lapack.dtrtri(upper[start:stop, start:stop])[0]
            return
        middle = (start + stop) // 2
        invert(start, middle)
        invert(middle, stop)
        beside = times_triangle(upper[start:middle, middle:stop], out[middle:stop, middle:stop])
        for first in range(start, middle, _PANEL):
            rows = slice(first, min(first + _PANEL, middle))
            np.matmul(out[rows, first:middle], beside[first - start :], out=out[rows, middle:stop])
        np.negative(out[start:middle, middle:stop], out=out[start:middle, middle:stop])

    invert(0, len(upper))
    return out


def times_triangle(rows: Array, upper: Array) -> Array:
    """rows·upper for an upper triangular matrix, skipping most products with zeros."""
    out = np.empty((len(rows), len(upper)))
    for start in range(0, len(upper), _PANEL):
        stop = min(start + _PANEL, len(upper))
        np.matmul(rows[:, :stop], upper[:stop, start:stop], out=out[:, start:stop])
    return out


def reciprocal(values: Array) -> Array:
    """Elementwise reciprocal, with 0 for 0."""
    if values.min(initial=1.0) > 0:
        return np.asarray(1.0 / values)
    held = values > 0
    out = np.where(held, values, 1.0)
    return np.divide(held, out, out=out)


def inverse_root(squares: Array) -> Array:
    """1/√ of sums of squares, with 0 for 0."""
    return reciprocal(np.sqrt(np.maximum(squares, 0.0)))
