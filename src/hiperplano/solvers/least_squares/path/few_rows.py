"""Leave-one-out errors of ridge regression on few independent rows, from a tridiagonal form of their products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.shifted.tridiagonal import Tridiagonal

_LEAST = 1e-9  # of the largest square: singular values above this keep seven digits, and scores that choose one eight


@dataclass(frozen=True)
class FewRows:
    """Rows whose centred products K have an inverse, but for the mean.

    With G = (K + alpha)⁻¹ the error of row i is (G·y)ᵢ/Gᵢᵢ. What all rows have in common, the direction m of the mean,
    takes no part: K is 0 there, and c·m·mᵀ, which is added, is taken away from Gᵢᵢ again.

    Attributes
    ----------
    rows : CentredRows
    form : Tridiagonal
        Of K + c·m·mᵀ.
    common : float
        c; 0 without an intercept.
    """

    rows: CentredRows
    form: Tridiagonal
    common: float

    @classmethod
    def of(cls, rows: CentredRows, fit_intercept: bool) -> FewRows | None:
        """None where rows depend on each other, or are too close to it for the digits of their products."""
        matrix = rows.products.copy()
        common = float(matrix.trace()) / len(matrix) if fit_intercept else 0.0
        if fit_intercept:
            matrix += common * np.multiply.outer(rows.free_direction, rows.free_direction)
        form = Tridiagonal.of(matrix, _LEAST)
        return None if form is None else cls(rows, form, common)

    def errors(self, alphas: Array) -> Array:
        """Errors of every row, of shape (n, targets, alphas); NaN without a penalty, where any is possible."""
        diagonal, solved = self.form.inverses(self.rows.right, alphas)
        if self.common > 0:
            diagonal -= np.square(self.rows.free_direction)[:, None] / (self.common + alphas)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(alphas * solved / (alphas * diagonal * self.rows.root)[:, None, :])

    def mean_squared_errors(self, alphas: Array) -> Array:
        """Weighted means of squared errors, of shape (alphas, targets)."""
        weight = np.square(self.rows.root[:, 0])
        return np.asarray(np.tensordot(weight, np.square(self.errors(alphas)), axes=1).T / weight.sum())
