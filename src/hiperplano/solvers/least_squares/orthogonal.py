"""The triangular factor of centred and scaled columns: of their Gram matrix, or of the rows, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.orthogonal import merge_triangles, triangle_of
from hiperplano.linalg.triangular import MAX_GRAM_CONDITION, Factor, cholesky, from_triangle
from hiperplano.solvers.least_squares.normal import NormalEquations


class Factorised(NamedTuple):
    """Cholesky factor of the scaled columns with their penalty, U⁻ᵀ·cross, and how they were computed.

    Attributes
    ----------
    right : ndarray of shape (d, targets)
    bare : ndarray of shape (d, d) or None
        Triangular factor of the same columns without the penalty; None if only their Gram matrix was factored.
    """

    factor: Factor
    right: Array
    bare: Array | None

    @property
    def squared(self) -> bool:
        """Whether the Gram matrix was factored, which squares the condition number of the columns."""
        return self.bare is None


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


def factorise(
    design: Design, equations: NormalEquations, alpha: float, fit_intercept: bool, orthogonal: bool = False
) -> Factorised:
    """Triangular factor of the scaled columns, and the transformed targets; from the Gram matrix if accurate enough.

    Parameters
    ----------
    equations : NormalEquations
        Equations with the penalty.
    orthogonal : bool, default=False
        Do not try the Gram matrix.
    """
    found = None if orthogonal else factor_of_gram(equations)
    return found or factor_of_rows(design, equations, alpha, fit_intercept)


def factor_of_gram(equations: NormalEquations, most: float = MAX_GRAM_CONDITION) -> Factorised | None:
    """The factor of the Gram matrix; None if the condition number of the columns is larger than `most`."""
    factor = cholesky(equations.gram, equations.scale)
    if factor is None or factor.condition > most:
        return None
    return Factorised(factor, factor.forward(equations.cross), bare=None)


def factor_of_rows(design: Design, equations: NormalEquations, alpha: float, fit_intercept: bool) -> Factorised:
    """The factor of the rows, block by block."""
    d = design.n_columns
    bare, upper = triangles(design, equations, alpha, fit_intercept)
    return Factorised(from_triangle(upper[:d, :d], equations.scale), upper[:d, d:], bare[:d, :d])


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
