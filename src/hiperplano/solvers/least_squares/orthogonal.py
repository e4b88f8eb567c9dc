"""Orthogonal factorisation over blocks: triangles of blocks are merged two by two, Q is never formed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.orthogonal import merge_triangles, triangle_of
from hiperplano.solvers.least_squares.normal import NormalEquations


class Triangles(NamedTuple):
    """Of [scaled columns, right], without and with √alpha rows below the columns; each of shape (d + k, d + k)."""

    bare: Array
    penalised: Array


def triangles(design: Design, equations: NormalEquations, alpha: float, fit_intercept: bool, right: Array) -> Triangles:
    """The triangles of [1, scaled columns, right], less the row and column of the intercept.

    Parameters
    ----------
    equations : NormalEquations
        Tells where columns are measured from and their scale.
    right : ndarray of shape (n, k)
        Target columns.
    """
    # A column of zeros would keep a row of the triangle from the others: such columns take no part.
    varying = np.flatnonzero(equations.scale)
    d, k = len(varying), right.shape[1]
    mean, scale = equations.mean[varying], equations.scale[varying]
    first = 1 if fit_intercept else 0

    def statistic(block: Block) -> Sums:
        rows = np.empty((len(block), first + d + k))
        rows[:, :first] = 1.0
        values = block.counted().dense()
        np.subtract(values if d == values.shape[1] else values[:, varying], mean, out=rows[:, first : first + d])
        rows[:, first : first + d] *= scale
        rows[:, first + d :] = right[block.rows]
        if block.weight is not None:
            rows *= np.sqrt(block.weight)[:, None]
        return (triangle_of(rows),)

    def placed(upper: Array) -> Array:
        inner = np.zeros((first + d + k, first + d + k))
        inner[: len(upper)] = upper
        places = np.concatenate([varying, design.n_columns + np.arange(k)])
        full = np.zeros((design.n_columns + k, design.n_columns + k))
        full[np.ix_(places, places)] = inner[first:, first:]
        return full

    (upper,) = design.fold(statistic, merge_triangles)
    bare = placed(upper)
    if not alpha:
        return Triangles(bare, bare)
    below = np.hstack([np.zeros((d, first)), np.diag(np.sqrt(alpha) * scale), np.zeros((d, k))])
    return Triangles(bare, placed(merge_triangles((upper,), (below,))[0]))
