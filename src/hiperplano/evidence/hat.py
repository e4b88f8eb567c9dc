"""The hat matrix of a least-squares fit on given rows, one block at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from hiperplano.data import Block, Design
from hiperplano.data.design import Array
from hiperplano.evidence.least_squares import slopes_used
from hiperplano.solvers.direct import factorise
from hiperplano.solvers.factor import Factor
from hiperplano.solvers.normal import NormalEquations
from hiperplano.solvers.residuals import summed_residual_squares
from hiperplano.solvers.solution import LeastSquaresSolution
from hiperplano.solvers.statistics import moments


@dataclass(frozen=True)
class Hat:
    """Leverages and residuals of rows.

    Attributes
    ----------
    factor : Factor
        Of the centred columns with the model's penalty.
    columns : Factor
        Of the centred columns alone.
    """

    factor: Factor
    columns: Factor
    mean: Array
    target_mean: Array
    squares: Array
    total: float
    level: bool
    alpha: float
    coef: Array
    intercept: Array
    design: Design

    @classmethod
    def of(cls, model: Any, design: Design) -> Hat:
        level, alpha = bool(model.fit_intercept), float(model.solution_.alpha[0])
        plain = NormalEquations.of(moments(design, centred=level), level)
        columns = factorise(design, plain.penalised(0.0), 0.0, level, orthogonal=False).factor
        factor = factorise(design, plain.penalised(alpha), alpha, level, orthogonal=False).factor if alpha else columns
        return cls(
            factor=factor,
            columns=columns,
            mean=plain.mean,
            target_mean=plain.target_mean,
            squares=plain.squares * plain.target_unit**2,
            total=plain.total,
            level=level,
            alpha=alpha,
            coef=model.solution_.coef,
            intercept=model.solution_.intercept,
            design=design,
        )

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the fit: the trace of the hat matrix."""
        return slopes_used(self.factor, self.alpha) + self.level

    def collinearity(self) -> tuple[Array, float]:
        """Variance inflation factors, and the condition number of the columns at unit length."""
        values = np.linalg.svd(self.columns.upper, compute_uv=False)
        if values.min() <= np.finfo(float).eps * values.max():
            return np.full(len(values), np.inf), float("inf")
        half = self.columns.backward(np.eye(len(values)))
        return np.square(half).sum(axis=1), float(values.max() / values.min())

    def scaled_rows(self, block: Block) -> Array:
        """(x − mean)·scale, as a fresh array."""
        rows = np.subtract(block.dense(), self.mean, dtype=np.float64)
        rows *= self.factor.scale
        return rows

    def leverage(self, block: Block) -> Array:
        """The diagonal of the hat matrix."""
        half = solve_triangular(self.factor.upper, self.scaled_rows(block).T, trans="T", check_finite=False)
        leverage = np.square(half).sum(axis=0) + (1.0 / self.total if self.level else 0.0)
        return np.asarray(leverage if block.weight is None else leverage * block.weight)

    def residuals(self, block: Block) -> Array:
        """y − x·coef − intercept, of shape (m, targets)."""
        centre = self.intercept + self.coef @ self.mean
        rows = np.subtract(block.dense(), self.mean, dtype=np.float64)
        return np.asarray(block.y - centre - rows @ self.coef.T)

    def judged(self, solution: LeastSquaresSolution) -> LeastSquaresSolution:
        """The solution with the sums of squares of these rows instead of those of the fit."""
        rss = summed_residual_squares(self.design, self.mean, self.target_mean, self.coef, self.intercept)
        return replace(solution, rss=rss, tss=self.squares, mean=self.mean, total=self.total, factor=self.factor)
