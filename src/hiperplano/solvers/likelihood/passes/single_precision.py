"""Passes in float32 about a point whose sums are known in float64: half the time of a pass, and no digits lost.

From the scores s₀ and slopes r₀ of a base θ₀ follow those of θ: s = s₀ + v·(θ − θ₀) for rows v = [1, z], and the
gradient g₀ + Σ v·(r(s) − r₀). Only the two products with rows are made in float32: their rounding is a share of how far
θ is from the base. So gradients down to a hundredth of that of the base have digits enough, and the first that is
smaller is taken in float64, for a new base: iterative refinement, as of linear systems. Where that shows that too many
digits were lost, as in badly conditioned columns, all further passes are in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.memory import memory_limit
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.likelihood.likelihood import Likelihood, curved_change, probabilities
from hiperplano.solvers.objective import one_or_all, total_and_slope
from hiperplano.solvers.truncated_newton import Curvature

_FEWEST_NUMBERS = 2**18  # of rows times scores: calls cost more than products with less
_SHARE = 0.01  # of the gradient of the base, from which on another base is needed
_MOST_NEAR = 50  # passes from one base: rounding may hold steps up
_WRONG = 0.1  # share of a gradient that float32 may be wrong by
_LEAST_CURVATURE = 1e-12


class _Base(NamedTuple):
    """A point, the gradient of the mean loss there, the largest entry of it with the penalty's, rows with their scores
    and slopes.
    """

    theta: Array
    gradient: Array
    largest: float
    rows: Design


class SinglePrecision:
    """A likelihood whose value and gradient come from passes in float32, once many seem to be left.

    Parameters
    ----------
    tol : float
        Largest entry of the gradient to be reached.
    """

    def __init__(self, problem: Likelihood, tol: float) -> None:
        self._problem = problem
        self._budget = Budget(Costs.of(problem.design, problem.n_scores).passes_to_copy, tol)
        self._history: list[float] = []
        self._base: _Base | None = None
        self._near = 0  # passes from this base

    def repenalise(self) -> None:
        """Go on when the penalty of the likelihood has changed: a base is known without it."""
        self._history.clear()
        if self._base is not None:
            gradient = self._base.gradient + self._problem.penalty.slope(self._base.theta)
            self._near, self._base = 0, self._base._replace(largest=_largest(gradient))

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""
        if self._base is None and (not self._budget.is_spent(self._history) or self._rows is None):
            value, gradient = self._problem.evaluate(theta)
            self._history.append(_largest(gradient))
            return value, gradient
        if self._base is not None:
            value, gradient = self._near_base(theta, self._base)
            self._near += 1
            if _largest(gradient) > _SHARE * self._base.largest and self._near < _MOST_NEAR:
                return value, gradient
            exact = self._at_base(theta)
            if _largest(exact[1] - gradient) > _WRONG * _largest(exact[1]):
                self._rows = self._base = None
            return exact
        return self._at_base(theta)

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and the whole Hessian, in float64."""
        return self._problem.evaluate_with_hessian(theta)

    def curvature_at(self, theta: Array) -> Curvature:
        """Products with the Hessian, of which a step of Newton's method needs a few digits only."""
        problem = self._problem
        if self._rows is None:
            return problem.curvature_at(theta)
        problem.passes += 1
        sums, kept = self._rows.fold_and_map(_Chances(theta.astype(np.float32)))
        rows = self._rows.with_vectors(**kept)
        curved = problem.penalty.curvature(theta)

        def product(vector: Array) -> Array:
            problem.passes += 1
            (products,) = rows.fold(_CurvatureProducts(vector.astype(np.float32)))
            return np.asarray(products / problem.total + curved * vector)

        # Columns are standardised: their squares are about as many as rows.
        return Curvature(np.maximum(sums[0][:, None] / problem.total + curved, _LEAST_CURVATURE), product)

    @cached_property
    def _rows(self) -> Design | None:
        """The design with a row vector "single", [1, z] in float32."""
        problem = self._problem
        design, numbers = problem.design, problem.design.n_rows * problem.scale.size
        if not isinstance(design, InMemory) or design.is_sparse:
            return None
        if numbers * problem.n_scores < _FEWEST_NUMBERS or 4 * numbers > memory_limit():
            return None
        return design.with_vectors(single=design.map(_SingleRows(problem.scale)))

    def _at_base(self, theta: Array) -> tuple[float, Array]:
        problem = self._problem
        assert self._rows is not None
        problem.passes += 1
        sums, kept = problem.design.fold_and_map(_BaseSums(problem.loss, problem.scale.scores(theta)))
        loss = problem.scale.gradient(*sums[1:]) / problem.total
        gradient = loss + problem.penalty.slope(theta)
        self._near = 0
        self._base = _Base(theta, loss, _largest(gradient), self._rows.with_vectors(**kept))
        return float(sums[0][0]) / problem.total + problem.penalty.value(theta), gradient

    def _near_base(self, theta: Array, base: _Base) -> tuple[float, Array]:
        """What the rounded scores change to first order is taken from the gradient of the base: a line search compares
        values to all digits.
        """
        problem, step = self._problem, theta - base.theta
        problem.passes += 1
        value, change = base.rows.fold(_NearSums(problem.loss, step.astype(np.float32)))
        loss = float(value[0]) / problem.total + float(np.vdot(base.gradient, step))
        gradient = base.gradient + change / problem.total + problem.penalty.slope(theta)
        return loss + problem.penalty.value(theta), gradient


def _largest(gradient: Array) -> float:
    return float(np.abs(gradient).max(initial=0.0))


@dataclass(frozen=True)
class _SingleRows:
    """[1, z] of a block in float32."""

    scale: ColumnScale

    def __call__(self, block: Block) -> Array:
        return self.scale.rows(block).astype(np.float32)


@dataclass(frozen=True)
class _BaseSums:
    """Σ loss, Σ slope·x of shape (d, scores) and Σ slope; scores and slopes of the rows."""

    loss: Any
    scores: LinearScores

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        rows = self.scores.rows(block)
        score = self.scores.of(rows)
        value, slope = total_and_slope(self.loss, block.y[:, 0], one_or_all(score), block.weight)
        slope = slope.reshape(len(block), -1)
        sums = block.xp.asarray([value]), (slope.T @ rows).T, slope.sum(axis=0)
        return sums, {"score": score, "slope": slope}


@dataclass(frozen=True)
class _NearSums:
    """Σ of losses without their slopes at the base times the changes of scores, and Σ of the changes of slopes times
    rows, for a change of the parameters.
    """

    loss: Any
    step: Array

    def __call__(self, block: Block) -> Sums:
        single = block.vectors["single"]
        moved = (self.step @ single.T).T.astype(np.float64)
        before, score = block.vectors["slope"], block.vectors["score"] + moved
        value, slope = total_and_slope(self.loss, block.y[:, 0], one_or_all(score), block.weight)
        change = slope.reshape(len(block), -1) - before
        value -= float(np.einsum("ij,ij->", before, moved))
        return block.xp.asarray([value]), (change.astype(np.float32).T @ single).astype(np.float64)


@dataclass(frozen=True)
class _Chances:
    """Σ p·(1 − p) of each score, and the probabilities p."""

    theta: Array

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        score = (self.theta @ block.vectors["single"].T).T.astype(np.float64)
        chance = probabilities(score)
        return (block.weighted(chance * (1.0 - chance)).sum(axis=0),), {"chance": chance}


@dataclass(frozen=True)
class _CurvatureProducts:
    """Σ u ⊗ v, for the products u of the loss's curvature with changes of the scores."""

    direction: Array

    def __call__(self, block: Block) -> Sums:
        single = block.vectors["single"]
        moved = block.weighted(curved_change(block.vectors["chance"], (self.direction @ single.T).T))
        return ((moved.astype(np.float32).T @ single).astype(np.float64),)
