"""A primal-dual interior point method for plain losses, where about as many rows as columns are free.

Newton's method on a smoothed loss then changes the side of a few rows in a step, and takes hundreds of steps. Here each
dual variable is kept off its bounds by a barrier, which is lowered (Mehrotra's predictor and corrector). That takes ten
to thirty steps, each of which solves with all rows.

Coefficients are variables of their own, which meet Σβ·x at the end only. So they can start from 0, however long the
rows are, and scores keep their digits where columns differ much in scale: those of Σβ·x would be lost to rounding.
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

_PATIENCE = 10  # steps in which the gap should have halved
_INSIDE = 0.995  # share of the way to a bound
_CLOSEST = 1e-16  # to a bound, as a share of the way between both: rounding would have it there
_REFINED = 2  # times that a solution by products of rows is refined: long columns hide short ones in them
_SPARSE = 8  # products of columns, for each of them, that are factored as a sparse matrix
_JITTER = 1e-15  # of a unit diagonal, of a matrix that rounding may have made singular


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


class Inside(NamedTuple):
    """Dual variables, coefficients and level where the method has ended, and its steps."""

    beta: Array
    coef: Array
    level: float
    steps: int


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
        self._gram = x @ x.T if not issparse(x) and len(x) <= x.shape[1] else None

    def solve(self, tol: float, floor: float, most: int) -> Inside:
        """Dual variables, coefficients and level with a gap of about tol·objective, or the least one found.

        Below `floor` rounding may end all progress: the first step that brings little is the last.
        """
        now, coef, level = self._start(), np.zeros(self._x.shape[1]), 0.0
        gaps: list[float] = []
        while True:
            beta, mismatch, residual = self._at(now.part, coef, level)
            losses = float(np.maximum(self._low * residual, self._high * residual).sum())
            excess = float(beta.sum())
            gap = losses - float(np.vdot(residual, now.part)) + abs(level * excess) + 0.5 * float(mismatch @ mismatch)
            if not gaps or gap < min(gaps):
                best = Inside(beta, coef, level, 0)
            gaps.append(gap)
            patience = _PATIENCE if gap > floor else 1
            stuck = len(gaps) > patience and not gap < 0.5 * gaps[-1 - patience]
            if gap <= tol * (0.5 * float(coef @ coef) + losses) or stuck or len(gaps) > most:
                break
            try:
                step, turn, rise, share = self._step(now, mismatch, residual, excess)
            except (LinAlgError, RuntimeError):  # rounding: what is left is for others
                break
            now, coef, level = now.moved(step, share), coef + share * turn, level + share * rise
            np.clip(now.part, self._low, self._high, out=now.part)
        return best._replace(steps=len(gaps))

    def _start(self) -> Barriers:
        """The middle of the bounds, with multipliers that fit the residuals of coefficients that are 0."""
        middle = 0.5 * (self._low + self._high)
        residual = self._sign * self._box.target - self._box.epsilon
        size = float(np.abs(residual).mean())
        return Barriers(middle, np.maximum(-residual, 0.0) + size, np.maximum(residual, 0.0) + size)

    def _at(self, part: Array, coef: Array, level: float) -> tuple[Array, Array, Array]:
        """Dual variables, coef − Σβ·x, and by how much scores miss their targets on the side of each part."""
        beta = (self._sign * part).sum(axis=0)
        residual = self._sign * (self._box.target - self._x @ coef - level) - self._box.epsilon
        return beta, coef - beta @ self._x, residual

    def _step(
        self, now: Barriers, mismatch: Array, residual: Array, excess: float
    ) -> tuple[Barriers, Array, float, float]:
        """Mehrotra's step, what it adds to coefficients and level, and the share of it that stays inside."""
        closest = _CLOSEST * (self._high - self._low)
        below, above = np.maximum(now.part - self._low, closest), np.maximum(self._high - now.part, closest)
        stiffness = now.at_low / below + now.at_high / above
        free, softest = (1.0 / stiffness).sum(axis=0), stiffness.argmin(axis=0)[None]
        solve = self._system(free)
        ones, ones_coef = solve(np.ones_like(free), 0.0 * mismatch) if self._fit_intercept else (free, mismatch)

        def towards(at_low: Array | float, at_high: Array | float) -> tuple[Barriers, Array, float]:
            """Newton's step to where the products of parts and multipliers are these."""
            pull = residual + at_low / below - at_high / above
            given = (self._sign * pull / stiffness).sum(axis=0)
            change, turn = solve(given / free, -mismatch)
            rise = (float(change.sum()) + excess) / float(ones.sum()) if self._fit_intercept else 0.0
            change, turn = change - rise * ones, turn - rise * ones_coef
            part = (self._sign * ((change - given) / free) + pull) / stiffness
            # Those are differences of large numbers: the part that moves most is what the others leave of the change.
            np.put_along_axis(part, softest, 0.0, axis=0)
            rest = change - (self._sign * part).sum(axis=0)
            np.put_along_axis(part, softest, self._sign[softest, 0] * rest, axis=0)
            lower = (at_low - now.at_low * part) / below - now.at_low
            upper = (at_high + now.at_high * part) / above - now.at_high
            return Barriers(part, lower, upper), turn, rise

        def longest(step: Barriers) -> float:
            """The share of a step that leads to the first bound."""
            rates = -step.part / below, step.part / above, -step.at_low / now.at_low, -step.at_high / now.at_high
            return 1.0 / max(1.0, *(float(rate.max()) for rate in rates))

        product = float(np.vdot(now.at_low, below) + np.vdot(now.at_high, above))
        first, _, _ = towards(0.0, 0.0)
        ahead = now.moved(first, longest(first))
        left = float(np.vdot(ahead.at_low, ahead.part - self._low) + np.vdot(ahead.at_high, self._high - ahead.part))
        aim = (left / product) ** 3 * product / (2 * below.size)
        step, turn, rise = towards(aim - first.at_low * first.part, aim + first.at_high * first.part)
        return step, turn, rise, min(1.0, _INSIDE * longest(step))

    def _system(self, free: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
        """Solves X·turn + change/free = right, turn = Xᵀ·change + more: by the products of rows, or of columns."""
        x = self._x
        if self._gram is not None:
            by_rows = _solver(self._gram.copy(), 1.0 / free)

            def with_rows(right: Array, more: Array) -> tuple[Array, Array]:
                change = by_rows(right - x @ more)
                turn = change @ x + more
                for _ in range(_REFINED):
                    rest = by_rows(right - x @ turn - change / free)
                    change, turn = change + rest, turn + rest @ x
                return change, turn

            return with_rows
        by_columns = self._column_solver(free)

        def with_columns(right: Array, more: Array) -> tuple[Array, Array]:
            turn = by_columns((free * right) @ x + more)
            return free * (right - x @ turn), turn

        return with_columns

    def _column_solver(self, free: Array) -> Callable[[Array], Array]:
        """Solves with Xᵀ·diag(free)·X + I."""
        x = self._x
        if not (issparse(x) and x.shape[1] > MATRIX_COLUMNS):
            return _solver(Block(x, {}).weighted_products(free), 1.0)
        rows = diags_array(np.sqrt(free)) @ x
        products = (rows.T @ rows + eye_array(x.shape[1])).tocsc()
        if products.nnz > _SPARSE * x.shape[1]:
            return _solver(products.toarray(), 0.0)
        return splu(products, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve


def _solver(matrix: Array, more: Array | float) -> Callable[[Array], Array]:
    """Solves with a matrix, which is overwritten, with more on its diagonal.

    The diagonal is made 1, so that columns of any scale keep their digits.
    """
    matrix.flat[:: len(matrix) + 1] += more
    scale = 1.0 / np.sqrt(matrix.diagonal())
    matrix *= scale
    matrix *= scale[:, None]
    matrix.flat[:: len(matrix) + 1] = 1.0 + _JITTER
    if not factor_in_place(matrix):
        raise LinAlgError("not positive definite")
    return lambda right: scale * solve_factored(matrix, (scale * right)[:, None])[:, 0]
