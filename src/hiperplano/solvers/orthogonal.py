"""Orthogonal factorisation over blocks: triangles of blocks are merged two by two, Q is never formed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.factor import Factor
from hiperplano.solvers.normal import NormalEquations


def triangle(design: Design, equations: NormalEquations, alpha: float, fit_intercept: bool, right: Array) -> Array:
    """The triangle of [1, scaled columns, right], with √alpha rows below the columns.

    Parameters
    ----------
    equations : NormalEquations
        Tells where columns are measured from and their scale.
    right : ndarray of shape (n, k)
        Target columns.

    Returns
    -------
    ndarray of shape (d + k, d + k)
        Without the row and column of the intercept.
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
        return (_triangle_of(rows),)

    (upper,) = design.fold(statistic, _merge)
    if alpha:
        below = np.hstack([np.zeros((d, first)), np.diag(np.sqrt(alpha) * scale), np.zeros((d, k))])
        (upper,) = _merge((upper,), (below,))
    inner = np.zeros((first + d + k, first + d + k))
    inner[: len(upper)] = upper
    places = np.concatenate([varying, design.n_columns + np.arange(k)])
    full = np.zeros((design.n_columns + k, design.n_columns + k))
    full[np.ix_(places, places)] = inner[first:, first:]
    return full


def _merge(left: Sums, right: Sums) -> Sums:
    return (_triangle_of(np.vstack([left[0], right[0]])),)


def _triangle_of(rows: Array) -> Array:
    return np.asarray(np.linalg.qr(rows, mode="r"))


class Directions(NamedTuple):
    """A triangle of unit-length columns as left·diag(values)·basisᵀ, and the directions that are absent in it."""

    left: Array
    values: Array
    basis: Array
    null: Array


def directions(factor: Factor, blur: Array) -> Directions:
    """Which directions are there, among the columns that vary.

    A direction counts as absent when it is shorter than the rounding errors made, or than what the rounding of
    the columns it takes part in adds up to.

    Parameters
    ----------
    blur : ndarray of shape (d,)
        Rounding of each column as it was written down, relative to its spread.
    """
    varying = np.flatnonzero(factor.scale)
    left, values, right = np.linalg.svd(factor.upper[np.ix_(varying, varying)])
    made = 16 * len(values) * float(np.finfo(float).eps) * float(values.max(initial=0.0))
    written = 2 * np.sqrt(np.square(right) @ np.square(blur[varying]))
    present = values > np.maximum(made, written)
    return Directions(left[:, present], values[present], right[present].T, right[~present].T)
