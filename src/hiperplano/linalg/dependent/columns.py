"""Linearly independent columns, and the others as their combinations, by Cholesky factorisation with pivoting."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, lapack, solve_triangular

from hiperplano.data.design import Array
from hiperplano.linalg.dependent.relations import corrected_relations
from hiperplano.linalg.refined_products import MOST_LOST
from hiperplano.linalg.triangular import EPS

# Least pivot of a column that counts as independent, in rounding errors for each column: sums over many rows have more
# than one. Whether the others depend on it is then checked in the rows.
_PIVOT, _FEW = 16, 64


class IndependentColumns(NamedTuple):
    """A largest set of linearly independent columns of unit length, and the others as their combinations.

    Attributes
    ----------
    kept, others : ndarray of int
        Numbers of the independent columns, and of the others.
    upper : ndarray of shape (rank, rank)
        Triangular factor of the products of the independent columns; its lower part is not used.
    beside : ndarray of shape (rank, d − rank)
        Products of its inverse, transposed, with those of the independent columns and the others.
    relations : ndarray of shape (rank, d − rank)
        Shares of the independent columns in each of the others.
    reciprocal : float
        Reciprocal condition number of the products of the independent columns.
    """

    kept: Array
    others: Array
    upper: Array
    beside: Array
    relations: Array
    reciprocal: float

    @classmethod
    def of(cls, gram: Array) -> IndependentColumns | None:
        """Choose them by the products of all pairs of columns, scaled to unit length, of shape (d, d).

        Return None if no column depends on others, or if independent ones are nearly dependent.
        """
        norm = float(np.abs(gram).sum(axis=0).max(initial=0.0))
        lower, order, rank, _ = lapack.dpstrf(gram, lower=1, tol=_PIVOT * max(_FEW, len(gram)) * EPS)
        kept, others = order[:rank] - 1, order[rank:] - 1
        upper = np.asfortranarray(lower[:rank, :rank].T)
        smallest = float(lapack.dpocon(upper, norm, uplo="U")[0]) if 0 < rank < len(gram) else 0.0
        if MOST_LOST * smallest < EPS:
            return None
        beside = lower[rank:, :rank].T
        return cls(kept, others, upper, beside, solve_triangular(upper, beside, check_finite=False), smallest)

    def corrected(self, combine: Callable[[Array], tuple[Array, Array]], sizes: Array) -> IndependentColumns | None:
        """The same with relations up to rounding; None if the other columns are so only approximately.

        Parameters
        ----------
        combine : callable
            As in `corrected_relations`, for columns of unit length.
        sizes : ndarray of shape (d,)
            Size of the numbers of each column, in units of its length, before it was centred: rounding is a share of
            it.
        """
        relations = corrected_relations(self.kept, self.others, self.relations, self.inverse, combine, sizes)
        if relations is None:
            return None
        # A rounding error in the share of a short column would drown its coefficient beside long ones.
        noise = 4.0 * len(sizes) * EPS / np.sqrt(self.reciprocal)
        return self._replace(relations=np.where(np.abs(relations) > noise, relations, 0.0))

    def inverse(self, right: Array) -> Array:
        """The inverse of the products of the independent columns times `right`."""
        return np.asarray(cho_solve((self.upper, False), right, check_finite=False))
