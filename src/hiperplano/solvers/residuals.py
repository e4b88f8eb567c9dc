"""Sums of squared residuals that keep their digits."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.normal import NormalEquations
from hiperplano.solvers.statistics import centred_scores

_SMALL = 1e-3  # of the target's variation: a smaller residual is summed over the rows


def residual_squares(design: Design, plain: NormalEquations, coef: Array, intercept: Array) -> Array:
    """Σ w·r², from the sums already made unless most of it would cancel there."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.where(plain.scale[:, None] > 0, coef.T / plain.scale[:, None], 0.0) / plain.target_unit
        left = plain.squares - 2 * np.sum(z * plain.cross, axis=0) + np.sum(z * (plain.gram @ z), axis=0)
        if (left > _SMALL * plain.squares).all():
            return np.asarray(left * plain.target_unit**2)
    return summed_residual_squares(design, plain.mean, plain.target_mean, coef, intercept)


def summed_residual_squares(design: Design, mean: Array, target_mean: Array, coef: Array, intercept: Array) -> Array:
    """Σ w·r² from the rows themselves, about the means, so that no digits cancel."""
    centre = intercept + coef @ mean - target_mean

    def statistic(block: Block) -> Sums:
        block = block.counted()
        r = (block.y - target_mean) - centred_scores(block, mean, coef.T) - centre
        weight = 1.0 if block.weight is None else block.weight[:, None]
        return (np.sum(weight * r**2, axis=0),)

    with np.errstate(over="ignore"):
        return design.fold(statistic)[0]
