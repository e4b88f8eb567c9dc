"""An approximate inverse of S·K·S + α, from a low-rank approximation of S·K·S."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hiperplano.data.design import Array
from hiperplano.linalg.products import columns_dot, rows_dot

_ABSENT = 1e-12
_SINGLE = 1e-4  # penalties above this share of F·Fᵀ keep digits enough when F is in float32


@dataclass(frozen=True)
class LowRankInverse:
    """(F·Fᵀ + α)⁻¹ = (1 − F·(FᵀF + α)⁻¹·Fᵀ)/α.

    Attributes
    ----------
    factor : ndarray of shape (n, r)
        F, in float32 where the difference in the brackets keeps digits enough.
    inner : dict
        The Cholesky factor of FᵀF + α for every α.
    """

    factor: Array
    inner: dict[float, tuple[Array, bool]]

    @classmethod
    def of(cls, factor: Array, shift: Array) -> LowRankInverse:
        """From F, for the penalties of all right sides."""
        gram = columns_dot(factor, factor)
        floor = _ABSENT * float(gram.diagonal().max(initial=0.0))  # rounding must not make it indefinite
        inner = {}
        for alpha in np.unique(shift).tolist():
            shifted = gram.copy()
            shifted[np.diag_indices(len(gram))] += max(alpha, floor)
            inner[alpha] = cho_factor(shifted, lower=True, check_finite=False)
        single = shift.min() > _SINGLE * np.linalg.norm(gram)
        return cls(factor.astype(np.float32) if single else factor, inner)

    def __call__(self, right: Array, shift: Array) -> Array:
        """The inverse times every column of `right`, each with its own α."""
        if not self.factor.size:
            return right / shift
        size = np.maximum(np.abs(right).max(axis=0), np.finfo(float).tiny)  # which may be beyond float32
        inside = columns_dot(self.factor, (right / size).astype(self.factor.dtype)).astype(np.float64)
        for alpha in np.unique(shift).tolist():
            mine = shift == alpha
            inside[:, mine] = cho_solve(self.inner[alpha], inside[:, mine], check_finite=False)
        return np.asarray((right - size * rows_dot(self.factor, inside.astype(self.factor.dtype))) / shift)
