"""Leverages and fits of ridge regression from a Cholesky factor for each of a few penalties."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.design import Array, Block, Design
from hiperplano.linalg.triangular import cholesky, inverse_triangle, times_triangle
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.statistics import SPARSE_PRODUCTS

_MOST_CONDITION = 1e4  # largest condition number of the columns with their penalty: eight digits of the errors are left
_MOST_CANCELLED = 1e3  # largest ratio of squares of sparse columns before and after centring: three digits are lost


@dataclass(frozen=True)
class PenaltyFactors:
    """Coordinates of centred rows in which XᵀX plus a penalty is the identity, for each of a few penalties.

    With penalty alpha, a row has the coordinates u = (x − mean)·basis, the fit u·right, and the leverage
    total⁻¹ + Σₖ uₖ².

    Attributes
    ----------
    mean, target_mean : ndarray of shape (d,) and (targets,)
    total : float
        Sum of the weights.
    alphas : tuple of float
        The penalties.
    bases : dict of float to ndarray of shape (d, d)
        Upper triangular matrices, by penalty.
    rights : dict of float to ndarray of shape (d, targets)
    sparse : bool
        Whether rows are multiplied as they are stored, and centred afterwards.
    """

    mean: Array
    target_mean: Array
    total: float
    fit_intercept: bool
    alphas: tuple[float, ...]
    bases: dict[float, Array]
    rights: dict[float, Array]
    sparse: bool

    @classmethod
    def of(cls, design: Design, plain: NormalEquations, alphas: Array, fit_intercept: bool) -> PenaltyFactors | None:
        """Compute the factors; None if XᵀX plus the smallest penalty is too badly conditioned.

        Parameters
        ----------
        plain : NormalEquations
            Normal equations of the design without a penalty.
        """
        given = tuple(alphas.tolist())
        bases, rights = {}, {}
        for alpha in sorted(set(given)):  # the least accurate first
            equations = plain.penalised(alpha)
            factor = cholesky(equations.gram, equations.scale)
            if factor is None or factor.condition > _MOST_CONDITION:
                return None
            inverse = inverse_triangle(factor.upper)
            rights[alpha] = inverse.T @ equations.cross
            inverse *= equations.scale[:, None]
            bases[alpha] = inverse
        sparse = design.is_sparse and design.density < SPARSE_PRODUCTS and plain.cancelled <= _MOST_CANCELLED
        return cls(plain.mean, plain.target_mean, plain.total, fit_intercept, given, bases, rights, sparse)

    def only(self, alphas: Array) -> PenaltyFactors:
        """The factors of some of the penalties, in this order."""
        return replace(self, alphas=tuple(alphas.tolist()))

    def leverages_and_fits(self, block: Block) -> tuple[Array, Array]:
        """Leverages of shape (m, alphas) and fits of shape (m, targets, alphas), without the mean."""
        n_targets, n_alphas = len(self.target_mean), len(self.alphas)
        leverage, fit = np.empty((len(block), n_alphas)), np.empty((len(block), n_targets, n_alphas))
        rows = None if self.sparse else np.subtract(block.dense(), self.mean)
        for number, alpha in enumerate(self.alphas):
            basis = self.bases[alpha]
            if rows is None:
                u = block.dot(basis)
                u -= self.mean @ basis
            else:
                u = times_triangle(rows, basis)
            leverage[:, number] = np.einsum("ij,ij->i", u, u)
            fit[:, :, number] = u @ self.rights[alpha]
        return leverage, fit
