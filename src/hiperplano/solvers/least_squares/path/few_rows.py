"""Leave-one-out errors of ridge regression with few rows, from X·Xᵀ plus each penalty."""

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
    """Rows whose centred products K = X·Xᵀ, plus the smallest penalty, are regular except for the mean.

    With G = (K + alpha)⁻¹, the error of row i is (G·y)ᵢ/Gᵢᵢ. With an intercept, K is 0 along the direction m of the
    mean. So c·m·mᵀ is added to K, and its contribution is subtracted from Gᵢᵢ again.

    Attributes
    ----------
    rows : CentredRows
    form : Tridiagonal or ShiftedFactors
        Tridiagonal form of K + c·m·mᵀ, or, for few penalties, a factor for each.
    common : float
        c; 0 without an intercept.
    """

    rows: CentredRows
    form: Tridiagonal | ShiftedFactors
    common: float

    @classmethod
    def of(cls, rows: CentredRows, fit_intercept: bool, alphas: Array) -> FewRows | None:
        """Compute the form; None if K plus the smallest penalty is too badly conditioned."""
        matrix, least = rows.products.copy(), float(alphas.min())
        common = float(matrix.trace()) / len(matrix) if fit_intercept else 0.0
        if fit_intercept:
            matrix += common * np.multiply.outer(rows.free_direction, rows.free_direction)
        factors, (n, d) = Costs.prefer_factors(len(alphas)), rows.x.shape
        form: ShiftedFactors | Tridiagonal | None = (
            ShiftedFactors.of(matrix, LEAST_EIGENVALUE, least) if factors else None
        )
        if form is None and (n <= d or not factors):  # the condition estimate of a factor may be too large
            form = Tridiagonal.of(matrix, LEAST_EIGENVALUE, least)
        return None if form is None else cls(rows, form, common)

    def errors(self, alphas: Array) -> Array:
        """Errors of every row, of shape (n, targets, alphas); NaN for a penalty of 0."""
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
    """Centred rows for X·Xᵀ; sparse ones stay sparse if that is faster and loses no digits.

    With few columns they are made dense, since standard errors need dense rows.
    """
    if design.is_sparse and design.density < SPARSE_PRODUCTS and design.n_columns > MOST_FACTORED_PENALISED:
        rows = sparse_rows(design, fit_intercept)
        if not rows.cancels:
            return rows
    return centred_rows(design, fit_intercept)
