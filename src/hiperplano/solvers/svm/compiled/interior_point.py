"""A primal-dual interior point method for plain losses, where about as many rows as columns are free.

Newton's method on a smoothed loss then changes the side of a few rows in a step, and takes hundreds of steps. Here each
dual variable is kept off its bounds by a barrier, which is lowered (Mehrotra's predictor and corrector). That takes ten
to thirty steps, each of which solves with all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse import diags_array, eye_array, issparse
from scipy.sparse.linalg import splu

from hiperplano.data.block import Block
from hiperplano.data.design import Array
from hiperplano.linalg.cholesky import factor_in_place, solve_factored
from hiperplano.solvers.svm.augmented_lagrangian import MATRIX_COLUMNS
from hiperplano.solvers.svm.compiled.problem import Box

_PATIENCE = 6  # steps in which the gap should have halved
_INSIDE = 0.995  # share of the way to a bound
_SPARSE = 8  # products of columns, for each of them, that are factored as a sparse matrix
_GRAM_ROWS = 1.5  # for each column: up to here products of rows, taken once, cost less than those of columns


class Barriers(NamedTuple):
    """Parts of the dual variables between their bounds, and the bounds' multipliers, of shape (parts, n) each.

    A dual variable is one part; where there is a tube, it is the difference of two, one for each side.
    """

    part: Array
    at_low: Array
    at_high: Array

    def moved(self, step: Barriers, share: float) -> Barriers:
        """A share of a step further."""
        return Barriers(*(old + share * change for old, change in zip(self, step, strict=True)))


class InteriorPoint:
    """Maximises Σ(target·β − ε|β|) − ½‖Σβ·x‖² over low ≤ β ≤ high, with Σβ = 0 where there is a level.

    Parameters
    ----------
    x : array or CSR matrix of float64, of shape (n, d)
    box : Box
        Of a plain loss.
    fit_intercept : bool
    """

    def __init__(self, x: Any, box: Box, fit_intercept: bool) -> None:
        self._x, self._box, self._fit_intercept = x, box, fit_intercept
        two = box.epsilon > 0
        self._sign = np.array([[1.0], [-1.0]]) if two else np.ones((1, 1))
        self._low = np.zeros((2, x.shape[0])) if two else box.low[None]
        self._high = np.stack([box.high, -box.low]) if two else box.high[None]
        self._gram = x @ x.T if not issparse(x) and len(x) <= _GRAM_ROWS * x.shape[1] else None

    def solve(self, tol: float, floor: float, most: int) -> tuple[Array, float, int]:
        """Dual variables and level with a gap of about tol·objective + floor, and the steps that they took."""
        now, level = self._start(), 0.0
        gaps: list[float] = []
        while True:
            beta, coef, residual = self._at(now.part, level)
            losses = float(np.maximum(self._low * residual, self._high * residual).sum())
            gap = losses - float(np.vdot(residual, now.part)) + abs(level * float(beta.sum()))
            gaps.append(gap)
            stuck = len(gaps) > _PATIENCE and not gap < 0.5 * gaps[-1 - _PATIENCE]
            if gap <= tol * (0.5 * float(coef @ coef) + losses) + floor or stuck or len(gaps) > most:
                return beta, level, len(gaps)
            try:
                step, rise, share = self._step(now, residual, float(beta.sum()))
            except (LinAlgError, RuntimeError):  # rounding: what is left is for others
                return beta, level, len(gaps)
            now, level = now.moved(step, share), level + share * rise

    def _start(self) -> Barriers:
        """The middle of the bounds, with multipliers that fit the residuals there."""
        middle = 0.5 * (self._low + self._high)
        residual = self._at(middle, 0.0)[2]
        size = float(np.abs(residual).mean())
        return Barriers(middle, np.maximum(-residual, 0.0) + size, np.maximum(residual, 0.0) + size)

    def _at(self, part: Array, level: float) -> tuple[Array, Array, Array]:
        """Dual variables, coefficients, and by how much scores miss their targets on the side of each part."""
        beta = (self._sign * part).sum(axis=0)
        coef = beta @ self._x
        return beta, coef, self._sign * (self._box.target - self._x @ coef - level) - self._box.epsilon

    def _step(self, now: Barriers, residual: Array, excess: float) -> tuple[Barriers, float, float]:
        """Mehrotra's step, what it raises the level by, and the share of it that stays inside."""
        below, above = now.part - self._low, self._high - now.part
        stiffness = now.at_low / below + now.at_high / above
        free, softest = (1.0 / stiffness).sum(axis=0), stiffness.argmin(axis=0)[None]
        solve = self._system(free)
        ones = solve(np.ones_like(free)) if self._fit_intercept else free

        def towards(at_low: Array | float, at_high: Array | float) -> tuple[Barriers, float]:
            """Newton's step to where the products of parts and multipliers are these."""
            pull = residual + at_low / below - at_high / above
            given = (self._sign * pull / stiffness).sum(axis=0)
            change = solve(given / free)
            rise = (float(change.sum()) + excess) / float(ones.sum()) if self._fit_intercept else 0.0
            change = change - rise * ones
            part = (self._sign * ((change - given) / free) + pull) / stiffness
            # Those are differences of large numbers: the part that moves most is what the others leave of the change.
            np.put_along_axis(part, softest, 0.0, axis=0)
            rest = change - (self._sign * part).sum(axis=0)
            np.put_along_axis(part, softest, self._sign[softest, 0] * rest, axis=0)
            return Barriers(
                part,
                (at_low - now.at_low * part) / below - now.at_low,
                (at_high + now.at_high * part) / above - now.at_high,
            ), rise

        def longest(step: Barriers) -> float:
            """The share of a step that leads to the first bound."""
            rates = -step.part / below, step.part / above, -step.at_low / now.at_low, -step.at_high / now.at_high
            return 1.0 / max(1.0, *(float(rate.max()) for rate in rates))

        product = float(np.vdot(now.at_low, below) + np.vdot(now.at_high, above))
        first, _ = towards(0.0, 0.0)
        ahead = now.moved(first, longest(first))
        left = float(np.vdot(ahead.at_low, ahead.part - self._low) + np.vdot(ahead.at_high, self._high - ahead.part))
        aim = (left / product) ** 3 * product / (2 * below.size)
        step, rise = towards(aim - first.at_low * first.part, aim + first.at_high * first.part)
        return step, rise, min(1.0, _INSIDE * longest(step))

    def _system(self, free: Array) -> Callable[[Array], Array]:
        """Solves with XXᵀ + diag(1/free): as it is, or by the columns."""
        x = self._x
        if self._gram is not None:
            return _solver(self._gram.copy(), 1.0 / free)
        if issparse(x) and x.shape[1] > MATRIX_COLUMNS:
            rows = diags_array(np.sqrt(free)) @ x
            products = (rows.T @ rows + eye_array(x.shape[1])).tocsc()
            if products.nnz <= _SPARSE * x.shape[1]:
                inner = splu(products, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve
            else:
                inner = _solver(products.toarray(), 0.0)
        else:
            inner = _solver(Block(x, {}).weighted_products(free), 1.0)
        return lambda right: free * (right - x @ inner((free * right) @ x))


def _solver(matrix: Array, more: Array | float) -> Callable[[Array], Array]:
    """Solves with a matrix, which is overwritten, with more on its diagonal."""
    matrix.flat[:: len(matrix) + 1] += more
    if not factor_in_place(matrix):
        raise LinAlgError("not positive definite")
    return lambda right: solve_factored(matrix, right[:, None])[:, 0]
