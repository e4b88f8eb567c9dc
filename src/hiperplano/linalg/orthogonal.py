"""Orthogonal factorisation over blocks, and numerical rank.

Triangles of blocks are merged two by two; Q is never formed.
"""

from __future__ import annotations

from ctypes import byref, c_int, c_void_p
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from hiperplano.data.design import Array, Sums
from hiperplano.linalg.lapack.functions import INT, compiled
from hiperplano.linalg.triangular import EPS, Columns

_PANEL = 32  # columns
IN_RELATION = 1e-6  # least share of a column in a null direction for which it counts as part of the linear relation


def triangle_of(rows: Array) -> Array:
    """R of rows = Q·R.

    Panels of columns are factored recursively. The usual factorisation (GEQRF), which works on one column at a time
    within a panel, takes two to four times as long for up to some hundreds of columns. SciPy's `dgeqrt` gives the same
    bits, but holds the GIL: on blocks of 4,096×100, two threads took 115 ms, and 40 ms without it.
    """
    (m, n), least = rows.shape, min(rows.shape)
    if not least:
        return np.zeros((0, n))
    out, panel, failed = np.array(rows, dtype=np.float64, order="F"), min(_PANEL, least), c_int(0)
    reflectors, work = np.empty((least, panel)), np.empty((n, panel))
    function = compiled("lapack", "geqrt", out.dtype, INT, INT, INT, c_void_p, INT, c_void_p, INT, c_void_p, INT)
    height, width = c_int(m), c_int(panel)
    matrix = byref(height), byref(c_int(n)), byref(width), out.ctypes.data, byref(height)
    function(*matrix, reflectors.ctypes.data, byref(width), work.ctypes.data, byref(failed))
    return np.triu(out[:least])


def merge_triangles(left: Sums, right: Sums) -> Sums:
    """Triangular factor of two sets of rows from their factors: the `combine` of a fold over `triangle_of`."""
    return (triangle_of(np.vstack([left[0], right[0]])),)


def graded_qr(rows: Array) -> tuple[Array, Array, Array]:
    """Pivoted QR of a matrix whose rows have very different magnitudes.

    Columns are pivoted and rows sorted by size, which keeps the relative accuracy of each row (Cox and Higham 1998).

    Parameters
    ----------
    rows : ndarray of shape (m, k)

    Returns
    -------
    q : ndarray of shape (m, min(m, k))
    upper : ndarray of shape (min(m, k), k)
    pivots : ndarray of int of shape (k,)
        rows[:, pivots] = q·upper.
    """
    order = np.argsort(-np.abs(rows).max(axis=1, initial=0.0), kind="stable")
    turn, upper, pivots = qr(rows[order], mode="economic", pivoting=True, check_finite=False)
    unsorted = np.empty_like(turn)
    unsorted[order] = turn
    return unsorted, upper, pivots


class Directions(NamedTuple):
    """SVD left·diag(values)·basisᵀ of the triangular factor of unit-norm columns, and its null directions.

    Attributes
    ----------
    left : ndarray of shape (d, rank)
    values : ndarray of shape (rank,)
        Singular values.
    basis : ndarray of shape (d, rank)
    null : ndarray of shape (d, d − rank)
    """

    left: Array
    values: Array
    basis: Array
    null: Array

    @property
    def condition(self) -> float:
        """Condition number of the directions that are present."""
        return float(self.values.max(initial=1.0) / self.values.min(initial=1.0))

    def columns(self, scale: Array) -> Columns:
        """The directions that are present, as a few rows with the same Gram matrix as all rows."""
        rows = np.zeros((len(self.values), len(scale)))
        rows[:, scale > 0] = self.values[:, None] * self.basis.T
        return Columns(rows, scale)


def directions(upper: Array, scale: Array, rounding: Array) -> Directions:
    """Numerical rank of a triangular factor: which directions are present, among the columns that vary.

    A direction is absent if its singular value is below the rounding errors of the computation, or below those of the
    input values of the columns involved.

    Parameters
    ----------
    upper, scale : ndarray of shape (d, d) and (d,)
        The triangular factor, and the factors of the columns; 0 for constant ones.
    rounding : ndarray of shape (d,)
        Rounding error of each column's input values, relative to its standard deviation.

    Returns
    -------
    Directions
        Directions of the columns with nonzero `scale`.
    """
    varying = np.flatnonzero(scale)
    left, values, right = np.linalg.svd(upper[np.ix_(varying, varying)])
    present = is_present(values, right, rounding[varying])
    return Directions(left[:, present], values[present], right[present].T, right[~present].T)


def all_present(condition: float, rounding: Array) -> bool:
    """Whether the estimated condition number of a triangular factor proves that unit-norm columns have full rank.

    The estimate may be too small by a factor of ten, and refers to another norm, which adds a factor of √d at most.

    Parameters
    ----------
    rounding : ndarray of shape (d,)
        Rounding error of each column's input values, relative to its standard deviation.
    """
    d = len(rounding)
    return 10 * d * condition * max(16 * d * EPS, 2 * float(rounding.max(initial=0.0))) < 1.0


def is_present(values: Array, basis: Array, rounding: Array) -> Array:
    """Which of the k singular values of unit-norm columns exceed rounding errors.

    Parameters
    ----------
    values : ndarray of shape (k,)
    basis : ndarray of shape (k, d)
        Their right singular vectors, in rows.
    rounding : ndarray of shape (d,)
        Rounding error of each column's input values, relative to its standard deviation.
    """
    made = 16 * max(basis.shape) * EPS * float(values.max(initial=0.0))
    written = 2 * np.sqrt(np.square(basis) @ np.square(rounding))
    return np.asarray(values > np.maximum(made, written))


def dependent_columns(scale: Array, found: Directions | None) -> Array:
    """Numbers of the columns that are constant or part of a linear relation.

    Parameters
    ----------
    scale : ndarray of shape (d,)
        0 for constant columns.
    found : Directions or None
        None stands for no relation.
    """
    dependent = scale == 0
    if found is not None:
        dependent[~dependent] = np.abs(found.null).max(axis=1, initial=0.0) > IN_RELATION
    return np.flatnonzero(dependent)
