"""A primal-dual active set method for support vector machines with fewer free rows than columns.

If the free rows are known, those whose dual variables are between their bounds, the optimality conditions are linear
equations. Their solution corrects a guess: rows that it moves past a bound are bound, and bound rows whose residuals
have the wrong sign are freed. Guesses that come from a dual coordinate ascent mostly settle in three to seven rounds,
at the exact solution. There is no proof that they do, so the method ends when corrections do not get fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.lapack.cholesky import factor_in_place, solve_factored
from hiperplano.solvers.svm.compiled.normal_equations import JITTER
from hiperplano.solvers.svm.compiled.problem import Box


class Optimum(NamedTuple):
    """Dual variables, coefficients Σβ·x and the level."""

    beta: Array
    coef: Array
    level: float


def free_rows(box: Box, beta: Array) -> Array:
    """Which dual variables are between their bounds, and not at the kink of a tube."""
    return np.asarray((beta > box.low) & (beta < box.high) & ((beta != 0.0) | (box.epsilon == 0.0)))


def active_set(x: Array, box: Box, fit_intercept: bool, beta: Array, level: float) -> tuple[Optimum | None, int]:
    """Maximise Σ(target·β − ε|β| − ½·soft·β²) − ½‖Σβ·x‖² over low ≤ β ≤ high, with Σβ = 0 if there is an intercept.

    Parameters
    ----------
    x : ndarray of shape (n, d)
    box : Box
    fit_intercept : bool
    beta : ndarray of shape (n,)
        Dual variables between their bounds. Those that are at no bound are the first guess.
    level : float
        The level to start from.

    Returns
    -------
    optimum : Optimum or None
        None if more rows than columns became free, if a guess was far off, or if corrections did not get fewer.
    rounds : int
        Number of guesses.
    """
    beta, free, products = beta.copy(), free_rows(box, beta), _Products(x)
    positive = beta > 0.0  # the side of the tube on which a free dual variable is
    coef, corrections, done = beta @ x, [np.inf, np.inf], 0
    while True:
        rows = np.flatnonzero(free)
        solve = _solver(products.of(rows), box.soft[rows]) if 0 < len(rows) <= x.shape[1] else None
        if solve is None:
            return None, done
        low, high = box.low[rows], box.high[rows]
        if box.epsilon:
            low, high = np.where(positive[rows], 0.0, low), np.where(positive[rows], high, 0.0)
        tube, ones = np.where(positive, box.epsilon, -box.epsilon), solve(np.ones(len(rows)))
        slope = box.target - x @ coef - level - box.soft * beta
        for _ in range(2):  # the second step removes most of the error of the added diagonal
            step = solve((slope - tube)[rows])
            if fit_intercept:
                rise = (float(step.sum()) + float(beta.sum())) / float(ones.sum())
                step, level = step - rise * ones, level + rise
            beta[rows] += step
            coef = beta @ x
            slope = box.target - x @ coef - level - box.soft * beta
        past = (beta[rows] <= low) | (beta[rows] >= high)
        if not 2 * past.sum() <= len(rows):  # or the solution is not finite
            return None, done + 1
        grows = (beta < box.high) & (slope > np.where(beta < 0.0, -box.epsilon, box.epsilon))
        falls = (beta > box.low) & (slope < np.where(beta > 0.0, box.epsilon, -box.epsilon))
        back = ~free & (grows | falls)
        corrections.append(int(past.sum()) + int(back.sum()))
        if not corrections[-1]:
            return Optimum(beta, coef, level), done + 1
        if corrections[-1] >= corrections[-3]:
            return None, done + 1
        beta[rows] = np.clip(beta[rows], low, high)
        free[rows[past]] = False
        free |= back
        positive = np.where(back, (beta > 0.0) | ((beta == 0.0) & grows), positive)
        coef, done = beta @ x, done + 1


class _Products:
    """Products of all pairs of rows that have been free so far, each computed once."""

    def __init__(self, x: Array) -> None:
        self._x, self._place = x, np.full(len(x), -1)
        self._rows, self._gram = np.empty(0, dtype=np.int64), np.empty((0, 0))

    def of(self, rows: Array) -> Array:
        """A copy of the products of some rows."""
        new = rows[self._place[rows] < 0]
        if len(new):
            m, total = len(self._rows), len(self._rows) + len(new)
            taken, gram = self._x[new], np.empty((total, total))
            gram[:m, :m] = self._gram
            gram[m:, :m] = taken @ self._x[self._rows].T
            gram[:m, m:] = gram[m:, :m].T
            gram[m:, m:] = taken @ taken.T
            self._place[new] = np.arange(m, total)
            self._rows, self._gram = np.append(self._rows, new), gram
        places = self._place[rows]
        return self._gram.take(places, axis=0).take(places, axis=1)


def _solver(matrix: Array, more: Array) -> Callable[[Array], Array] | None:
    """Solver for a matrix, which is overwritten, plus the diagonal `more`; None if that is not positive definite."""
    matrix.flat[:: len(matrix) + 1] += more + JITTER * matrix.diagonal().max()
    if not factor_in_place(matrix):
        return None
    return lambda right: solve_factored(matrix, right[:, None])[:, 0]
