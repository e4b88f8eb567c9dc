"""A step for narrow kernels: the Gram matrix is nearly diagonal, so every dual variable is solved for separately."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.gram_rows import GramRows

_SAMPLED = 256  # sampled rows that show whether a kernel is narrow
_NARROW = 0.5  # largest effect of other rows' steps on the slopes, relative to that of each row's own step


def separable_steps(
    problem: DualProblem, rows: GramRows, beta: Array, gradient: Array, tol: float, max_steps: int
) -> tuple[int, Array, Array]:
    """Steps that replace the Gram matrix by its diagonal, each followed by an exact line search.

    They end if a sample of the rows shows that the kernel is too wide, or if the violation does not halve.

    Parameters
    ----------
    beta, gradient : ndarray of shape (n,)
        A feasible point, and Kβ − t there.

    Returns
    -------
    steps : int
        Pairs of variables that moved.
    beta, gradient : ndarray of shape (n,)
    """
    steps, aim = 0, np.inf
    while tol < (violation := problem.violation(beta, gradient)) < aim and steps + len(beta) <= max_steps:
        found = _separable_step(problem, rows, beta, gradient)
        if found is None:
            break
        moved = int((found[0] != beta).sum())
        (beta, gradient), steps, aim = found, steps + (moved + 1) // 2, 0.5 * violation
    return steps, beta, gradient


def _separable_step(problem: DualProblem, rows: GramRows, beta: Array, gradient: Array) -> tuple[Array, Array] | None:
    """β and gradient after one step; None if the kernel is too wide or the step gains nothing."""
    diagonal = rows.diagonal
    if not diagonal.min() > 0.0 or not np.isfinite(problem.high - problem.low).all():
        return None
    step = _solved(problem, beta, gradient, diagonal) - beta
    moved = np.flatnonzero(step)
    some = moved if len(moved) <= _SAMPLED else moved[:: -(-len(moved) // _SAMPLED)]
    if not len(some) or not _is_narrow(rows.block(some), step[some], len(moved) / len(some)):
        return None
    # The contribution of |β| along the step is smaller than this.
    slope = problem.change((beta, gradient), (beta + step, gradient))
    change = rows.times(moved, step[moved])
    bend = float(step @ change)
    if not slope < 0.0 < bend:
        return None
    share = min(1.0, -slope / bend)
    return np.clip(beta + share * step, problem.low, problem.high), gradient + share * change


def _solved(problem: DualProblem, beta: Array, gradient: Array, diagonal: Array) -> Array:
    """The minimum around β with the Gram matrix replaced by its diagonal, and with Σβ fixed."""
    centre, width, total = beta - gradient / diagonal, problem.width / diagonal, float(beta.sum())

    def at(level: float) -> Array:
        wanted = centre - level / diagonal
        return np.clip(np.sign(wanted) * np.maximum(np.abs(wanted) - width, 0.0), problem.low, problem.high)

    # Beyond these levels all variables are at their upper or lower bounds.
    low = float((diagonal * (centre - width - problem.high)).min())
    high = float((diagonal * (centre + width - problem.low)).max())
    # With huge kernel values the root may not be found to the last digit.
    found = at(brentq(lambda level: float(at(level).sum()) - total, low, high, disp=False))
    free = problem.free(found)
    if free.any():  # spread the remaining error of the sum
        found[free] += (total - float(found.sum())) / free.sum()
    return np.clip(found, problem.low, problem.high)


def _is_narrow(block: Array, step: Array, of: float) -> bool:
    """Whether other rows change the slopes of moved rows less than their own steps do, judged from a sample.

    Parameters
    ----------
    of : float
        Number of moved rows per sampled row.
    """
    own = block.diagonal() * step
    with np.errstate(over="ignore"):  # such large values are not narrow
        return bool(of * np.linalg.norm(block @ step - own) < _NARROW * np.linalg.norm(own))
