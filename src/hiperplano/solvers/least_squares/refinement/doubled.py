"""Iterative refinement of a least-squares solution (Björck's scheme on residual and coefficients together).

The solution and its residual r satisfy r + X·coef = y and Xᵀ·W·r = alpha·coef. The residuals of both equations are
computed in doubled precision, and an ordinary solve gives the correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.linalg.triangular import EPS, Factor, reciprocal
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.orthogonal import triangles
from hiperplano.solvers.least_squares.refinement.exact import ExactResiduals, add_exact, column_units
from hiperplano.solvers.statistics import centred_scores

_MOST_STEPS = 10
_SEMINORMAL = 1e6  # condition number up to which the first triangular factor is good for corrections


class Refined(NamedTuple):
    """Solution for one target; `error` is the expected relative size of the next correction, in scaled coordinates."""

    coef: Array
    intercept: float
    error: float
    steps: int


@dataclass(frozen=True)
class Refinement:
    """Refinement of solutions, one target at a time.

    Attributes
    ----------
    equations : NormalEquations
        Equations with the penalty.
    factor : Factor
        Factor of the columns with the penalty.
    unit : ndarray of shape (d,)
        Smallest power of two above the absolute values of each column.
    """

    design: Design
    equations: NormalEquations
    factor: Factor
    alpha: float
    fit_intercept: bool
    unit: Array

    @classmethod
    def of(
        cls, design: Design, equations: NormalEquations, factor: Factor, alpha: float, fit_intercept: bool
    ) -> Refinement:
        """Compute the units of the columns, which takes a pass."""
        return cls(design, equations, factor, alpha, fit_intercept, column_units(design))

    def refine(self, start: Array, target: int) -> Refined:
        """Refine the solution for one target.

        Parameters
        ----------
        start : ndarray of shape (d,)
            Coefficients computed by the factor.
        target : int
            Number of the target.
        """
        equations, mean, scale = self.equations, self.equations.mean, self.equations.scale
        target_mean = float(equations.target_mean[target])
        intercept = target_mean - float(start @ mean) if self.fit_intercept else 0.0
        best = first = Refined(start, intercept, 1.0, 0)
        before, length = np.inf, 1.0
        sums, kept = self.design.fold_and_map(_FirstResiduals(mean, start, target, target_mean))
        for step in range(1, _MOST_STEPS + 1):
            # If means are far from 0, even the sum of the rounding errors of residuals matters.
            residual_mean = float(sums[0][0]) / equations.total if self.fit_intercept else 0.0
            rows = self.design.with_vectors(residual=kept["residual"])
            coef, intercept = best.coef, best.intercept
            lacking, f = rows.fold_and_map(
                ExactResiduals.of(self.unit, mean, coef, intercept, target, residual_mean), add_exact
            )
            gradient, level_gain = lacking[0] + lacking[1], float(lacking[2][0] + lacking[3][0])
            level_gain = level_gain if self.fit_intercept else 0.0
            gain = (gradient - mean / self.unit * level_gain) * (self.unit * scale) - self.alpha * scale * coef
            rows = rows.with_vectors(**f)
            f_mean = float(lacking[6][0]) / equations.total if self.fit_intercept else 0.0
            z = self._correction(rows, lacking[4] - f_mean * lacking[5], gain)
            size = float(np.linalg.norm(z))
            if size > 0.25 * before:  # corrections no longer shrink: the digits are exhausted
                return first if step == 2 and size > before else best._replace(error=max(best.error, size / length))
            change = scale * z
            middle = f_mean + level_gain / equations.total
            length = float(np.linalg.norm((coef + change) * reciprocal(scale))) or 1.0
            error = size / length
            shrinking = min(1.0, size / before if step > 1 else error)
            best = Refined(coef + change, intercept + middle - float(mean @ change), error, step)
            if error * shrinking <= EPS / 4:
                return best._replace(error=error * shrinking)  # the next correction would be lost in rounding
            before = size
            sums, kept = rows.fold_and_map(_NextResiduals(mean, change, middle, residual_mean))
        return best

    def _correction(self, rows: Design, cross: Array, gain: Array) -> Array:
        """Scaled coefficients that remove the row vector "f" from the residual and `gain` from the scaled gradient.

        Parameters
        ----------
        cross : ndarray of shape (d,)
            Products of the centred columns with f.
        gain : ndarray of shape (d,)

        Returns
        -------
        ndarray of shape (d,)
        """
        factor, equations = self.factor, self.equations
        if factor.condition <= _SEMINORMAL:
            return factor.solve(equations.scale * cross + gain)
        # By an orthogonal factorisation, which is computed again together with f.
        upper = triangles(rows, equations, self.alpha, self.fit_intercept, "f").penalised
        return factor.backward(upper[:-1, -1] * _signs(upper, factor) + factor.forward(gain))


def _signs(upper: Array, factor: Factor) -> Array:
    """Signs of the rows of `upper` relative to the factor: a triangular factor is unique only up to these."""
    d = len(factor.scale)
    return np.where(np.sign(upper[:d, :d].diagonal()) * np.sign(factor.upper.diagonal()) < 0, -1.0, 1.0)


@dataclass(frozen=True)
class _FirstResiduals:
    """y − target_mean − (x − mean)·coef, and its weighted sum."""

    mean: Array
    coef: Array
    target: int
    target_mean: float

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        r = block.y[:, self.target] - self.target_mean - centred_scores(block, self.mean, self.coef)
        return (np.atleast_1d(block.weighted(r).sum()),), {"residual": r}


@dataclass(frozen=True)
class _NextResiduals:
    """Residuals after `change` of the coefficients and the corresponding intercept, and their weighted sum."""

    mean: Array
    change: Array
    middle: float
    residual_mean: float

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        r = block.vectors["residual"] - self.residual_mean
        r = r + (block.vectors["f"] - centred_scores(block, self.mean, self.change) - self.middle)
        return (np.atleast_1d(block.weighted(r).sum()),), {"residual": r}
