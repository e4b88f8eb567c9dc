"""Leverages and fits of ridge regression for many penalties, from a tridiagonal form of XᵀX."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.design import Array, Block
from hiperplano.linalg.shifted.tridiagonal import Tridiagonal
from hiperplano.linalg.triangular import reciprocal
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.path.few_rows import LEAST_EIGENVALUE


@dataclass(frozen=True)
class TridiagonalColumns:
    """Tridiagonal form of the products of centred columns, S = Q·T·Qᵀ.

    With penalty alpha, a row with coordinates u = (x − mean)·Q has the fit u·(T + alpha)⁻¹·right and the leverage
    total⁻¹ + u·(T + alpha)⁻¹·uᵀ.

    Attributes
    ----------
    mean, target_mean : ndarray of shape (d,) and (targets,)
    total : float
        Sum of the weights.
    alphas : ndarray of shape (alphas,)
        The penalties.
    form : Tridiagonal
        Tridiagonal form of S.
    right : ndarray of shape (d, targets)
        Qᵀ times the products of columns with targets.
    """

    mean: Array
    target_mean: Array
    total: float
    fit_intercept: bool
    alphas: Array
    form: Tridiagonal
    right: Array

    @classmethod
    def of(cls, plain: NormalEquations, alphas: Array, fit_intercept: bool) -> TridiagonalColumns | None:
        """Compute the form; None if S plus the smallest penalty is too badly conditioned.

        Parameters
        ----------
        plain : NormalEquations
            Normal equations without a penalty.
        """
        length = reciprocal(plain.scale)
        products = plain.gram * length[:, None]
        products *= length
        form = Tridiagonal.of(products, LEAST_EIGENVALUE, float(alphas.min()))
        if form is None:
            return None
        right = form.turn.T @ (plain.cross * length[:, None])
        return cls(plain.mean, plain.target_mean, plain.total, fit_intercept, alphas, form, right)

    def only(self, alphas: Array) -> TridiagonalColumns:
        """The same for some of the penalties."""
        return replace(self, alphas=alphas)

    def leverages_and_fits(self, block: Block) -> tuple[Array, Array]:
        """Leverages of shape (m, alphas) and fits of shape (m, targets, alphas), without the mean."""
        shifted, n_targets = self.form.shifted(self.alphas), len(self.target_mean)
        coordinates = self.form.turn.T @ np.subtract(block.dense(), self.mean).T
        solved = np.swapaxes(shifted.solve(self.right), 1, 2).reshape(len(self.mean), -1)
        fit = (coordinates.T @ solved).reshape(len(block), n_targets, len(self.alphas))
        return shifted.quadratic_forms(coordinates), fit
