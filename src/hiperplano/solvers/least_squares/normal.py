"""Normal equations in scaled coordinates, which do not depend on units, and sums of squared residuals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.triangular import EPS, inverse_root, reciprocal
from hiperplano.solvers.statistics import Moments, centred_scores, moments

_SMALL = 1e-3  # squared residuals below this share of their terms have lost digits, and are summed over rows instead


class NormalEquations(NamedTuple):
    """gram·z = cross for centred columns, scaled to unit length; coef = scale·z.

    Attributes
    ----------
    gram : ndarray of shape (d, d)
        With an intercept, the correlations.
    cross : ndarray of shape (d, targets)
    squares : ndarray of shape (targets,)
        Sums of squares of the targets.
    scale : ndarray of shape (d,)
        One over the length of each centred column; 0 if it is constant.
    mean, target_mean : ndarray of shape (d,) and (targets,)
        Zeros without intercept.
    total : float
        Sum of the weights.
    cancelled : float
        Largest ratio of a column's sum of squares before centring to that after it, which shows the loss of digits.
    """

    gram: Array
    cross: Array
    squares: Array
    scale: Array
    mean: Array
    target_mean: Array
    total: float
    cancelled: float

    @classmethod
    def of(cls, sums: Moments, fit_intercept: bool) -> NormalEquations:
        """The normal equations from second moments."""
        d = sums.raw.shape[0] - 1 - sums.n_targets
        scatter = sums.scatter(centred=fit_intercept)
        after = scatter.diagonal()
        scale = inverse_root(after[:d])
        mean = sums.mean if fit_intercept else np.zeros(len(scatter))
        before = sums.raw.diagonal()[1:]
        gram = scatter[:d, :d] * scale[:, None]
        gram *= scale
        return cls(
            gram=gram,
            cross=scatter[:d, d:] * scale[:, None],
            squares=after[d:].copy(),
            scale=scale,
            mean=mean[:d],
            target_mean=mean[d:],
            total=sums.total,
            cancelled=float((before * reciprocal(after)).max(initial=1.0)),
        )

    @property
    def rounding(self) -> Array:
        """Rounding errors of the data, relative to the spread of their column; only valid without a penalty."""
        return np.asarray(EPS * np.maximum(np.abs(self.mean) * self.scale * math.sqrt(self.total), self.scale > 0))

    def penalised(self, alpha: float) -> NormalEquations:
        """The equations with the penalty alpha·‖coef‖², scaled to a unit diagonal again."""
        if not alpha:
            gram = self.gram.copy()
            gram.flat[:: len(gram) + 1] = 1.0  # also for a constant column: its coefficient is then 0
            return self._replace(gram=gram)
        shrink = 1.0 / np.hypot(1.0, math.sqrt(alpha) * self.scale)  # the diagonal of gram is 1, or scale is 0
        column = shrink[:, None]
        gram = self.gram * column
        gram *= shrink
        gram.flat[:: len(gram) + 1] = 1.0
        return self._replace(gram=gram, cross=self.cross * column, scale=self.scale * shrink)


def normal_equations(design: Design, fit_intercept: bool) -> NormalEquations:
    """The normal equations of all rows, without a penalty.

    Raises
    ------
    NonFiniteRows
        As `moments`.
    """
    return NormalEquations.of(moments(design, centred=fit_intercept), fit_intercept)


def residual_squares(design: Design, plain: NormalEquations, coef: Array, fit_intercept: bool) -> Array:
    """Σ w·r² of a fit, of shape (targets,), from the normal equations, or from the rows if too many digits cancel.

    Parameters
    ----------
    plain : NormalEquations
        Equations without a penalty.
    coef : ndarray of shape (targets, d)
    """
    z = coef.T * reciprocal(plain.scale)[:, None]
    sizes = np.abs(z)
    left = plain.squares + np.einsum("ij,ij->j", z, plain.gram @ z - 2 * plain.cross)
    most = plain.squares + np.square(sizes.sum(axis=0))  # no entry of gram is larger than 1
    if (left > _SMALL * most).all():
        return np.asarray(left)
    terms = plain.squares + (sizes * (np.abs(plain.gram) @ sizes)).sum(axis=0)
    if (left > _SMALL * terms).all():
        return np.asarray(left)
    intercept = None if fit_intercept else np.zeros(len(coef))
    return summed_residual_squares(design, plain.mean, plain.target_mean, coef, intercept)


def summed_residual_squares(
    design: Design, mean: Array, target_mean: Array, coef: Array, intercept: Array | None
) -> Array:
    """Σ w·r² from the centred rows, of shape (targets,), without cancellation.

    Parameters
    ----------
    mean, target_mean : ndarray of shape (d,) and (targets,)
    coef : ndarray of shape (targets, d)
    intercept : ndarray of shape (targets,) or None
        None for the best one, which float64 cannot represent accurately if means are far from 0.
    """
    offset = np.zeros_like(target_mean) if intercept is None else intercept + coef @ mean - target_mean
    squares, sums, total = design.fold(_ResidualSums(mean, target_mean, offset, coef.T))
    return np.asarray(squares - np.square(sums) / total if intercept is None else squares)


@dataclass(frozen=True)
class _ResidualSums:
    """Σ w·r², Σ w·r and Σ w of r = y − target_mean − (x − mean)·coef − offset."""

    stays_sparse = True
    mean: Array
    target_mean: Array
    offset: Array
    coef: Array

    def __call__(self, block: Block) -> Sums:
        r = (block.y - self.target_mean) - centred_scores(block, self.mean, self.coef) - self.offset
        weighted, xp = block.weighted(r), block.xp
        total = float(len(block)) if block.weight is None else block.weight.sum()
        return xp.sum(weighted * r, axis=0), xp.sum(weighted, axis=0), np.atleast_1d(total)
