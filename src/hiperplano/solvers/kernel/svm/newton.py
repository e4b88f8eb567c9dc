"""The free variables of a dual problem by Newton's method: one factorisation in place of many small steps."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem

_ROUNDS = 12
_RIDGE = 1e-13  # of the diagonal: equal rows make the free part singular


def newton_steps(problem: DualProblem, gram: Array, beta: Array, gradient: Array) -> tuple[Array, Array]:
    """Guess which variables are free, solve for them, correct the guess, and again (a primal-dual active set).

    Where the guesses do not settle, the first solution is followed as far as the bounds allow. So the objective never
    rises.

    Parameters
    ----------
    problem : DualProblem
    gram : ndarray of shape (n, n)
    beta, gradient : ndarray of shape (n,)
        A feasible point, and Kβ − t there.

    Returns
    -------
    beta, gradient : ndarray of shape (n,)
        A better point, or the same.
    """
    sign = np.where(problem.width > 0, np.sign(beta), 0.0)
    low = np.where((problem.width > 0) & (sign > 0), 0.0, problem.low)
    high = np.where((problem.width > 0) & (sign < 0), 0.0, problem.high)
    free = (beta > low) & (beta < high) & ((problem.width == 0.0) | (sign != 0))
    before, reached, first = problem.value(beta, gradient), beta.copy(), None
    for _ in range(_ROUNDS):
        if free.sum() < 2:
            break
        slope = gradient + gram @ (reached - beta) + problem.width * sign
        step, level = _equality_solve(gram, slope, free, beta.sum() - reached.sum())
        if step is None:
            break
        if first is None:
            first = step
        reached = reached + step
        outside = free & ((reached <= low) | (reached >= high))
        reached = np.clip(reached, low, high)
        free &= ~outside
        if outside.any():
            continue
        slope = gradient + gram @ (reached - beta) + problem.width * sign
        back = ~free & (((reached <= low) & (slope < level)) | ((reached >= high) & (slope > level))) & (low < high)
        if not back.any():
            break
        free |= back
    return _better(problem, gram, beta, gradient, before, reached, first, low, high)


def _equality_solve(gram: Array, slope: Array, free: Array, total: float) -> tuple[Array | None, float]:
    """Step in the free variables, of the given sum, after which their slopes are equal; and that slope."""
    rows = np.flatnonzero(free)
    part = np.asfortranarray(gram[np.ix_(rows, rows)], dtype=np.float64)
    ridge = _RIDGE * part.diagonal().max()
    for _ in range(4):
        trial = part.copy(order="F")
        trial[np.diag_indices_from(trial)] += ridge
        factor, failed = dpotrf(trial, lower=True, overwrite_a=True, clean=False)
        if not failed:
            break
        ridge *= 1e3
    else:
        return None, 0.0
    solved = cho_solve((factor, True), np.stack([slope[rows], np.ones(len(rows))], axis=1), check_finite=False)
    level = (total + solved[:, 0].sum()) / solved[:, 1].sum()
    step = np.zeros(len(slope))
    step[rows] = level * solved[:, 1] - solved[:, 0]
    return step, float(level)


def _better(
    problem: DualProblem,
    gram: Array,
    beta: Array,
    gradient: Array,
    before: float,
    reached: Array,
    first: Array | None,
    low: Array,
    high: Array,
) -> tuple[Array, Array]:
    """The point reached if it is feasible and better, else one on the way to the first solution, else the start."""
    inexact = abs(reached.sum() - beta.sum()) > 1e-12 * np.abs(reached).sum()
    if not inexact and first is not None:
        new = gradient + gram @ (reached - beta)
        if problem.value(reached, new) < before:
            return reached, new
    if first is None:
        return beta, gradient
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(first > 0, (high - beta) / first, np.where(first < 0, (low - beta) / first, np.inf))
    share = min(1.0, float(room.min()))
    moved = np.clip(beta + share * first, low, high)
    new = gradient + gram @ (moved - beta)
    return (moved, new) if problem.value(moved, new) < before else (beta, gradient)
