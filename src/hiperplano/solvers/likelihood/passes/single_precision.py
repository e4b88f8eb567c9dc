"""Passes in float32 relative to a base point that is known in float64: about half the time, with enough digits.

Let s₀ and r₀ be the scores and slopes of the rows v = [1, z] at a base θ₀. At another point θ, the scores are
s = s₀ + v·(θ − θ₀), and the gradient is g₀ + Σ v·(r(s) − r₀). Only these two products with rows are computed in
float32, so that rounding errors are proportional to the distance of θ from the base. Gradients down to a thousandth of
that of the base have enough digits. If the next gradient is expected to be smaller, it is computed in float64, and its
point becomes the new base. This is iterative refinement, as for linear systems. If the new base shows that too many
digits were lost, as with badly conditioned columns, all further passes are in float64.

Float32 rows are used as they are. Others are converted, relative to their means if that is needed to keep digits.
Columns with huge or tiny units are standardised first. So are small tables, for which only products with the Hessian
are computed in float32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.block import matrix_product, row_scores, row_sums, scratch
from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.memory import memory_limit
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.passes.curvature_sums import curved_change, probabilities, without_subnormals
from hiperplano.solvers.objective import one_or_all, total_and_slope
from hiperplano.solvers.truncated_newton import Curvature

# Least size of a table: rows × columns for passes in float32, rows × columns × scores for products with the Hessian.
# For smaller ones, the overhead of calls dominates.
_FEWEST_NUMBERS = 2**18
_FEW_PASSES = 4.0  # number of passes that every minimisation takes; float32 is used at once if it pays within these

# Gradients for which a new base is needed, as shares of the gradient of the base:
_EXPECTED_SHARE = 1e-3  # expected gradient
_COMPUTED_SHARE = 1e-4  # computed gradient, which still has three digits
# As multiples of `tol`:
_END = 3.0  # an expected gradient up to this needs a base near the end
_NEAR_END = 30.0  # largest gradient of a base near the end
_MOST_NEAR = 50  # most passes from one base, since rounding errors may delay convergence
_LARGEST_ERROR = 0.1  # largest relative error of a gradient in float32; beyond, all further passes are in float64

_UNITS = 1e12  # largest standard deviation, or inverse of one, of columns that are converted as they are
_HEAVY = 1e30  # largest total weight, or inverse of it, for which float32 is used


class _Base(NamedTuple):
    """A point, the gradient of the mean loss there, and the rows with their scores and slopes."""

    theta: Array
    gradient: Array
    rows: Design


class SinglePrecision:
    """Value and gradient of a likelihood, by passes in float32 once they are expected to pay for the float32 rows.

    Parameters
    ----------
    problem : Likelihood
    tol : float
        Largest entry of the gradient at the end of the minimisation.
    """

    def __init__(self, problem: Likelihood, tol: float) -> None:
        self._problem, scale = problem, problem.scale
        few = problem.design.n_rows * scale.size < _FEWEST_NUMBERS
        cast = not few and bool(((scale.scale < _UNITS) & (scale.scale > 1.0 / _UNITS)).all())
        self._origin = scale.origin
        # The scale of the float32 rows; None if they are [1, z].
        self._scale = replace(scale, shift=scale.shift - self._origin, centre_rows=False) if cast else None
        self._held = cast and problem.design.dtype == np.float32 and not self._origin.any()
        costs = Costs.of(problem.design, problem.n_scores)
        # Small tables stay in the cache: float32 pays for products with the Hessian only.
        self._price = np.inf if few else costs.passes_to_single(self._held, cast)
        if not 1.0 / _HEAVY <= problem.total <= _HEAVY:
            self._rows, self._price = None, np.inf
        self._budget, self._tol = Budget(self._price, tol), tol
        self._history: list[float] = []
        self._base: _Base | None = None
        self._sizes: list[float] = []  # largest gradient entries of passes from this base, beginning with its own
        self._before = np.inf  # largest gradient entry of the pass before the base

    def repenalise(self) -> None:
        """Adapt to a changed penalty of the likelihood. The base is kept, since it does not include the penalty."""
        self._history.clear()
        if self._base is not None:
            gradient = self._base.gradient + self._problem.penalty.slope(self._base.theta)
            self._before, self._sizes = np.inf, [_largest(gradient)]

    def renew_base(self) -> None:
        """Let the next pass make a new base, since its point is expected to be much closer to the solution."""
        self._base, self._sizes = None, []

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""
        base = self._base
        if base is None:
            if self._is_worth_it() and self._rows is not None:
                return self._at_base(theta)
            value, gradient = self._problem.evaluate(theta)
            self._history.append(_largest(gradient))
            return value, gradient
        if self._is_too_small(self._expected(), _EXPECTED_SHARE, _END * self._tol) or len(self._sizes) > _MOST_NEAR:
            return self._at_next_base(theta, base)
        value, gradient = self._near_base(theta, base)
        self._sizes.append(_largest(gradient))
        if not self._is_too_small(self._sizes[-1], _COMPUTED_SHARE, self._tol):
            return value, gradient
        # The new base is here, not at the next point, since the line search compares values to all digits.
        exact = self._at_base(theta)
        self._compare(gradient, exact[1])
        return exact

    def _is_worth_it(self) -> bool:
        return self._price <= _FEW_PASSES or self._budget.is_spent(self._history)

    def _expected(self) -> float:
        """Largest entry of the next gradient, if it shrinks by the same factor as in the last step."""
        *_, before, last = [self._before, *self._sizes]
        return last * min(1.0, last / before) if 0.0 < before < np.inf else last

    def _is_too_small(self, size: float, share: float, end: float) -> bool:
        """Whether a gradient is too small for this base.

        The last passes need a base near the solution, so that rounding errors of float32 affect only the short distance
        that is left. A base that is already near it serves to the end.

        Parameters
        ----------
        size : float
            Largest entry of the gradient.
        share : float
            Least gradient, as a share of that of the base.
        end : float
            Gradient that needs a base near the end.
        """
        base = self._sizes[0]
        if base <= _END * self._tol:
            return False
        return size <= share * base or (size <= end and base > _NEAR_END * self._tol)

    def _at_next_base(self, theta: Array, before: _Base) -> tuple[float, Array]:
        last, exact = self._sizes[-1], self._at_base(theta)
        if self._sizes[0] > last:  # it should have shrunk: float32 may have misled the last step
            self._compare(self._near_base(theta, before)[1], exact[1])
        return exact

    def _compare(self, gradient: Array, exact: Array) -> None:
        """Use float64 from now on if the gradient in float32 is too inaccurate."""
        if not _largest(exact - gradient) <= _LARGEST_ERROR * _largest(exact):
            self._rows = self._base = None
            self._price, self._history = np.inf, []

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and full Hessian, in float64."""
        return self._problem.evaluate_with_hessian(theta)

    @property
    def rounds_hessians(self) -> bool:
        """Whether `hessian` returns a matrix after the first pass."""
        return self._problem.n_scores == 1 and self._scale is not None and self._price <= _FEW_PASSES

    def hessian(self, theta: Array) -> Array | None:
        """The Hessian of one score, with products in float32; None if passes are in float64.

        Its diagonal is increased by the largest rounding error of an eigenvalue, so that it is positive definite.
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
        """Products with the Hessian in float32 if possible: a Newton step needs only a few digits."""
        problem = self._problem
        if self._rows is None:
            return problem.curvature_at(theta)
        problem.passes += 1
        sums, kept = self._rows.fold_and_map(_Chances(self._single(theta)))
        rows = self._rows.with_vectors(**kept)

        def products(vector: Array) -> Array:
            return self._gradient(*rows.fold(_CurvatureProducts(self._single(vector))))

        # Columns are standardised, so that all of them have about the same curvature.
        return problem.curvature(theta, sums[0][:, None], products)

    @cached_property
    def _rows(self) -> Design | None:
        """The design, with a row vector "single" if its rows are not float32; None if float32 is not used."""
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
        """Linear scores with these parameters, for float32 rows."""
        if self._scale is None:
            return LinearScores(theta.astype(np.float32), np.zeros(len(theta)))
        scores = self._scale.scores(theta)
        return LinearScores(scores.coef.astype(np.float32), scores.intercept)

    def _gradient(self, sums: Array, totals: Array) -> Array:
        """The gradient in standardised parameters, from sums over float32 rows."""
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
        """Value and gradient by a pass in float32.

        The first-order change of the value is computed from the gradient of the base, not from rounded scores, since
        the line search compares values to all digits.
        """
        problem, step = self._problem, theta - base.theta
        problem.passes += 1
        value, *sums = base.rows.fold(_NearSums(problem.loss, self._single(step)))
        loss = float(value[0]) / problem.total + float(np.vdot(base.gradient, step))
        # Rounded to float32, slopes do not quite sum to zero over the classes, which no step could change.
        moved = problem.balanced(problem.checked(self._gradient(*sums))) / problem.total
        return loss + problem.penalty.value(theta), base.gradient + moved + problem.penalty.slope(theta)


def rounding(size: int) -> float:
    """Largest rounding error of an eigenvalue of a matrix of float32 products, as a share of its diagonal."""
    return size * float(np.finfo(np.float32).eps)


def _largest(gradient: Array) -> float:
    return float(np.abs(gradient).max(initial=0.0))


@dataclass(frozen=True)
class _Standardised:
    """The rows [1, z] of a block in float32."""

    scale: ColumnScale

    def __call__(self, block: Block) -> Array:
        return self.scale.rows(block).astype(np.float32)


def _singles(block: Block) -> Array:
    return block.vectors["single"] if "single" in block.vectors else block.dense()


@dataclass(frozen=True)
class _BaseSums:
    """Σ loss, Σ slope·x of shape (d, scores) and Σ slope. Keeps scores and slopes of the rows."""

    loss: Any
    scores: LinearScores

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        rows = self.scores.rows(block)
        score = self.scores.of(rows)
        value, slope = total_and_slope(self.loss, block.y[:, 0], one_or_all(score), block.weight)
        slope = slope.reshape(len(block), -1)
        sums = block.xp.asarray([value]), row_sums(slope, rows).T, slope.sum(axis=0)
        return sums, {"score": score, "slope": slope}


@dataclass(frozen=True)
class _NearSums:
    """Sums at a point near the base: Σ (loss − r₀·(s − s₀)), Σ (r − r₀)·x of shape (d, scores), and Σ (r − r₀).

    s and r are scores and slopes at the point, s₀ and r₀ those at the base.
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
        value -= float(np.vdot(before.T, moved.T))  # transposed, since `vdot` would copy them otherwise
        return block.xp.asarray([value]), *_products(change, rows)


@dataclass(frozen=True)
class _Chances:
    """Σ p·(1 − p) of each score. Keeps the probabilities p of the rows."""

    stays_single = True
    scores: LinearScores

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        chance = probabilities(_scores(self.scores, _singles(block)))
        return (block.weighted(chance * (1.0 - chance)).sum(axis=0),), {"chance": chance}


@dataclass(frozen=True)
class _CurvatureProducts:
    """Σ x·u of shape (d, scores), and Σ u, where u is the curvature of the loss times the changes of the scores."""

    stays_single = True
    changes: LinearScores

    def __call__(self, block: Block) -> Sums:
        rows = _singles(block)
        return _products(block.weighted(curved_change(block.vectors["chance"], _scores(self.changes, rows))), rows)


@dataclass(frozen=True)
class _HessianSums:
    """Σ c, Σ c·x and Σ c·x·xᵀ for the curvatures c = p·(1 − p) of one score, with products in float32."""

    stays_single = sums_squares = True
    scores: LinearScores

    def __call__(self, block: Block) -> Sums:
        rows = _singles(block)
        chance = probabilities(_scores(self.scores, rows))
        curvature = block.weighted(chance * (1.0 - chance))
        sums, total = _products(curvature, rows)
        root = without_subnormals(np.sqrt(curvature).astype(np.float32))
        weighted = np.multiply(rows, root, out=scratch("weighted", rows.shape, rows, np.float32))
        return total, sums[:, 0], matrix_product(weighted.T, weighted).astype(np.float64)


def _scores(scores: LinearScores, rows: Array) -> Array:
    """Scores of float32 rows: the product is in float32, the rest in float64."""
    return row_scores(rows, scores.coef).astype(np.float64) + scores.intercept


def _products(right: Array, rows: Array) -> Sums:
    """Σ right ⊗ row of shape (d, scores), with the product in float32, and Σ right."""
    return row_sums(without_subnormals(right.astype(np.float32)), rows).T.astype(np.float64), right.sum(axis=0)
