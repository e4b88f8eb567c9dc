"""The hat matrix of a least-squares fit on given rows, one block at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from hiperplano.data import Block, Design
from hiperplano.data.design import Array
from hiperplano.errors import NotAvailable
from hiperplano.linalg.orthogonal import dependent_columns, directions
from hiperplano.linalg.triangular import Columns, Factor
from hiperplano.messages import Message
from hiperplano.solvers.least_squares.normal import normal_equations, summed_residual_squares
from hiperplano.solvers.least_squares.orthogonal import factorise
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution
from hiperplano.stats.slopes import Slopes
from hiperplano.stats.summary import coefficient_names

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Hat:
    """Leverages and residuals of rows.

    Attributes
    ----------
    factor : Factor
        Cholesky factor of the centred columns with the model's penalty.
    columns : Factor
        Cholesky factor of the centred columns without penalty.
    present : Columns
        The centred columns without directions that are only rounding errors.
    dependent : ndarray of int
        Columns that are constant in these rows, or linearly dependent on others.
    rounding : float
        Upper bound of the error of a leverage.
    mean, target_mean : ndarray of shape (d,) and (targets,)
    squares : ndarray of shape (targets,)
        Sums of squares of the targets about their means.
    total : float
        Sum of the weights.
    coef, intercept : ndarray of shape (targets, d) and (targets,)
        Coefficients and intercepts of the model.
    """

    factor: Factor
    columns: Factor
    present: Columns
    dependent: Array
    rounding: float
    mean: Array
    target_mean: Array
    squares: Array
    total: float
    fit_intercept: bool
    alpha: float
    coef: Array
    intercept: Array

    @classmethod
    def of(cls, model: Any, design: Design) -> Hat:
        """Build for a fitted model on the rows of a design."""
        fit_intercept, alpha = bool(model.fit_intercept), float(model.solution_.alpha[0])
        plain = normal_equations(design, fit_intercept)
        alone = factorise(design, plain.penalised(0.0), 0.0, fit_intercept)
        penalised = factorise(design, plain.penalised(alpha), alpha, fit_intercept) if alpha else alone
        columns, factor = alone.factor, penalised.factor
        found = None if alone.bare is None else directions(alone.bare, columns.scale, plain.rounding)
        present = Columns(columns.upper * (columns.scale > 0), columns.scale)
        return cls(
            factor=factor,
            columns=columns,
            present=present if found is None else found.columns(columns.scale),
            dependent=dependent_columns(columns.scale, found),
            rounding=16 * _EPS * factor.condition ** (2 if penalised.squared else 1),
            mean=plain.mean,
            target_mean=plain.target_mean,
            squares=plain.squares,
            total=plain.total,
            fit_intercept=fit_intercept,
            alpha=alpha,
            coef=model.solution_.coef,
            intercept=model.solution_.intercept,
        )

    def refuse_undetermined(self, model: Any, what: str) -> None:
        """Raise an error if these rows do not determine the coefficients."""
        constant = self.columns.scale == 0
        culprits = self.dependent if not self.alpha else np.flatnonzero(constant & self.coef.any(axis=0))
        if not len(culprits):
            return
        names = coefficient_names(model, False)
        words = ", ".join(repr(names[j]) for j in culprits[:6]) + (" …" if len(culprits) > 6 else "")
        fault = Message("follow from each other or do not vary")
        if len(culprits) == 1:
            fault = Message("does not vary")
        raise NotAvailable(
            "{what}: {words} {fault} in these rows, so they do not determine single coefficients. Pass rows in "
            "which the columns vary independently, as a rule those of the fit, or fit without the column.",
            what=what,
            words=words,
            fault=fault,
        )

    @cached_property
    def slopes(self) -> Slopes:
        """Covariance of the slopes if all errors have the same variance."""
        return Slopes.penalised(self.present, self.alpha) if self.alpha else Slopes.plain(self.factor)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the fit: the trace of the hat matrix."""
        return self.slopes.freedom + self.fit_intercept

    def collinearity(self) -> tuple[Array, float]:
        """Variance inflation factors, and the condition number of the columns at unit norm."""
        values = np.linalg.svd(self.columns.upper, compute_uv=False)
        if len(self.dependent):
            return np.full(len(values), np.inf), float("inf")
        half = self.columns.backward(np.eye(len(values)))
        return np.square(half).sum(axis=1), float(values.max() / values.min())

    def turned_rows(self, block: Block) -> Array:
        """U⁻ᵀ·D·(x − mean) of every row, of shape (d, m)."""
        rows = np.subtract(block.dense(), self.mean, dtype=np.float64)
        rows *= self.factor.scale
        return np.asarray(solve_triangular(self.factor.upper, rows.T, trans="T", check_finite=False))

    def leverage(self, block: Block, turned: Array | None = None) -> Array:
        """The diagonal of the hat matrix; exactly 1 if it differs from 1 only by rounding."""
        turned = self.turned_rows(block) if turned is None else turned
        leverage = np.square(turned).sum(axis=0) + (1.0 / self.total if self.fit_intercept else 0.0)
        leverage = block.weighted(leverage)
        return np.where(np.abs(1.0 - leverage) <= self.rounding, 1.0, leverage)

    def shrinkage(self, block: Block) -> Array:
        """The effect of a penalty on the hat matrix H, for every row: the diagonal of H − H², and H·residuals.

        With A = XᵀWX + alpha, H − H² is alpha·W½·X·A⁻²·Xᵀ·W½ and, as XᵀW·residuals = alpha·coef at the fit,
        H·residuals is alpha·X·A⁻¹·coef. Without a penalty both are 0.
        """
        if not self.alpha:
            return np.zeros((len(block), 2))
        turned = self.turned_rows(block)
        inner = self.factor.scale[:, None] * self.factor.backward(turned)
        squares = self.alpha * np.square(inner).sum(axis=0)
        fitted = self.alpha * (self.factor.forward(self.factor.scale * self.coef[0]) @ turned)
        return np.column_stack([block.weighted(squares), fitted])

    def residuals(self, block: Block) -> Array:
        """y − x·coef − intercept, of shape (m, targets)."""
        centre = self.intercept + self.coef @ self.mean
        rows = np.subtract(block.dense(), self.mean, dtype=np.float64)
        return np.asarray(block.y - centre - rows @ self.coef.T)

    def judged(self, solution: LeastSquaresSolution, design: Design) -> LeastSquaresSolution:
        """The solution with the sums of squares of these rows instead of those of the fit."""
        rss = summed_residual_squares(design, self.mean, self.target_mean, self.coef, self.intercept)
        return replace(solution, rss=rss, tss=self.squares, mean=self.mean, scale=self.columns.scale, total=self.total)
