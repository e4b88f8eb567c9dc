"""The triangular factor of centred and scaled columns, computed block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.orthogonal import merge_triangles, triangle_of
from hiperplano.solvers.least_squares.normal import NormalEquations


class Triangles(NamedTuple):
    """Triangular factors of [scaled columns, right], without and with a penalty, each of shape (d + k, d + k)."""

    bare: Array
    penalised: Array


def triangles(
    design: Design, equations: NormalEquations, alpha: float, fit_intercept: bool, right: str = "y"
) -> Triangles:
    """Triangular factors of [1, scaled columns, right], without the row and column of the intercept.

    Parameters
    ----------
    equations : NormalEquations
        Means and scales of the columns.
    right : str, default="y"
        The row vector on the right-hand side; targets are centred.
    """
    # Columns of zeros are left out, since each would take a row of the triangular factor.
    varying = np.flatnonzero(equations.scale)
    shift = equations.target_mean if right == "y" else np.zeros(1)
    d, k, first = len(varying), len(shift), int(fit_intercept)
    scale = equations.scale[varying]
    places = np.concatenate([varying, design.n_columns + np.arange(k)])

    def placed(upper: Array) -> Array:
        inner = np.zeros((first + d + k, first + d + k))
        inner[: len(upper)] = upper
        full = np.zeros((design.n_columns + k, design.n_columns + k))
        full[np.ix_(places, places)] = inner[first:, first:]
        return full

    statistic = _TriangleOfRows(varying, equations.mean[varying], scale, right, shift, first)
    (upper,) = design.fold(statistic, merge_triangles)
    bare = placed(upper)
    if not alpha:
        return Triangles(bare, bare)
    below = np.hstack([np.zeros((d, first)), np.diag(np.sqrt(alpha) * scale), np.zeros((d, k))])
    return Triangles(bare, placed(merge_triangles((upper,), (below,))[0]))


@dataclass(frozen=True)
class _TriangleOfRows:
    """R of √w·[1, (x − mean)·scale, right − shift] of some columns; the 1 if `first` is 1."""

    columns: Array
    mean: Array
    scale: Array
    right: str
    shift: Array
    first: int

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        first, end = self.first, self.first + len(self.scale)
        rows = xp.empty((len(block), end + len(self.shift)))
        rows[:, :first] = 1.0
        xp.subtract(block.columns(self.columns).dense(), self.mean, out=rows[:, first:end])
        rows[:, first:end] *= self.scale
        rows[:, end:] = block.vectors[self.right].reshape(len(block), -1) - self.shift
        return (triangle_of(block.weighted_root(rows)),)
