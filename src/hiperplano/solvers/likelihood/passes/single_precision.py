"""Passes in float32 about a point whose sums are known in float64: half the time of a pass, and no digits lost.

From the scores s₀ and slopes r₀ of a base θ₀ follow those of θ: s = s₀ + v·(θ − θ₀) for rows v = [1, z], and the
gradient g₀ + Σ v·(r(s) − r₀). Only the two products with rows are made in float32: their rounding is a share of how far
θ is from the base. So gradients down to a thousandth of that of the base have digits enough, and the first that is
expected to be smaller is taken in float64, for a new base: iterative refinement, as of linear systems. Where that shows
that too many digits were lost, as in badly conditioned columns, all further passes are in float64.

Rows of float32 are multiplied as they are, and others are cast, from their means where those would cost digits; columns
of huge or tiny units are standardised first, and so are few rows, of which products with the Hessian alone are made in
float32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.block import scratch
from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.memory import memory_limit
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.likelihood.likelihood import Likelihood, curved_change, probabilities
from hiperplano.solvers.objective import one_or_all, total_and_slope
from hiperplano.solvers.truncated_newton import Curvature

_FEWEST_NUMBERS = 2**18  # of rows, for products with the Hessian times scores: calls cost more than products with less
_SHARE = 1e-3  # of the gradient of the base, from which on another base is needed
_LEAST_SHARE = 1e-4  # that a pass may find where more was expected: it has three digits still
_END = 3.0  # times `tol`, a gradient that needs a base near the end
_NEAR_END = 30.0  # times `tol`, the gradient of such a base
_FEW_PASSES = 4.0  # that any minimisation takes: for what is worth no more nobody need wait
_UNITS = 1e12  # standard deviations, or one over them, up to which float32 holds numbers and their products
_HEAVY = 1e30  # weight of all rows, or one over it, up to which float32 holds sums of weighted rows
_MOST_NEAR = 50  # passes from one base: rounding may hold steps up
_WRONG = 0.1  # share of a gradient that float32 may be wrong by
_LEAST_CURVATURE = 1e-12


class _Base(NamedTuple):
    """A point, the gradient of the mean loss there, rows with their scores and slopes."""

    theta: Array
    gradient: Array
    rows: Design


class SinglePrecision:
    """A likelihood whose value and gradient come from passes in float32, once as many are left as rows for them cost.

    Parameters
    ----------
    tol : float
        Largest entry of the gradient to be reached.
    """

    def __init__(self, problem: Likelihood, tol: float) -> None:
        self._problem, scale = problem, problem.scale
        few = problem.design.n_rows * scale.size < _FEWEST_NUMBERS
        cast = not few and bool(((scale.scale < _UNITS) & (scale.scale > 1.0 / _UNITS)).all())
        self._origin = scale.origin
        # Of the rows in float32, unless they are [1, z].
        self._scale = replace(scale, shift=scale.shift - self._origin, centre_rows=False) if cast else None
        self._held = cast and problem.design.dtype == np.float32 and not self._origin.any()
        costs = Costs.of(problem.design, problem.n_scores)
        # Few rows stay in a core's cache: only products with the Hessian are worth a copy.
        self._price = np.inf if few else costs.passes_to_single(self._held, cast)
        if not 1.0 / _HEAVY <= problem.total <= _HEAVY:
            self._rows, self._price = None, np.inf
        self._budget, self._tol = Budget(self._price, tol), tol
        self._history: list[float] = []
        self._base: _Base | None = None
        self._sizes: list[float] = []  # of the gradients of passes from this base, its own first
        self._before = np.inf  # that of the pass before the base

    def repenalise(self) -> None:
        """Go on when the penalty of the likelihood has changed: a base is known without it."""
        self._history.clear()
        if self._base is not None:
            gradient = self._base.gradient + self._problem.penalty.slope(self._base.theta)
            self._before, self._sizes = np.inf, [_largest(gradient)]

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""
        base = self._base
        if base is None:
            if self._is_worth_it() and self._rows is not None:
                return self._at_base(theta)
            value, gradient = self._problem.evaluate(theta)
            self._history.append(_largest(gradient))
            return value, gradient
        if self._is_too_small(self._expected(), _SHARE, _END * self._tol) or len(self._sizes) > _MOST_NEAR:
            return self._at_next_base(theta, base)
        value, gradient = self._near_base(theta, base)
        self._sizes.append(_largest(gradient))
        if not self._is_too_small(self._sizes[-1], _LEAST_SHARE, self._tol):
            return value, gradient
        # Here, not at the next point: a line search compares values to all digits.
        exact = self._at_base(theta)
        self._compare(gradient, exact[1])
        return exact

    def _is_worth_it(self) -> bool:
        return self._price <= _FEW_PASSES or self._budget.is_spent(self._history)

    def _expected(self) -> float:
        """The size of the next gradient, if the next step does as the last one did."""
        *_, before, last = [self._before, *self._sizes]
        return last * min(1.0, last / before) if 0.0 < before < np.inf else last

    def _is_too_small(self, size: float, share: float, end: float) -> bool:
        """Whether a gradient is too small for this base.

        The end needs one of its own: what is left of the way there is all that rounded rows may put in a wrong place.
        From a base that is there already, all of that is too little to matter.
        """
        base = self._sizes[0]
        if base <= _END * self._tol:
            return False
        return size <= share * base or (size <= end and base > _NEAR_END * self._tol)

    def _at_next_base(self, theta: Array, before: _Base) -> tuple[float, Array]:
        last, exact = self._sizes[-1], self._at_base(theta)
        if self._sizes[0] > last:  # a step should have shrunk it
            self._compare(self._near_base(theta, before)[1], exact[1])
        return exact

    def _compare(self, gradient: Array, exact: Array) -> None:
        """Go on in float64 if that of float32 is wrong."""
        if not _largest(exact - gradient) <= _WRONG * _largest(exact):
            self._rows = self._base = None
            self._price, self._history = np.inf, []

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and the whole Hessian, in float64."""
        return self._problem.evaluate_with_hessian(theta)

    @property
    def rounds_hessians(self) -> bool:
        """Whether `hessian` gives one, at least once a pass has been made."""
        return self._problem.n_scores == 1 and self._scale is not None and self._price <= _FEW_PASSES

    def hessian(self, theta: Array) -> Array | None:
        """The Hessian of one score, as well as products in float32 tell it; None where passes are not.

        Its diagonal is larger by what rounding can take from an eigenvalue, so that it is positive definite.
        """
        problem, scale = self._problem, self._problem.scale
        if self._base is None or self._scale is None or problem.n_scores > 1:
            return None
        problem.passes += 1
        total, sums, products = self._base.rows.fold(_HessianSums(self._single(theta)))
        products = scale.products(float(total[0]), sums, products, self._origin)
        hessian = problem.checked(products) / problem.total
        hessian.flat[:: len(hessian) + 1] *= 1.0 + rounding(len(hessian))
        hessian.flat[:: len(hessian) + 1] += problem.penalty.curvature(theta).ravel()
        return np.asarray(hessian)

    def curvature_at(self, theta: Array) -> Curvature:
        """Products with the Hessian, of which a step of Newton's method needs a few digits only."""
        problem = self._problem
        if self._rows is None:
            return problem.curvature_at(theta)
        problem.passes += 1
        sums, kept = self._rows.fold_and_map(_Chances(self._single(theta)))
        rows = self._rows.with_vectors(**kept)
        curved = problem.penalty.curvature(theta)

        def product(vector: Array) -> Array:
            problem.passes += 1
            products = self._gradient(*rows.fold(_CurvatureProducts(self._single(vector))))
            return np.asarray(products / problem.total + curved * vector)

        # Columns are standardised: their squares are about as many as rows.
        return Curvature(np.maximum(sums[0][:, None] / problem.total + curved, _LEAST_CURVATURE), product)

    @cached_property
    def _rows(self) -> Design | None:
        """The design, with a row vector "single" if its rows are not in float32."""
        problem = self._problem
        design, numbers = problem.design, problem.design.n_rows * problem.scale.size
        if not isinstance(design, InMemory) or design.is_sparse or numbers * problem.n_scores < _FEWEST_NUMBERS:
            return None
        if self._held:
            return design
        if 4 * numbers > memory_limit():
            return None
        if self._scale is None:
            return design.with_vectors(single=design.map(_Standardised(problem.scale)))
        return design.with_vectors(single=design.in_singles(self._origin))

    def _single(self, theta: Array) -> LinearScores:
        """The scores of parameters, for rows in float32."""
        if self._scale is None:
            return LinearScores(theta.astype(np.float32), np.zeros(len(theta)))
        scores = self._scale.scores(theta)
        return LinearScores(scores.coef.astype(np.float32), scores.intercept)

    def _gradient(self, sums: Array, totals: Array) -> Array:
        """In standardised parameters, from sums over rows in float32."""
        return sums.T if self._scale is None else self._scale.gradient(sums, totals)

    def _at_base(self, theta: Array) -> tuple[float, Array]:
        problem = self._problem
        assert self._rows is not None
        problem.passes += 1
        sums, kept = problem.design.fold_and_map(_BaseSums(problem.loss, problem.scale.scores(theta)))
        loss = problem.checked(problem.scale.gradient(*sums[1:])) / problem.total
        gradient = loss + problem.penalty.slope(theta)
        self._before = self._sizes[-1] if self._sizes else np.inf
        self._sizes = [_largest(gradient)]
        self._base = _Base(theta, loss, self._rows.with_vectors(**kept))
        return float(sums[0][0]) / problem.total + problem.penalty.value(theta), gradient

    def _near_base(self, theta: Array, base: _Base) -> tuple[float, Array]:
        """What the rounded scores change to first order is taken from the gradient of the base: a line search compares
        values to all digits.
        """
        problem, step = self._problem, theta - base.theta
        problem.passes += 1
        value, *sums = base.rows.fold(_NearSums(problem.loss, self._single(step)))
        loss = float(value[0]) / problem.total + float(np.vdot(base.gradient, step))
        gradient = base.gradient + problem.checked(self._gradient(*sums)) / problem.total + problem.penalty.slope(theta)
        return loss + problem.penalty.value(theta), gradient


def rounding(size: int) -> float:
    """Of eigenvalues of products in float32, as a share of their diagonal."""
    return size * float(np.finfo(np.float32).eps)


def _largest(gradient: Array) -> float:
    return float(np.abs(gradient).max(initial=0.0))


@dataclass(frozen=True)
class _Standardised:
    """[1, z] of a block in float32."""

    scale: ColumnScale

    def __call__(self, block: Block) -> Array:
        return self.scale.rows(block).astype(np.float32)


def _singles(block: Block) -> Array:
    return block.vectors["single"] if "single" in block.vectors else block.dense()


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
    """Σ of losses without their slopes at the base times the changes of scores, Σ of the changes of slopes times rows,
    of shape (d, scores), and Σ of them, for changes of scores.
    """

    stays_single = True
    loss: Any
    changes: LinearScores

    def __call__(self, block: Block) -> Sums:
        rows = _singles(block)
        moved = _scores(self.changes, rows)
        before, score = block.vectors["slope"], block.vectors["score"] + moved
        value, slope = total_and_slope(self.loss, block.y[:, 0], one_or_all(score), block.weight)
        change = slope.reshape(len(block), -1) - before
        value -= float(np.vdot(before.T, moved.T))  # as they lie in memory: `vdot` would copy them
        return block.xp.asarray([value]), *_products(change, rows)


@dataclass(frozen=True)
class _Chances:
    """Σ p·(1 − p) of each score, and the probabilities p."""

    stays_single = True
    scores: LinearScores

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        chance = probabilities(_scores(self.scores, _singles(block)))
        return (block.weighted(chance * (1.0 - chance)).sum(axis=0),), {"chance": chance}


@dataclass(frozen=True)
class _CurvatureProducts:
    """Σ x·u of shape (d, scores) and Σ u, for the products u of the loss's curvature with changes of the scores."""

    stays_single = True
    changes: LinearScores

    def __call__(self, block: Block) -> Sums:
        rows = _singles(block)
        return _products(block.weighted(curved_change(block.vectors["chance"], _scores(self.changes, rows))), rows)


@dataclass(frozen=True)
class _HessianSums:
    """Σ c, Σ c·x and Σ c·x·xᵀ of the curvatures c = p·(1 − p) of one score, the products in float32."""

    stays_single = True
    scores: LinearScores

    def __call__(self, block: Block) -> Sums:
        rows = _singles(block)
        chance = probabilities(_scores(self.scores, rows))
        curvature = block.weighted(chance * (1.0 - chance))
        sums, total = _products(curvature, rows)
        root = np.sqrt(curvature).astype(np.float32)
        weighted = np.multiply(rows, root, out=scratch("weighted", rows.shape, rows, np.float32))
        return total, sums[:, 0], (weighted.T @ weighted).astype(np.float64)


def _scores(scores: LinearScores, rows: Array) -> Array:
    """Of rows in float32: in float64, but for the product."""
    return (scores.coef @ rows.T).T.astype(np.float64) + scores.intercept


def _products(right: Array, rows: Array) -> Sums:
    """Σ right ⊗ row of shape (d, scores), the product in float32, and Σ right."""
    return (right.astype(np.float32).T @ rows).T.astype(np.float64), right.sum(axis=0)
