"""Newton's method for the free variables of a dual problem: a factorisation replaces many SMO steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.lapack.cholesky import factor_in_place, solve_factored
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.gram_loops import gather

_ROUNDS = 12  # most changes of the active set
LEAST_RIDGE = 1e-13  # least ridge, as a share of the largest diagonal entry, since equal rows make the matrix singular
MOST_RIDGE = 1e20  # largest ridge; with it a step moves nothing
_RIDGES = 4  # most attempts to factor, each with a ridge 1,000 times the previous one


def newton_steps(
    problem: DualProblem, gram: Array, beta: Array, gradient: Array, ridge: float
) -> tuple[Array, Array, bool]:
    """Primal-dual active set method: guess which variables are free, solve for them, correct the guess, and repeat.

    If the guesses do not settle, the first solution is followed as far as the bounds allow, so the objective never
    increases. A ridge, ½·ridge·‖β − start‖² added to the objective, makes guesses settle sooner. Repeated steps with a
    ridge converge to the same minimum (a proximal point method).

    Parameters
    ----------
    problem : DualProblem
    gram : ndarray of shape (n, n)
    beta, gradient : ndarray of shape (n,)
        A feasible point, and Kβ − t there.
    ridge : float
        In units of the diagonal.

    Returns
    -------
    beta, gradient : ndarray of shape (n,)
        A better point, or the same.
    settled : bool
        Whether the guesses settled.
    """
    gram = np.ascontiguousarray(gram, dtype=np.float64)
    piece = _Piece.around(problem, gram, beta, gradient, ridge * float(gram.diagonal().max()))
    first, reached, settled = piece.active_set()
    for point in (reached, piece.followed(first)) if settled else (piece.followed(first),):
        if abs(point.sum() - beta.sum()) <= 1e-12 * np.abs(point).sum():
            slopes = gradient + gram @ (point - beta)
            if problem.change((beta, gradient), (point, slopes)) < 0:
                return point, slopes, settled
    return beta, gradient, False


@dataclass(frozen=True)
class _Piece:
    """The problem near a point, with each variable restricted to its side of 0, so that the objective is quadratic.

    Attributes
    ----------
    slope : ndarray of shape (n,)
        Slope of the objective at the point.
    """

    gram: Array
    beta: Array
    slope: Array
    low: Array
    high: Array
    ridge: float

    @classmethod
    def around(cls, problem: DualProblem, gram: Array, beta: Array, gradient: Array, ridge: float) -> _Piece:
        if problem.width == 0.0:
            return cls(gram, beta, gradient, problem.low, problem.high, ridge)
        low = np.where(beta >= 0, 0.0, problem.low)
        high = np.where(beta > 0, problem.high, 0.0)
        return cls(gram, beta, gradient + problem.width * np.sign(beta), low, high, ridge)

    def active_set(self) -> tuple[Array, Array, bool]:
        """The step of the first solve, the end point of the guesses, and whether they settled."""
        free = (self.beta > self.low) & (self.beta < self.high)
        first, reached = np.zeros(len(free)), self.beta.copy()
        for turn in range(_ROUNDS):
            n_free = int(free.sum())
            step, level = self._solve(free, reached)
            first = first if turn else step
            reached = reached + step
            outside = free & ((reached <= self.low) | (reached >= self.high))
            reached = np.clip(reached, self.low, self.high)
            free &= ~outside
            if 2 * outside.sum() > n_free:  # the step is far too long for the guesses to be useful
                return first, reached, False
            if outside.any():
                continue
            slope = self._slopes(reached)
            grows, falls = (reached <= self.low) & (slope < level), (reached >= self.high) & (slope > level)
            back = ~free & (grows | falls) & (self.low < self.high)
            if not back.any():
                return first, reached, True
            free |= back
        return first, reached, False

    def _slopes(self, point: Array) -> Array:
        away = point - self.beta
        return np.asarray(self.slope + self.gram @ away + self.ridge * away)

    def _solve(self, free: Array, reached: Array) -> tuple[Array, float]:
        """The step in the free variables that makes their slopes equal and restores the sum, and the common slope."""
        rows, step = np.flatnonzero(free), np.zeros(len(free))
        if len(rows) < 2:
            return step, 0.0
        factor = _factor(self.gram, rows, self.ridge)
        if factor is None:
            return step, 0.0
        slope = self._slopes(reached)[rows]
        solved = solve_factored(factor, np.stack([slope, np.ones(len(rows))], axis=1))
        missing = self.beta.sum() - reached.sum()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            level = (missing + solved[:, 0].sum()) / solved[:, 1].sum()
            step[rows] = level * solved[:, 1] - solved[:, 0]
        if not np.isfinite(step).all():  # bounds are so far apart that the step overflows
            return np.zeros(len(free)), 0.0
        return step, float(level)

    def followed(self, step: Array) -> Array:
        """Move along a step as far as the bounds allow."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # steps of 0, or almost 0
            room = np.where(step > 0, (self.high - self.beta) / step, (self.low - self.beta) / step)
        share = min(1.0, float(np.where(step == 0, np.inf, room).min()))
        return np.clip(self.beta + share * step, self.low, self.high)


def _factor(gram: Array, rows: Array, ridge: float) -> Array | None:
    """Cholesky factor of the submatrix of some rows, with the least ridge that allows it; None if none does."""
    part = np.empty((len(rows), len(rows)))
    for _ in range(_RIDGES):
        gather(gram, rows, rows, part)
        part[np.diag_indices_from(part)] += ridge
        if factor_in_place(part):
            return part
        ridge *= 1e3
    return None
