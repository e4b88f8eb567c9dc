"""Refinement of a least-squares solution by gradients in float64.

The factor may be inaccurate, as long as each step removes most of the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.block import scratch
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.refined_products import MOST_REFINEMENTS, SLOW
from hiperplano.linalg.triangular import EPS, Factor
from hiperplano.solvers.least_squares.normal import NormalEquations

_FAR = 10.0  # rows are centred before they are multiplied if a mean exceeds this many standard deviations
_TINY = 1e-300


class Centre(NamedTuple):
    """Means of the columns; `first` is whether dense rows are centred before products, to keep digits.

    Otherwise the products are centred, which takes no copy.
    """

    mean: Array
    first: bool

    def rows(self, block: Block) -> tuple[Block, Array]:
        """Rows for products, and the means that must be subtracted from the products."""
        if block.is_sparse:
            return block, self.mean
        if not self.first:
            return Block(block.doubles(), block.vectors), self.mean
        x = block.xp.subtract(block.dense(), self.mean, out=scratch("centred", block.x.shape, block.x))
        return Block(x, block.vectors), np.zeros_like(self.mean)


def centre_of(mean: Array, offset: Array) -> Centre:
    """The centre for columns whose means are `offset` standard deviations from 0."""
    return Centre(mean, bool(offset.max(initial=0.0) > _FAR))


@dataclass(frozen=True)
class Gradients:
    """Xᵀ·W·r with centred columns, Σ w·r and Σ w·r² of r = y − level − (x − mean)·coef, for some targets.

    Attributes
    ----------
    targets : ndarray of int of shape (k,), or slice
    level : ndarray of shape (k,)
    coef : ndarray of shape (d, k)
    """

    stays_sparse = True
    centre: Centre
    targets: Array | slice
    level: Array
    coef: Array

    def __call__(self, block: Block) -> Sums:
        rows, mean = self.centre.rows(block)
        r = block.y[:, self.targets] - self.level
        if self.coef.any():
            r -= rows.dot(self.coef) - mean @ self.coef
        weighted = block.weighted(r)
        gain = weighted.sum(axis=0)
        return (
            rows.transpose_dot(weighted) - np.multiply.outer(mean, gain),
            gain,
            np.einsum("ij,ij->j", weighted, r),
        )


class Refined(NamedTuple):
    """A solution, and the expected relative error of its coefficients in scaled coordinates.

    Attributes
    ----------
    coef : ndarray of shape (targets, d)
    intercept, rss : ndarray of shape (targets,)
    """

    coef: Array
    intercept: Array
    rss: Array
    error: float
    steps: int


def refine_by_gradients(
    design: Design,
    equations: NormalEquations,
    factor: Factor,
    which: Array | slice,
    alpha: float,
    fit_intercept: bool,
    tol: float,
) -> Refined | None:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² for the targets in `which`; None if it converges slowly.

    Parameters
    ----------
    equations : NormalEquations
        Equations with the penalty.
    factor : Factor
        Their factor, which may be inaccurate.
    tol : float
        Largest relative error.
    """
    column, total = factor.scale[:, None], equations.total
    offset = np.abs(equations.mean) * factor.scale * np.sqrt(total)
    centre = centre_of(equations.mean, offset)
    z, level = factor.solve(equations.cross[:, which]), equations.target_mean[which]
    change = np.linalg.norm(z, axis=0)
    for step in range(1, MOST_REFINEMENTS + 1):
        gradient, gain, rss = design.fold(Gradients(centre, which, level, column * z))
        left = column * gradient - alpha * column**2 * z
        correction = factor.solve(left)
        curved = left - alpha * column**2 * correction  # D·XᵀWX·D·correction
        rss = rss - np.sum(correction * (2 * column * gradient - curved), axis=0)
        z = z + correction
        if fit_intercept:
            level, rss = level + gain / total, rss - gain**2 / total
        before, change = change, np.linalg.norm(correction, axis=0)
        shrinking = float((change / np.maximum(before, _TINY)).max())
        # Centred columns do not sum to exactly 0, since means are rounded: a change of the level changes the gradient.
        lag = EPS * factor.condition**2 * offset.max(initial=0.0) * np.abs(gain) / np.sqrt(total)
        error = float(((shrinking * change + lag) / np.maximum(np.linalg.norm(z, axis=0), _TINY)).max())
        if error <= tol:
            coef = (column * z).T
            return Refined(coef, level - coef @ equations.mean, rss, error, step)
        if not shrinking <= SLOW:
            return None
    return None
