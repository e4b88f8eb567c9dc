"""Coordinates of few rows in the subspace that they span, where covariances are small."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory


class RowDirections(NamedTuple):
    """x = first row + basis·z for every row, with orthonormal columns of the basis.

    Distances, and a multiple of the identity in a covariance, are the same for z as for x. Outside the basis all rows
    are equal, so that part does not distinguish classes.

    Attributes
    ----------
    means : ndarray of shape (classes, d)
        Means of the original rows. Means of coordinates have rounding errors relative to the norm of a row in all
        columns.
    basis : ndarray of shape (d, k)
    design : InMemory
        The coordinates z, with the weights and class codes of the rows.
    """

    means: Array
    basis: Array
    design: InMemory

    @classmethod
    def of(cls, design: Design) -> RowDirections:
        """Build from a design with a row vector "code"; the rows are loaded into memory."""
        here = design.sample(design.n_rows)
        rows, codes = np.asarray(here.dense(), dtype=np.float64), here.collect(here.vector("code"))
        weight = here.collect(here.vector("weight")) if here.has_weight else None
        apart = rows - rows[0]
        basis, triangle = qr(apart[1:].T, mode="economic", check_finite=False)
        coordinates = np.vstack([np.zeros(len(triangle)), triangle.T])
        member = np.zeros((codes.max() + 1, len(rows)))
        member[codes, np.arange(len(rows))] = 1.0 if weight is None else weight
        means = rows[0] + member @ apart / member.sum(axis=1, keepdims=True)
        return cls(means, basis, InMemory(coordinates, codes[:, None], weight).with_vectors(code=codes))


def few_rows(design: Design, ridge: float, *, otherwise: bool) -> bool:
    """Whether covariances with a ridge can be computed in the span of the rows, with equal variances outside.

    Parameters
    ----------
    ridge : float
        Share of the identity in a covariance.
    otherwise : bool
        Whether something else makes covariances of classes differ outside the span.
    """
    return ridge > 0.0 and not otherwise and 1 < design.n_rows <= design.n_columns
