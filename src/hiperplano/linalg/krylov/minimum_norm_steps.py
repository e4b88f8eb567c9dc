"""Minimum-norm least squares by conjugate gradients for XᵀX, on rows that may be linearly dependent.

Such rows cannot fit every target, so that X·Xᵀ·s = y may have no solution. The gradient Xᵀ·(y − X·coef) still vanishes
at the minimum. Steps combine rows, so that of all minima they lead to the one of minimum norm.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.conjugate_gradient import MOST_RESTARTS, SOON, ConjugateGradientResult
from hiperplano.linalg.krylov.row_steps import RowSteps
from hiperplano.linalg.triangular import EPS

_CLOSER = 0.1  # the smallest singular value is estimated each time that the gradient has shrunk by this factor


def solve_by_column_steps(rows: CentredRows, tol: float, max_iter: int) -> RowSteps | None:
    """Minimise ‖y − x·coef‖², and then ‖coef‖; None if `max_iter` steps are not enough, or will not be.

    Parameters
    ----------
    tol : float
        Largest error of the fit x·coef, relative to its norm: the gradient divided by the smallest singular value.
    max_iter : int
        Most steps, for all targets together.
    """
    ends: list[RowSteps] = []
    for right in rows.right.T:
        found = _one_target(rows, right, tol, max_iter - sum(end.n_iter for end in ends), trial=not ends)
        if found is None:
            return None
        ends.append(found)
    return RowSteps(
        np.concatenate([end.coef for end in ends]),
        sum(end.n_iter for end in ends),
        max(EPS, *(end.gap for end in ends)),
        max(end.condition for end in ends),
        max(end.error for end in ends),
    )


def _one_target(rows: CentredRows, right: Array, tol: float, max_iter: int, trial: bool) -> RowSteps | None:
    """Solve for one target, of shape (n,); None after too many steps."""
    coef, left, n_iter, found = np.zeros(len(rows.length)), right, 0, ConjugateGradientResult(right, [], [])
    for _ in range(MOST_RESTARTS):
        gradient = rows.combined(left[:, None])[0]
        smallest, largest = found.eigenvalue_range()
        fitted = float(np.linalg.norm(right - left))
        gap = float(np.linalg.norm(gradient)) / (float(np.sqrt(smallest)) * fitted) if fitted else np.inf
        if gap <= tol or not gradient.any():
            gap = gap if fitted else EPS
            return RowSteps(coef[None], n_iter, gap, largest / smallest, gap * float(np.sqrt(largest / smallest)))
        found = _steps(rows, left, gradient, fitted, tol, max_iter - n_iter, trial and not n_iter)
        if found.given_up:
            return None
        n_iter, coef = n_iter + len(found.steps), coef + found.x
        left = right - rows.scores(coef[None])[:, 0]
    return None


def _steps(
    rows: CentredRows, left: Array, gradient: Array, fitted: float, tol: float, max_iter: int, trial: bool
) -> ConjugateGradientResult:
    """Steps from a residual and its gradient; given up if they are too many.

    Parameters
    ----------
    fitted : float
        Norm of the fit so far.
    """
    result, start = ConjugateGradientResult(np.zeros_like(gradient), [], []), left
    left, direction, square = left.copy(), gradient.copy(), float(gradient @ gradient)
    check, soon = tol**2 * square, max(1, max_iter // SOON)
    while square > 0:
        done = len(result.steps)
        if square <= check:
            size = fitted + float(np.linalg.norm(start - left))
            goal = np.square(0.5 * tol * size) * result.eigenvalue_range()[0]
            if square <= goal:
                break
            check = max(goal, _CLOSER**2 * square)
        if done >= max_iter or (trial and done >= soon and square * result.pace() ** (max_iter - done) > check):
            return result._replace(given_up=True)
        image = rows.scores(direction[None])[:, 0]
        step = square / float(image @ image)
        result.x[:] += step * direction
        left -= step * image
        gradient = rows.combined(left[:, None])[0]
        before, square = square, float(gradient @ gradient)
        result.steps.append(step)
        result.ratios.append(square / before)
        direction = gradient + result.ratios[-1] * direction
    return result
