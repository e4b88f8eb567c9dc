"""The last digits of a small problem with two sums: all free variables at once."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.nu.problem import NuProblem

_RIDGE = 1e-13  # of the diagonal: equal rows make the free part singular
_MOST = 20  # variables that may meet a bound one after the other


def solve_free(problem: NuProblem, gram: Array, sides: Array) -> Array:
    """Make the slopes of the free variables of each side equal, with both sums kept, as far as the bounds allow.

    A step that would leave the bounds ends at the first of them, whose variable is then no longer free, and another
    follows. So the objective does not rise.

    Parameters
    ----------
    sides : ndarray of shape (2, n)
        A feasible point.

    Returns
    -------
    ndarray of shape (2, n)
        A better point.
    """
    sides = sides.copy()
    sign = np.array([1.0, -1.0])
    for _ in range(_MOST):
        which, rows = np.nonzero((sides > 0.0) & (sides < problem.bounds))
        member = (which == np.array([[0], [1]])).astype(float)
        member = member[member.sum(axis=1) > 1]  # a side with one free variable cannot move
        if not len(member):
            return sides
        gradient = gram @ (sides[0] - sides[1]) - problem.target
        change = _step(gram[np.ix_(rows, rows)], member, -gradient[rows], member.any(axis=0))
        if change is None:
            return sides
        change *= sign[which]
        now, most = sides[which, rows], problem.bounds[which, rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(change > 0, (most - now) / change, np.where(change < 0, -now / change, np.inf))
        share = min(1.0, float(room.min()))
        moved = np.where(room <= share, np.where(change > 0, most, 0.0), now + share * change)
        sides[which, rows] = moved if share < 1.0 else np.clip(now + change, 0.0, most)
        if share == 1.0:
            return sides
    return sides


def _step(gram: Array, member: Array, slopes: Array, moves: Array) -> Array | None:
    """The step in β that makes the slopes of each side equal and keeps their sums; None if there is none to be had."""
    n, sides = len(slopes), len(member)
    system = np.zeros((n + sides, n + sides))
    system[:n, :n] = gram
    system[:n, :n][np.diag_indices(n)] += _RIDGE * max(float(gram.diagonal().max()), 1e-300)
    system[n:, :n], system[:n, n:] = member, member.T
    still = np.flatnonzero(~moves)
    system[still], system[:, still], system[still, still] = 0.0, 0.0, 1.0
    right = np.concatenate([np.where(moves, slopes, 0.0), np.zeros(sides)])
    *_, found, failed = lapack.dsysv(system, right, lower=1)
    return None if failed or not np.isfinite(found).all() else np.asarray(found[:n])
