"""Iterative refinement of a least-squares answer (Björck's scheme on residual and coefficients together).

The solution and its residual r satisfy r + X·coef = y and Xᵀ·W·r = alpha·coef. What both equations lack is
evaluated in doubled precision, and an ordinary solve corrects the answer by that much.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.triangular import Factor
from hiperplano.solvers.least_squares.exact import ExactProducts, two_product
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.orthogonal import triangles
from hiperplano.solvers.statistics import centred_product, centred_scores

_MOST_STEPS = 10
_EPS = float(np.finfo(float).eps)

Solve = Callable[[Array, Array], Array]
"""(f, gain) -> z: scaled coefficients that remove f from the residual and `gain` from the scaled gradient."""


class Refined(NamedTuple):
    """One target's answer; `error` is the expected next correction, relative, in scaled coordinates."""

    coef: Array
    intercept: float
    residual: Array
    error: float
    steps: int


def refine(
    design: Design,
    equations: NormalEquations,
    exact: ExactProducts,
    solve: Solve,
    start: Array,
    target: int,
    alpha: float,
    level: bool,
) -> Refined:
    """Improve the answer for one target.

    Parameters
    ----------
    start : ndarray of shape (d,)
        Coefficients that `solve` gave for the target itself.
    level : bool
        Whether there is an intercept.
    """
    y = design.y[:, target]
    weight = np.ones(design.n_rows) if design.weight is None else design.weight
    mean, unit = equations.mean, exact.unit
    intercept = float(equations.target_mean[target] - start @ equations.mean) if level else 0.0
    r = y - (equations.target_mean[target] if level else 0.0) - _centred_scores(design, mean, start)

    def levelled(r: Array) -> Array:
        """Beside means far from 0, even the sum that rounding leaves to the residuals would count."""
        return r - float(weight @ r) / equations.total if level else r

    r = levelled(r)
    best = first = Refined(start, intercept, r, 1.0, 0)
    before, length = np.inf, 1.0
    for step in range(1, _MOST_STEPS + 1):
        coef, intercept, r = best.coef, best.intercept, best.residual
        parts = np.stack([r] if design.weight is None else two_product(weight, r), axis=1)
        f, gradient = exact.residual_and_gradient(y, r, coef, intercept, parts)
        level_gain = fsum(parts.ravel()) if level else 0.0
        gain = (gradient - mean / unit * level_gain) * (unit * equations.scale) - alpha * equations.scale * coef
        z = solve(f, gain)
        size = float(np.linalg.norm(z))
        if size > 0.25 * before:  # corrections no longer shrink: the digits are exhausted
            return first if step == 2 and size > before else best._replace(error=max(best.error, size / length))
        change = equations.scale * z
        middle = (float(weight @ f) + level_gain) / equations.total if level else 0.0
        length = _scaled_length(coef + change, equations) or 1.0
        error = size / length
        shrinking = min(1.0, size / before if step > 1 else error)
        best = Refined(coef + change, intercept + middle - float(mean @ change), r, error, step)
        if error * shrinking <= _EPS / 4:
            return best._replace(error=error * shrinking)  # the next correction would be lost in rounding
        before = size
        moved = _centred_scores(design, mean, change)
        best = best._replace(residual=levelled(r + (f - moved - middle)))
    return best


def _centred_scores(design: Design, mean: Array, coef: Array) -> Array:
    """(x − mean)·coef for every row."""
    return design.map_rows(lambda block: centred_scores(block.counted(), mean, coef), np.empty(design.n_rows))


def _scaled_length(coef: Array, equations: NormalEquations) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.linalg.norm(np.where(equations.scale > 0, coef / equations.scale, 0.0)))


def by_factor(design: Design, factor: Factor, equations: NormalEquations, level: bool) -> Solve:
    """Corrections from the normal equations: one more pass, of a vector."""

    def solve(f: Array, gain: Array) -> Array:
        weighted = f if design.weight is None else design.weight * f
        if level:
            middle = float(weighted.sum()) / equations.total
            weighted = f - middle if design.weight is None else design.weight * (f - middle)

        def statistic(block: Block) -> Sums:
            return (centred_product(block.counted(), equations.mean, weighted[block.rows]),)

        (cross,) = design.fold(statistic)
        return factor.solve(equations.scale * cross + gain)

    return solve


def by_triangle(design: Design, factor: Factor, equations: NormalEquations, alpha: float, level: bool) -> Solve:
    """Corrections from the orthogonal factorisation, made again beside the vector to remove."""

    def solve(f: Array, gain: Array) -> Array:
        size = float(np.abs(f).max()) or 1.0
        upper = triangles(design, equations, alpha, level, f[:, None] / size).penalised
        return factor.backward(upper[:-1, -1] * size * _signs(upper, factor) + factor.forward(gain))

    return solve


def _signs(upper: Array, factor: Factor) -> Array:
    """Rows of a triangle are determined up to sign."""
    d = len(factor.scale)
    return np.where(np.sign(upper[:d, :d].diagonal()) * np.sign(factor.upper.diagonal()) < 0, -1.0, 1.0)
