"""Sums of squared residuals that keep their digits."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.statistics import centred_scores

_SMALL = 1e-3  # of the terms whose difference it is: a smaller residual is summed over the rows


def residual_squares(design: Design, plain: NormalEquations, coef: Array, level: bool) -> Array:
    """Σ w·r² of a fit, from the sums already made unless most of it would cancel there."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.where(plain.scale[:, None] > 0, coef.T / plain.scale[:, None], 0.0) / plain.target_unit
        left = plain.squares - 2 * np.sum(z * plain.cross, axis=0) + np.sum(z * (plain.gram @ z), axis=0)
        terms = plain.squares + np.sum(np.abs(z) * (np.abs(plain.gram) @ np.abs(z)), axis=0)
        if (left > _SMALL * terms).all():
            return np.asarray(left * plain.target_unit**2)
    return summed_residual_squares(design, plain.mean, plain.target_mean, coef, None if level else np.zeros(len(coef)))


def summed_residual_squares(
    design: Design, mean: Array, target_mean: Array, coef: Array, intercept: Array | None
) -> Array:
    """Σ w·r² from the rows themselves, about the means, so that no digits cancel.

    Parameters
    ----------
    intercept : ndarray of shape (targets,) or None
        None for the best one, which, beside means far from 0, a float may be too short for.
    """
    centre = 0.0 if intercept is None else intercept + coef @ mean - target_mean

    def statistic(block: Block) -> Sums:
        block = block.counted()
        r = (block.y - target_mean) - centred_scores(block, mean, coef.T) - centre
        weighted = r if block.weight is None else block.weight[:, None] * r
        return np.sum(weighted * r, axis=0), weighted.sum(axis=0)

    with np.errstate(over="ignore"):
        squares, sums = design.fold(statistic)
        return np.asarray(squares - np.square(sums) / design.total_weight if intercept is None else squares)
