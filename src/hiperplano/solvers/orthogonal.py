"""Orthogonal factorisation over blocks: triangles of blocks are merged two by two, Q is never formed."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
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
    d, k = design.n_columns, right.shape[1]
    first = 1 if fit_intercept else 0

    def statistic(block: Block) -> Sums:
        rows = np.empty((len(block), first + d + k))
        rows[:, :first] = 1.0
        np.subtract(block.dense(), equations.mean, out=rows[:, first : first + d])
        rows[:, first : first + d] *= equations.scale
        rows[:, first + d :] = right[block.rows]
        if block.weight is not None:
            rows *= np.sqrt(block.weight)[:, None]
        return (triangle_of(rows),)

    (upper,) = design.fold(statistic, merge_triangles)
    if alpha:
        below = np.hstack([np.zeros((d, first)), np.diag(np.sqrt(alpha) * equations.scale), np.zeros((d, k))])
        (upper,) = merge_triangles((upper,), (below,))
    full = np.zeros((first + d + k, first + d + k))
    full[: len(upper)] = upper
    return full[first:, first:]


def merge_triangles(left: Sums, right: Sums) -> Sums:
    """The triangle of two sets of rows from those of each."""
    return (triangle_of(np.vstack([left[0], right[0]])),)


def triangle_of(rows: Array) -> Array:
    """R of rows = Q·R."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def numerical_rank(upper: Array, resolution: float) -> tuple[int, Array, Array, Array]:
    """Rank of a triangle of unit-length columns, and its singular value decomposition.

    A direction counts as absent when it is shorter than the rounding errors made, or than those with which
    the data were written down.
    """
    left, values, right = np.linalg.svd(upper)
    return rank_of(values, len(upper), resolution), left, values, right


def rank_of(values: Array, size: int, resolution: float) -> int:
    """How many singular values of columns of unit length are more than rounding."""
    tolerance = max(16 * size * float(np.finfo(float).eps), 4 * resolution)
    return int(np.sum(values > tolerance * values.max(initial=0.0)))


def minimum_norm(upper: Array, right: Array, scale: Array, resolution: float) -> tuple[Array, Array, int]:
    """The shortest coefficients, in the units of the data, among all that fit best.

    Returns
    -------
    coef : ndarray of shape (d, targets)
    null : ndarray of shape (d, d − rank)
        Orthonormal directions, in scaled coordinates, that change no prediction.
    rank : int
    """
    rank, left, values, basis = numerical_rank(upper, resolution)
    z = basis[:rank].T @ ((left[:, :rank].T @ right) / values[:rank, None])
    null = basis[rank:].T
    coef = scale[:, None] * z
    free = scale[:, None] * null
    length = np.linalg.norm(free, axis=0)
    free = free / np.where(length > 0, length, 1.0)
    coef = coef - free @ np.linalg.lstsq(free, coef, rcond=None)[0]
    return coef, null, rank
