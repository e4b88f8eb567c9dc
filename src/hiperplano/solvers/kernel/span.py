"""Orthonormal features of the span of the kernel functions of some rows, the centres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, lu, solve_triangular

from hiperplano.data.design import Array
from hiperplano.kernels import KernelMatrix
from hiperplano.linalg.products import rows_dot

DEPENDENT = 1e-10  # rows whose residual is below this share of the largest diagonal entry are left out


@dataclass(frozen=True)
class Span:
    """Features ψ(x) = L⁻¹·k(C, x) of the centres C, with L·Lᵀ their Gram matrix.

    ψ(x)·ψ(x′) equals the kernel if one of the rows is a centre, and otherwise is its best approximation in the span. A
    function θ·ψ(x) of the span has the norm ‖θ‖.

    Attributes
    ----------
    centres : ndarray of int of shape (r,)
        Numbers of the centres among the rows of the kernel matrix.
    triangle : ndarray of shape (r, r)
        L.
    """

    centres: Array
    triangle: Array

    @classmethod
    def of(cls, matrix: KernelMatrix, rows: Array) -> Span:
        """The span of some rows of a symmetric kernel matrix; linearly dependent ones are left out."""
        inner = matrix.part(rows, rows).dense()
        smallest = DEPENDENT * float(inner.diagonal().max(initial=0.0))
        upper, order, rank, _ = lapack.dpstrf(inner, tol=smallest)
        return cls(rows[order[:rank] - 1], np.ascontiguousarray(np.triu(upper[:rank, :rank]).T))

    def features(self, values: Array) -> Array:
        """ψ of rows, of shape (n, r), from the kernel values of the rows with the centres."""
        inverse = solve_triangular(self.triangle, np.eye(len(self.triangle)), lower=True, check_finite=False)
        return rows_dot(values, np.ascontiguousarray(inverse.T))

    def to_centres(self, theta: Array) -> Array:
        """Coefficients of the centres, of shape (r, k), for functions θ·ψ(x)."""
        return np.asarray(solve_triangular(self.triangle, theta, lower=True, trans=1, check_finite=False))

    def whitened(self, sums: Array) -> Array:
        """L⁻¹·sums, for `sums` of shape (r, k)."""
        return np.asarray(solve_triangular(self.triangle, sums, lower=True, check_finite=False))


def drawn_rows(n_rows: int, size: int, rng: np.random.Generator) -> Array:
    """Numbers of rows drawn at random, in order; of all rows if there are no more than `size`."""
    return np.sort(rng.choice(n_rows, size, replace=False)) if size < n_rows else np.arange(n_rows)


def spanning_rows(features: Array) -> Array:
    """As many rows as there are features, which span the features of all rows: the pivots of an LU factorisation.

    Parameters
    ----------
    features : ndarray of shape (n, r)
        At least as many rows as features.
    """
    unit = np.abs(features).max(axis=0)
    place, _, _ = lu(features / np.where(unit > 0, unit, 1.0), p_indices=True, check_finite=False)
    return np.flatnonzero(place < features.shape[1])
