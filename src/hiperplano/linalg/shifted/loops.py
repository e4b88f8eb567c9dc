"""Compiled loop over the rows of an orthogonal matrix, for inverses of a tridiagonal one."""

from __future__ import annotations

import numpy as np
from numba import njit

from hiperplano.data.design import Array


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def add_inverse_diagonals(turned: Array, inverse: Array, below: Array, out: Array) -> None:
    """out[i, s] += Σₖ zₖ²·inverse[k, s], where zₖ = turned[k, i] − below[k, s]·zₖ₋₁.

    Parameters
    ----------
    turned : ndarray of shape (n, m)
        Transpose of some rows of an orthogonal matrix.
    inverse : ndarray of shape (n, shifts)
        Reciprocal pivots of L·D·Lᵀ.
    below : ndarray of shape (n, shifts)
        Subdiagonal of L; 0 in the first row.
    out : ndarray of shape (m, shifts)
    """
    n, m = turned.shape
    n_shifts = inverse.shape[1]
    z, sums = np.zeros((n_shifts, m)), np.zeros((n_shifts, m))
    for k in range(n):
        here = turned[k]
        for s in range(n_shifts):
            factor, over, last, total = below[k, s], inverse[k, s], z[s], sums[s]
            for i in range(m):
                now = here[i] - factor * last[i]
                last[i] = now
                total[i] += now * now * over
    for s in range(n_shifts):
        for i in range(m):
            out[i, s] += sums[s, i]
