"""Approximate inverses of S·K·S + α, from a low-rank approximation of S·K·S."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.linalg.lapack.cholesky import factor_in_place, solve_factored
from hiperplano.linalg.products import columns_dot, rows_dot

_ABSENT = 1e-12  # least shift of FᵀF, as a share of its largest diagonal entry
_SINGLE = 1e-4  # least penalty, as a share of ‖FᵀF‖, for which F in float32 is accurate enough


@dataclass(frozen=True)
class LowRankInverse:
    """(F·Fᵀ + α)⁻¹ = (1 − F·(FᵀF + α)⁻¹·Fᵀ)/α, for several systems, which differ in penalty and possibly in rows.

    Attributes
    ----------
    factor : ndarray of shape (n, r)
        F, in float32 where the difference in parentheses keeps enough digits.
    inner : list of ndarray of shape (r, r)
        Cholesky factor of FᵀF + α for every system.
    shifts : ndarray of shape (systems,)
        α.
    """

    factor: Array
    inner: list[Array]
    shifts: Array

    @classmethod
    def of(cls, factor: Array, grams: Sequence[Array], shifts: Array) -> Self:
        """Build from F, and from FᵀF of the rows of each system.

        Raises
        ------
        numpy.linalg.LinAlgError
            If rounding makes one of the systems indefinite.
        """

        def inner(system: int) -> Array:
            shifted = np.array(grams[system])
            floor = _ABSENT * float(shifted.diagonal().max(initial=0.0))
            shifted.flat[:: len(shifted) + 1] += max(shifts[system], floor)
            if not factor_in_place(shifted):
                raise LinAlgError("FᵀF is not positive semidefinite")
            return shifted

        found = in_threads(inner, range(len(shifts)), len(shifts) * factor.shape[1] ** 2)
        single = shifts.min() > _SINGLE * max(np.linalg.norm(gram) for gram in grams)
        return cls(factor.astype(np.float32) if single else factor, found, shifts)

    @classmethod
    def of_all_rows(cls, factor: Array, shifts: Array) -> Self:
        """Build for systems of all rows that differ only in their penalty."""
        return cls.of(factor, [columns_dot(factor, factor)] * len(shifts), shifts)

    def __call__(self, right: Array, which: Array) -> Array:
        """Multiply each column of `right` by the inverse of its system.

        If a system has only some of the rows, the other rows of `right` must be 0, and those of the result are
        meaningless.
        """
        shift = self.shifts[which]
        if not self.factor.size:
            return np.asarray(right / shift)
        size = np.maximum(np.abs(right).max(axis=0), np.finfo(float).tiny)  # values may exceed the range of float32
        inside = columns_dot(self.factor, (right / size).astype(self.factor.dtype)).astype(np.float64)

        def solve(system: int) -> None:
            mine = which == system
            inside[:, mine] = solve_factored(self.inner[system], inside[:, mine])

        systems = np.unique(which).tolist()
        in_threads(solve, systems, len(systems) * inside.shape[0] ** 2)
        return np.asarray((right - size * rows_dot(self.factor, inside.astype(self.factor.dtype))) / shift)
