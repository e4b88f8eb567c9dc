"""Coordinates in the span of few rows: what depends on rows only through products with them needs no more columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.sparse import issparse

from hiperplano.data.design import Array

_EPS = float(np.finfo(float).eps)


class RowSpan:
    """X = Z·B with orthonormal rows of B: scores X·w of a w within the span are Z·v for w = Bᵀv, and ‖w‖ = ‖v‖.

    Z is the triangular factor of X·Xᵀ with pivots, so B is never formed: w is a combination of the pivot rows.
    Directions in which rows are shorter than about 1e-7 of the longest are left out: products of rows do not show them.

    Parameters
    ----------
    x : ndarray or CSR array of shape (n, d)
        Rows, fewer than columns.

    Attributes
    ----------
    coordinates : ndarray of shape (n, rank)
        Z.
    """

    def __init__(self, x: Any) -> None:
        products = x @ x.T
        products = products.toarray() if issparse(products) else products
        longest = float(products.diagonal().max(initial=0.0))
        factor, pivots, rank, _ = lapack.dpstrf(products, tol=len(x) * _EPS * longest, lower=1)
        lower = np.tril(factor)[:, :rank]
        self.coordinates = np.empty_like(lower)
        self.coordinates[pivots - 1] = lower
        self._triangle = lower[:rank]
        self._pivot_rows = x[pivots[:rank] - 1]

    def coefficients(self, v: Array) -> Array:
        """w of shape (k, d), for v of shape (k, rank)."""
        if not self._triangle.size:
            return np.zeros((len(v), self._pivot_rows.shape[1]))
        shares = solve_triangular(self._triangle, v.T, lower=True, trans=1, check_finite=False)
        return np.asarray(shares.T @ self._pivot_rows)

    def project(self, w: Array) -> Array:
        """v of shape (k, rank) with the same scores as w, of shape (k, d)."""
        if not self._triangle.size:
            return np.zeros((len(w), 0))
        scores = self._pivot_rows @ w.T
        return np.asarray(solve_triangular(self._triangle, scores, lower=True, check_finite=False).T)
