"""Leave-one-out errors of ridge regression on few independent rows, from their products plus each penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.linalg.centred_rows import CentredRows, centred_rows, sparse_rows
from hiperplano.linalg.shifted.factors import ShiftedFactors
from hiperplano.linalg.shifted.tridiagonal import Tridiagonal
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.least_squares.solution import MOST_FACTORED_PENALISED
from hiperplano.solvers.statistics import SPARSE_PRODUCTS

LEAST_EIGENVALUE = 1e-9  # eigenvalues above this share of the largest keep seven digits, and scores eight


@dataclass(frozen=True)
class FewRows:
    """Rows whose centred products K have an inverse with the least of the penalties, but for the mean.

    With G = (K + alpha)⁻¹ the error of row i is (G·y)ᵢ/Gᵢᵢ. What all rows have in common, the direction m of the mean,
    takes no part: K is 0 there, and c·m·mᵀ, which is added, is taken away from Gᵢᵢ again.

    Attributes
    ----------
    rows : CentredRows
    form : Tridiagonal or ShiftedFactors
        Of K + c·m·mᵀ; the latter for few penalties.
    common : float
        c; 0 without an intercept.
    """

    rows: CentredRows
    form: Tridiagonal | ShiftedFactors
    common: float

    @classmethod
    def of(cls, rows: CentredRows, fit_intercept: bool, alphas: Array) -> FewRows | None:
        """None where, with the least of all penalties, rows are too close to depend on each other for their digits."""
        matrix, least = rows.products.copy(), float(alphas.min())
        common = float(matrix.trace()) / len(matrix) if fit_intercept else 0.0
        if fit_intercept:
            matrix += common * np.multiply.outer(rows.free_direction, rows.free_direction)
        factors, (n, d) = Costs.prefer_factors(len(alphas)), rows.x.shape
        form: ShiftedFactors | Tridiagonal | None = (
            ShiftedFactors.of(matrix, LEAST_EIGENVALUE, least) if factors else None
        )
        if form is None and (n <= d or not factors):  # the norm in which a factor tells its condition may say too much
            form = Tridiagonal.of(matrix, LEAST_EIGENVALUE, least)
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


def rows_to_multiply(design: Design, fit_intercept: bool) -> CentredRows:
    """Rows for products of all pairs of them: sparse ones as they are, where that is less work and loses no digits.

    Standard errors of few columns need dense ones.
    """
    if design.is_sparse and design.density < SPARSE_PRODUCTS and design.n_columns > MOST_FACTORED_PENALISED:
        rows = sparse_rows(design, fit_intercept)
        if not rows.cancels:
            return rows
    return centred_rows(design, fit_intercept)
