"""Coordinates in the span of few rows, for problems that depend on rows only through inner products."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.sparse import issparse

from hiperplano.data.design import Array
from hiperplano.linalg.products import row_products
from hiperplano.linalg.triangular import EPS


class RowSpan:
    """X = Z·B with orthonormal rows of B: scores X·w of a w within the span are Z·v for w = Bᵀv, and ‖w‖ = ‖v‖.

    Z is the triangular factor of X·Xᵀ with pivots, so B is never formed: w is a combination of the pivot rows.
    Directions in which rows are shorter than about 1e-7 of the longest are left out, since X·Xᵀ does not resolve them.

    Parameters
    ----------
    x : ndarray or csr_array of shape (n, d)
        Fewer rows than columns.
    shift : ndarray of shape (d,), optional
        X is x − shift; sparse rows stay sparse.

    Attributes
    ----------
    coordinates : ndarray of shape (n, rank)
        Z.
    """

    def __init__(self, x: Any, shift: Array | None = None) -> None:
        shift = np.zeros(x.shape[1]) if shift is None else shift
        if not issparse(x):
            x, shift = np.ascontiguousarray(x - shift), np.zeros_like(shift)
        products = _products(x, shift)
        longest = float(products.diagonal().max(initial=0.0))
        factor, pivots, rank, _ = lapack.dpstrf(products, tol=x.shape[0] * EPS * longest, lower=1)
        lower = np.tril(factor)[:, :rank]
        self.coordinates = np.empty_like(lower)
        self.coordinates[pivots - 1] = lower
        self._triangle = lower[:rank]
        self._x, self._pivots, self._shift = x, pivots[:rank] - 1, shift

    def coefficients(self, v: Array) -> Array:
        """w of shape (k, d), for v of shape (k, rank)."""
        shares = np.zeros((self._x.shape[0], len(v)))  # of all rows: copying the pivot rows would take longer
        if self._triangle.size:
            shares[self._pivots] = solve_triangular(self._triangle, v.T, lower=True, trans=1, check_finite=False)
        return np.asarray((self._x.T @ shares).T) - np.multiply.outer(shares.sum(axis=0), self._shift)

    def project(self, w: Array) -> Array:
        """v of shape (k, rank) with the same scores as w, of shape (k, d)."""
        if not self._triangle.size or not w.any():
            return np.zeros((len(w), self._triangle.shape[1]))
        scores = (self._x @ w.T)[self._pivots] - w @ self._shift
        return np.asarray(solve_triangular(self._triangle, scores, lower=True, check_finite=False).T)


def _products(x: Any, shift: Array) -> Array:
    """(x − shift)·(x − shift)ᵀ."""
    if not issparse(x):
        return np.asarray(x @ x.T)
    along = x @ shift
    return row_products(x) - (along[:, None] + along) + float(shift @ shift)
