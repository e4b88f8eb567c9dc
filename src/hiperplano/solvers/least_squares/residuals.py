"""Sums of squared residuals that keep their digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.triangular import reciprocal
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.statistics import centred_scores

_SMALL = 1e-3  # of the terms whose difference it is: a smaller residual is summed over the rows


def residual_squares(design: Design, plain: NormalEquations, coef: Array, fit_intercept: bool) -> Array:
    """Σ w·r² of a fit, from the sums already made unless most of it would cancel there.

    Parameters
    ----------
    design : Design
    plain : NormalEquations
        Without penalty.
    coef : ndarray of shape (targets, d)
    fit_intercept : bool

    Returns
    -------
    ndarray of shape (targets,)
    """
    z = coef.T * reciprocal(plain.scale)[:, None]
    left = plain.squares - 2 * np.sum(z * plain.cross, axis=0) + np.sum(z * (plain.gram @ z), axis=0)
    terms = plain.squares + np.sum(np.abs(z) * (np.abs(plain.gram) @ np.abs(z)), axis=0)
    if (left > _SMALL * terms).all():
        return np.asarray(left)
    intercept = None if fit_intercept else np.zeros(len(coef))
    return summed_residual_squares(design, plain.mean, plain.target_mean, coef, intercept)


def summed_residual_squares(
    design: Design, mean: Array, target_mean: Array, coef: Array, intercept: Array | None
) -> Array:
    """Σ w·r² from the rows themselves, about the means, so that no digits cancel.

    Parameters
    ----------
    design : Design
    mean, target_mean : ndarray of shape (d,) and (targets,)
    coef : ndarray of shape (targets, d)
    intercept : ndarray of shape (targets,) or None
        None for the best one, which, beside means far from 0, a float may be too short for.

    Returns
    -------
    ndarray of shape (targets,)
    """
    offset = np.zeros_like(target_mean) if intercept is None else intercept + coef @ mean - target_mean
    squares, sums, total = design.fold(_ResidualSums(mean, target_mean, offset, coef.T))
    return np.asarray(squares - np.square(sums) / total if intercept is None else squares)


@dataclass(frozen=True)
class _ResidualSums:
    """Σ w·r², Σ w·r and Σ w of r = y − target_mean − (x − mean)·coef − offset."""

    mean: Array
    target_mean: Array
    offset: Array
    coef: Array

    def __call__(self, block: Block) -> Sums:
        r = (block.y - self.target_mean) - centred_scores(block, self.mean, self.coef) - self.offset
        weighted, xp = block.weighted(r), block.xp
        total = float(len(block)) if block.weight is None else block.weight.sum()
        return xp.sum(weighted * r, axis=0), xp.sum(weighted, axis=0), np.atleast_1d(total)
