"""Few rows in coordinates of the directions that they span, in which a covariance has no more columns than rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory


class RowDirections(NamedTuple):
    """x = first row + basis·z for every row, with orthonormal columns of the basis.

    Distances, and a share of the identity in a covariance, are the same for z as for x. Beyond the basis no row
    differs from any other, so that what is there is the same for all classes.

    Attributes
    ----------
    means : ndarray of shape (classes, d)
        Of the rows as they are: those of coordinates are rounded by the length of a row in all columns.
    basis : ndarray of shape (d, k)
    design : InMemory
        The coordinates z, with the weights and class codes of the rows.
    """

    means: Array
    basis: Array
    design: InMemory

    @classmethod
    def of(cls, design: Design) -> RowDirections:
        """Of a design with a row vector "code", whose rows are brought to the host."""
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
    """Whether covariances with a share of the identity are those in the rows' directions, and the same beyond.

    Parameters
    ----------
    ridge : float
        That share.
    otherwise : bool
        Whether something else makes them differ by class beyond those directions, too.
    """
    return ridge > 0.0 and not otherwise and 1 < design.n_rows <= design.n_columns
