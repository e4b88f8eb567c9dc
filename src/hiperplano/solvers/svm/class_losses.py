"""Crammer and Singer's loss in terms of its dual variables: the counterpart of `dual_losses`.

Let v be the scores of a row, plus 1 for all classes but its own. The loss is C·(max v − v[own]), which is the maximum
of −v·α over Σα = 0, α[own] ≤ C and α ≤ 0 for the other classes. Residuals are −v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, RowVector, Sums, reads_vectors_only
from hiperplano.solvers.svm.curvature import Curvature, rounds_well, rows_with_one, solve


@dataclass(frozen=True)
class ClassLoss:
    """The loss of rows with a vector "code", their class numbers.

    Attributes
    ----------
    n_scores : int
        Number of classes.
    high : float
        C, the largest dual variable.
    """

    n_scores: int
    high: float

    ridge = 0.0  # as in a plain `DualLoss`

    def own(self, block: Block) -> Array:
        """1 for the class of each row, 0 for the others."""
        return np.asarray(block.vectors["code"][:, None] == np.arange(self.n_scores), dtype=np.float64)

    def residual(self, block: Block, score: Array | float) -> Array:
        """−v."""
        return np.asarray(self.own(block) - 1.0 - score)

    def beta(self, block: Block, alpha: Array) -> Array:
        """β: coefficients of class k are Σ β[k]·x."""
        return block.weighted(alpha)

    @reads_vectors_only
    def row_pulls(self, block: Block) -> Array:
        """β of the vector "gamma"."""
        return block.weighted(block.vectors["gamma"])

    def dual_variable(self, residual: Array, own: Array, centre: Array, proximity: float) -> Array:
        """The α that maximises residual·α − ½·proximity·‖α − centre‖².

        C·own − α lies in a simplex of size C, and the nearest point of the simplex is found by sorting. It does not
        change if a number is added to all entries of a row. The largest entry is subtracted, so that C keeps its
        digits.
        """
        bound = self.high * own
        far = bound - centre - residual / proximity
        far = far - far.max(axis=1, keepdims=True)
        ranked = -np.sort(-far, axis=1)
        level = (np.cumsum(ranked, axis=1) - self.high) / np.arange(1, self.n_scores + 1)
        last = np.sum(ranked > level, axis=1) - 1
        return np.asarray(bound - np.maximum(far - level[np.arange(len(far)), last][:, None], 0.0))

    def follow(self, block: Block, residual: Array, proximity: float) -> Array:
        """`dual_variable` with the vector "centre" of a block; zeros without a proximal term."""
        if not proximity:
            return np.zeros_like(residual)
        return self.dual_variable(residual, self.own(block), block.vectors["centre"], proximity)

    def value(self, residual: Array, block: Block) -> Array:
        """The loss."""
        return np.asarray(self.high * (np.sum(residual * self.own(block), axis=1) - residual.min(axis=1)))

    def gain(self, residual: Array, alpha: Array) -> Array:
        """residual·α, at most the loss."""
        return np.asarray(np.sum(residual * alpha, axis=1))

    @reads_vectors_only
    def middle(self, block: Block) -> Array:
        """A first centre: C/2 for the class of a row, and equal shares of −C/2 for the others."""
        own = self.own(block)
        return 0.5 * self.high * (own - (1.0 - own) / (self.n_scores - 1))

    def free_gram(self, block: Block, alpha: Array, shift: Array, softness: float) -> Array:
        """Σ weight·(diag(a) − a·aᵀ/Σa) ⊗ [x − shift, 1]ᵀ[x − shift, 1], where a is 1 for the free classes of a row."""
        free = alpha < self.high * self.own(block)
        some = np.flatnonzero(free.sum(axis=1) > 1)
        free, block = free[some], block.take(some)
        x, weight = rows_with_one(block, shift), block.weights
        x = x.astype(np.float32) if rounds_well(x * np.sqrt(weight)[:, None], softness) else x
        share = weight / free.sum(axis=1)
        out = np.zeros((self.n_scores, x.shape[1], self.n_scores, x.shape[1]))
        for k in range(self.n_scores):
            for m in range(k, self.n_scores):
                both = np.flatnonzero(free[:, k] & free[:, m])
                size = -share[both] if m > k else weight[both] - share[both]
                product = x[both].T @ (x[both] * size[:, None].astype(x.dtype))
                out[k, :, m] = product
                out[m, :, k] = product.T
        return out.reshape(self.n_scores * x.shape[1], -1)

    def curvature(self, gram: Array, row: float) -> Curvature:
        """The curvature with this matrix."""
        return ClassCurvature(gram, self.n_scores, row)

    def balanced(self, design: Design) -> RowVector:
        """Dual variables near the vector "gamma" whose weighted sum over the rows is 0 for each class.

        If the sum of a class is negative, its negative dual variables are scaled towards 0. In the same rows, the
        difference is subtracted from classes with a positive sum. So the sum of each row stays 0, and no bound is
        violated.
        """
        sums, negative = design.fold(_class_balance)
        excess, lack = np.maximum(sums, 0.0), np.maximum(-sums, 0.0)
        if not (lack.any() and excess.any()):  # all sums are 0 up to rounding
            return design.vector("gamma")
        share = np.divide(lack, -negative, out=np.zeros_like(lack), where=negative < 0)
        return design.map(_Rebalanced(share, excess / excess.sum()))


def _class_balance(block: Block) -> Sums:
    """Σ weight·α of each class, and the same over negative α."""
    alpha = block.weighted(block.vectors["gamma"])
    return alpha.sum(axis=0), np.minimum(alpha, 0.0).sum(axis=0)


@dataclass(frozen=True)
class _Rebalanced:
    """α with a share of its negative entries moved to other classes of the same row."""

    reads_rows = False
    share: Array
    receivers: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        alpha = block.vectors["gamma"]
        given = -xp.minimum(alpha, 0.0) * self.share
        return xp.asarray(alpha + given - np.outer(given.sum(axis=1), self.receivers))


@dataclass(frozen=True)
class ClassCurvature(Curvature):
    """Curvature of all classes' coefficients and levels, of shape ((d+1)·classes, (d+1)·classes)."""

    gram: Array
    n_classes: int
    row: float  # curvature of a level due to one free row

    @property
    def _levels(self) -> Array:
        width = len(self.gram) // self.n_classes
        return np.arange(width - 1, len(self.gram), width)

    @property
    def mass(self) -> float:
        return float(self.gram[self._levels, self._levels].max())

    @property
    def offset(self) -> Array:
        return np.asarray(self.gram[:, self._levels].sum(axis=1) / self.mass)

    def balancing_cost(self, excess: Array) -> float:
        """About a unit of the scores for each dual variable moved."""
        return float(np.abs(excess).sum())

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> tuple[Array, float]:
        matrix, right, levels = self.gram.copy(), -slope, self._levels
        penalised = np.setdiff1d(np.arange(len(matrix)), levels)
        matrix[penalised, penalised] += 1.0
        if fit_intercept:
            # A level without free rows gets the curvature of one row, so that its step is finite.
            matrix[levels, levels] += np.where(matrix[levels, levels] > 0, 0.0, self.row)
            # A common change of all levels has no effect; this term makes the matrix regular.
            matrix[np.ix_(levels, levels)] += (self.mass or self.row) / self.n_classes
        else:
            matrix[levels, :], matrix[:, levels] = 0.0, 0.0
            matrix[levels, levels], right[levels] = 1.0, 0.0
        steps = solve(matrix, right).reshape(self.n_classes, -1)
        # A common change of all classes has no effect on the loss, so that the mean of the steps is a rounding error.
        return np.asarray(steps - steps.mean(axis=0)).ravel(), 0.0
