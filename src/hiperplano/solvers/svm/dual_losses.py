"""Hinge and ε-insensitive losses, plain and squared, in terms of their dual variables.

With r the residual of a row, that is target − score in regression and 1 − sign·score in classification,

    loss = max over low ≤ γ ≤ high of  r·γ − ε·|γ| − ½·ridge·γ²,

where γ is the dual variable of the row, per unit of its weight. The hinge has ε = 0 and 0 ≤ γ ≤ C, and the
ε-insensitive loss has −C ≤ γ ≤ C. Squared losses have ridge = 1/(2C), and no bound except γ ≥ 0 for the hinge. At the
optimum the coefficients are Σβ·x with β = weight·γ, times the sign in classification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hiperplano.data.block import matrix_product
from hiperplano.data.design import Array, Block, Design, RowVector, Sums, reads_vectors_only
from hiperplano.solvers.svm.curvature import Curvature, MatrixCurvature, rounds_well, rows_with_one

_FURTHEST = 1e30  # limit of a search for a root, in units of its argument
_TIGHT = 4 * float(np.finfo(float).eps)  # relative accuracy of a root


@dataclass(frozen=True)
class DualLoss:
    """A loss in terms of its dual variables.

    Attributes
    ----------
    low, high : float
        Bounds of the dual variables, low ≤ 0 < high.
    epsilon : float
        Half the width of the tube: smaller residuals have no loss.
    ridge : float
        0 for plain losses, 1/(2C) for squared ones.
    classifies : bool
        Whether blocks have a vector "sign" of −1 and +1; otherwise this is regression on their target.
    """

    low: float
    high: float
    epsilon: float
    ridge: float
    classifies: bool

    n_scores = 1

    @classmethod
    def hinge(cls, strength: float, squared: bool) -> DualLoss:
        """strength·max(0, 1 − sign·score), or its square."""
        return cls(0.0, np.inf, 0.0, 0.5 / strength, True) if squared else cls(0.0, strength, 0.0, 0.0, True)

    @classmethod
    def epsilon_insensitive(cls, epsilon: float, strength: float, squared: bool) -> DualLoss:
        """strength·max(0, |target − score| − ε), or its square."""
        bound, ridge = (np.inf, 0.5 / strength) if squared else (strength, 0.0)
        return cls(-bound, bound, epsilon, ridge, False)

    def residual(self, block: Block, score: Array | float) -> Array:
        """1 − sign·score, or target − score."""
        return np.asarray(1.0 - block.vectors["sign"] * score if self.classifies else block.y[:, 0] - score)

    def signed(self, block: Block, values: Array | float) -> Any:
        """Values times the sign in classification; in regression, the values."""
        return values * block.vectors["sign"] if self.classifies else values

    def beta(self, block: Block, gamma: Array) -> Array:
        """β = weight·γ, times the sign in classification."""
        return block.weighted(self.signed(block, gamma))

    @reads_vectors_only
    def row_pulls(self, block: Block) -> Array:
        """β of the vector "gamma"."""
        return self.beta(block, block.vectors["gamma"])

    def outside(self, residual: Array) -> Array:
        """Signed distance of residuals from the tube."""
        return residual - np.clip(residual, -self.epsilon, self.epsilon) if self.epsilon else residual

    def dual_variable(self, residual: Array, centre: Array | float = 0.0, proximity: float = 0.0) -> Array:
        """The γ that maximises r·γ − ε|γ| − ½·ridge·γ² − ½·proximity·(γ − centre)².

        For a plain loss without the last term, it is the bound on the side of the residual.
        """
        pull = self.outside(residual + proximity * centre if proximity else residual)
        if self.ridge + proximity:
            return np.asarray(np.clip(pull / (self.ridge + proximity), self.low, self.high))
        return np.where(pull > 0, self.high, np.where(pull < 0, self.low, 0.0))

    def free(self, gamma: Array) -> Array:
        """Which dual variables are free: neither at a bound nor at a kink, so that they change with the score."""
        free = (gamma > self.low) & (gamma < self.high)
        return free & (gamma != 0) if self.epsilon else free

    def follow(self, block: Block, residual: Array, proximity: float) -> Array:
        """`dual_variable` with the vector "centre" of a block."""
        return self.dual_variable(residual, block.vectors["centre"] if proximity else 0.0, proximity)

    def gain(self, residual: Array, gamma: Array) -> Array:
        """r·γ − ε|γ| − ½·ridge·γ², at most the loss."""
        gain = residual * gamma
        if self.epsilon:
            gain -= self.epsilon * np.abs(gamma)
        if self.ridge:
            gain -= 0.5 * self.ridge * np.square(gamma)
        return gain

    def value(self, residual: Array, block: Block | None = None) -> Array:
        """The loss."""
        if self.ridge:
            return self.gain(residual, self.dual_variable(residual))
        outside = self.outside(residual)
        return np.asarray(np.maximum(self.high * outside, self.low * outside))

    @reads_vectors_only
    def middle(self, block: Block) -> Array:
        """A first centre for the dual variables: half the bound on the side of the vector "residual".

        Without a tube, it is the middle of both bounds. For a squared loss, it is the optimum for the residual.
        """
        residual = block.vectors["residual"]
        if self.ridge:
            return self.dual_variable(residual)
        if not self.epsilon:
            return np.full(len(residual), 0.5 * (self.low + self.high))
        return 0.5 * np.where(residual > 0, self.high, self.low)

    def free_gram(self, block: Block, gamma: Array, shift: Array, softness: float) -> Array:
        """Σ over free rows of weight·[x − shift, 1]ᵀ[x − shift, 1], which a step divides by `softness`."""
        free = np.flatnonzero(self.free(gamma))
        taken = Block(block.x, {}).take(free)
        if block.is_sparse and not shift.any():
            return _sparse_gram(taken, np.ones(len(free)) if block.weight is None else block.weight[free])
        rows = rows_with_one(taken, shift)
        if block.weight is not None:
            rows *= np.sqrt(block.weight[free])[:, None]
        if rounds_well(rows, softness):
            rows = rows.astype(np.float32)
        return matrix_product(rows.T, rows).astype(np.float64, copy=False)

    def curvature(self, gram: Array, row: float) -> Curvature:
        """The curvature with this matrix; `row`, the contribution of one row to that of the level, is not used."""
        return MatrixCurvature(gram)

    def balanced(self, design: Design) -> RowVector:
        """Dual variables near the vector "gamma" with Σβ = 0, which an intercept without a penalty requires.

        A common shift is added to the free ones, or to all if that is not enough. None is moved past 0 or a bound.
        """
        now, size, weight = (float(each) for each in design.fold(_Balance(self))[0])
        if now == 0:
            return design.vector("gamma")

        def shifted(shift: float, everywhere: bool = False) -> tuple[float, float]:
            value, slope = design.fold(_Shifted(self, shift, everywhere))[0]
            return float(value), float(slope)

        everywhere = shifted(-np.sign(now) * _FURTHEST)[0] * now > 0
        shift = root_of_increasing(partial(shifted, everywhere=everywhere), size / weight or 1.0)
        return design.map(_Moved(self, shift, everywhere))

    def moved(self, block: Block, shift: float, everywhere: bool) -> Array:
        """The vector "gamma" plus `shift` times the sign, clipped at 0 and at the bounds.

        Only free dual variables are shifted, unless `everywhere`.
        """
        gamma = block.vectors["gamma"]
        low = np.where(gamma > 0, 0.0, self.low) if self.low else 0.0
        high = np.where(gamma < 0, 0.0, self.high) if self.low else self.high
        new = np.clip(gamma + self.signed(block, shift), low, high)
        return new if everywhere else np.where(self.free(gamma) & (gamma != 0), new, gamma)


def _sparse_gram(block: Block, weight: Array) -> Array:
    """Σ weight·[x, 1]ᵀ[x, 1] from stored entries only."""
    gram = np.empty((block.n_columns + 1, block.n_columns + 1))
    gram[:-1, :-1] = block.weighted_products(weight)
    gram[-1, :-1] = gram[:-1, -1] = block.transpose_dot(weight)
    gram[-1, -1] = weight.sum()
    return gram


def total(block: Block, values: Array) -> Array:
    """Weighted sum over the rows of values with one or k numbers for each row."""
    return np.asarray(block.xp.sum(values) if block.weight is None else block.xp.sum(block.weight @ values))


@dataclass(frozen=True)
class _Balance:
    """Σβ, Σ|β| and Σ weight."""

    reads_rows = False
    loss: DualLoss

    def __call__(self, block: Block) -> Sums:
        xp, beta = block.xp, self.loss.row_pulls(block)
        return (xp.stack([xp.sum(each) for each in (beta, xp.abs(beta), block.weights)]),)


@dataclass(frozen=True)
class _Shifted:
    """Σβ after a shift, and its derivative with respect to the shift."""

    reads_rows = False
    loss: DualLoss
    shift: float
    everywhere: bool

    def __call__(self, block: Block) -> Sums:
        gamma = block.vectors["gamma"]
        new = self.loss.moved(block, self.shift, self.everywhere)
        follows = (new != 0) & (new > self.loss.low) & (new < self.loss.high) & ((new != gamma) | (self.shift == 0))
        return (block.xp.stack([block.xp.sum(self.loss.beta(block, new)), total(block, follows)]),)


@dataclass(frozen=True)
class _Moved:
    reads_rows = False
    loss: DualLoss
    shift: float
    everywhere: bool

    def __call__(self, block: Block) -> Array:
        return self.loss.moved(block, self.shift, self.everywhere)


def root_of_increasing(function: Callable[[float], tuple[float, float]], unit: float) -> float:
    """Root of a continuous increasing function, by Newton's method from 0, safeguarded by bisection.

    Parameters
    ----------
    function : callable, float -> (value, slope)
        Piecewise linear functions are solved in a few steps.
    unit : float
        Unit of the argument. Where the slope is 0, steps grow from a thousandth of it.

    Returns
    -------
    float
        0 if nothing is found within 1e30 units.
    """
    low, high, at, reach = -np.inf, np.inf, 0.0, 1e-3 * unit
    widths = [np.inf] * 3
    while True:
        value, slope = function(at)
        low, high = (at, high) if value < 0 else (low, at)
        if value == 0 or high - low <= _TIGHT * max(abs(at), unit):
            return at
        step = -value / slope if slope > 0 else np.nan
        if abs(step) <= _TIGHT * max(abs(at), unit):
            return at
        if not low < at + step < high or high - low > 0.5 * widths[-3] < np.inf:
            if np.isfinite(high - low):
                step = 0.5 * (low + high) - at
            else:
                step, reach = float(-np.sign(value)) * reach, 4.0 * reach
                if reach > _FURTHEST * unit:  # constant up to rounding: there is no root
                    return 0.0
        widths.append(high - low)
        at += step
