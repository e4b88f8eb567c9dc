"""Orthogonal factorisation over blocks: triangles of blocks are merged two by two, Q is never formed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.least_squares.factor import Columns
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


def merge_triangles(left: Sums, right: Sums) -> Sums:
    """The triangle of two sets of rows from those of each."""
    return (triangle_of(np.vstack([left[0], right[0]])),)


def triangle_of(rows: Array) -> Array:
    """R of rows = Q·R."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


class Directions(NamedTuple):
    """A triangle of unit-length columns as left·diag(values)·basisᵀ, and the directions that are absent in it."""

    left: Array
    values: Array
    basis: Array
    null: Array

    def columns(self, scale: Array) -> Columns:
        """Only what is there, as rows that stand for all rows."""
        rows = np.zeros((len(self.values), len(scale)))
        rows[:, scale > 0] = self.values[:, None] * self.basis.T
        return Columns(rows, scale)


def directions(upper: Array, scale: Array, blur: Array) -> Directions:
    """Which directions are there, among the columns that vary.

    A direction counts as absent when it is shorter than the rounding errors made, or than what the rounding of
    the columns it takes part in adds up to.

    Parameters
    ----------
    upper, scale : ndarray of shape (d, d) and (d,)
        The triangle, and by what columns were multiplied: 0 for those that do not vary.
    blur : ndarray of shape (d,)
        Rounding of each column as it was written down, relative to its spread.
    """
    varying = np.flatnonzero(scale)
    left, values, right = np.linalg.svd(upper[np.ix_(varying, varying)])
    present = is_present(values, right, blur[varying])
    return Directions(left[:, present], values[present], right[present].T, right[~present].T)


def is_present(values: Array, basis: Array, blur: Array) -> Array:
    """Which singular values of unit-length columns are more than rounding; `basis` holds their directions in rows."""
    made = 16 * max(basis.shape) * float(np.finfo(float).eps) * float(values.max(initial=0.0))
    written = 2 * np.sqrt(np.square(basis) @ np.square(blur))
    return np.asarray(values > np.maximum(made, written))
