"""Systems of few rows in float32, at half the cost: residuals in float64 bring back all digits."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.design import Array
from hiperplano.linalg.products import row_products

_LEAST_RECIPROCAL = 1e-6  # condition of the products: below, steps of refinement gain too little
_SLOW = 0.1  # share of an error that a step may leave
_MOST_STEPS = 8


class SingleRows:
    """x·xᵀ of dense rows x in float32, as an operator and as a factor.

    Parameters
    ----------
    x : ndarray of shape (n, d)
    """

    def __init__(self, x: Array) -> None:
        self._x = x
        length = float(np.sqrt(np.einsum("ij,ij->", x, x) / len(x)))
        self._unit = 1.0 / (length or 1.0)  # so that squares of float32 are of ordinary size
        self._single = np.empty(x.shape, dtype=np.float32)
        np.multiply(x, self._unit, out=self._single, casting="same_kind")

    def square_product(self, shares: Array) -> Array:
        """x·xᵀ·shares, to the digits of float32, for shares of shape (n,)."""
        size = float(np.linalg.norm(shares)) or 1.0
        found = self._single @ (self._single.T @ (shares / size).astype(np.float32))
        return np.multiply(found, size / self._unit**2, dtype=np.float64)

    @cached_property
    def _products(self) -> Array:
        return row_products(self._single)

    def solve(self, right: Array, alpha: float, free: Array, tol: float) -> tuple[Array, float] | None:
        """(x·xᵀ + alpha + free·freeᵀ)⁻¹·right and the reciprocal condition; None where float32 will not do.

        Parameters
        ----------
        right : ndarray of shape (n, k)
        free : ndarray of shape (n,)
            One more column beside those of x.
        tol : float
            Error to leave, relative.
        """
        matrix, column = self._products.copy(), (self._unit * free).astype(np.float32)
        matrix += np.multiply.outer(column, column)
        matrix.flat[:: len(matrix) + 1] += np.float32(alpha * self._unit**2)
        norm = float(np.abs(matrix).sum(axis=0).max())
        lower, failed = lapack.spotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        reciprocal = float(lapack.spocon(lower, norm, uplo="L")[0])
        if not reciprocal >= _LEAST_RECIPROCAL:
            return None
        shares, left, before = np.zeros_like(right), right, np.full(right.shape[1], np.inf)
        for _ in range(_MOST_STEPS):
            size = np.linalg.norm(left, axis=0)
            size[size == 0] = 1.0
            step = lapack.spotrs(lower, (left / size).astype(np.float32), lower=1)[0] * (size * self._unit**2)
            shares += step
            change = np.linalg.norm(step, axis=0)
            shrinking = change / np.where(before > 0, before, 1.0)  # 0 at the first step, which tells nothing
            if (before < np.inf).all():
                if (shrinking * change <= tol * np.linalg.norm(shares, axis=0)).all():
                    return shares, reciprocal
                if (shrinking > _SLOW).any():
                    return None
            before = change
            left = right - self._x @ (self._x.T @ shares) - alpha * shares
            left -= np.multiply.outer(free, free @ shares)
        return None
