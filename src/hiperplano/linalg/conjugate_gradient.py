"""Conjugate gradients with estimates of the extreme eigenvalues, also for many right-hand sides at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dstebz

from hiperplano.data.design import Array
from hiperplano.linalg.triangular import EPS

MOST_RESTARTS = 4  # steps are restarted from the true residual at most this often, since rounding errors accumulate
_POWERS = 2  # steps of the power method for an extreme eigenvalue
SOON = 6  # in a trial, progress is checked after this fraction (one sixth) of the steps


class ConjugateGradientResult(NamedTuple):
    """The solution, and the step lengths and ratios of squared residuals along the way.

    Attributes
    ----------
    x : ndarray of shape (d,)
    given_up : bool
        Whether progress was too slow for the steps allowed.
    """

    x: Array
    steps: list[float]
    ratios: list[float]
    given_up: bool = False

    def eigenvalue_range(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue of the (preconditioned) matrix, estimated from the steps (Lanczos)."""
        if not self.steps:
            return 1.0, 1.0
        steps, ratios = np.array(self.steps), np.array(self.ratios)
        diagonal = 1.0 / steps
        diagonal[1:] += ratios[:-1] / steps[:-1]
        beside, n = np.sqrt(ratios[:-1]) / steps[:-1], len(steps)
        # Bisection takes time linear in the number of steps, not quadratic.
        smallest, largest = (
            float(dstebz(diagonal, beside, 2, 0.0, 0.0, k, k, 0.0, "E")[1][0]) if n > 1 else float(diagonal[0])
            for k in (1, n)
        )
        return max(smallest, EPS * largest), largest

    def pace(self) -> float:
        """Factor by which a step multiplied the squared residual, averaged over the second half of the steps.

        The first steps are not representative: they remove components of a few large eigenvalues, or let the residual
        grow.
        """
        later = self.ratios[len(self.ratios) // 2 :]
        return float(np.exp(np.mean(np.log(np.maximum(later, 1e-300)))))


def conjugate_gradient(
    product: Callable[[Array], Array],
    right: Array,
    *,
    atol: float,
    rtol: float = 0.0,
    xtol: float = np.inf,
    max_iter: int,
    preconditioner: Callable[[Array], Array] | None = None,
    trial: bool = False,
) -> ConjugateGradientResult:
    """Solve matrix·x = right for a symmetric positive semidefinite matrix, from x = 0.

    Parameters
    ----------
    product : callable, ndarray of shape (d,) -> ndarray of shape (d,)
        matrix·direction.
    right : ndarray of shape (d,)
    atol : float
        Norm of the residual to reach.
    rtol : float, default=0.0
        Alternatively, norm of the residual with respect to the preconditioner, relative to that of `right`.
    xtol : float, default=inf
        Additional condition: norm of the residual relative to that of x. It matters if `right` lies along a few large
        eigenvalues, so that x is much shorter than `right`.
    preconditioner : callable, ndarray of shape (d,) -> ndarray of shape (d,), optional
        Multiplies a residual by an approximate inverse of the matrix. Steps stay in its range.
    trial : bool, default=False
        Whether to give up early if `max_iter` steps will not be enough, so that another method can be used.
    """
    result = ConjugateGradientResult(np.zeros_like(right), [], [])
    residual = right.copy()
    scaled = residual if preconditioner is None else preconditioner(residual)
    direction = scaled.copy()
    square = start = float(residual @ scaled)
    soon = max(1, max_iter // SOON)
    while len(result.steps) < max_iter:
        length = square if preconditioner is None else float(residual @ residual)
        if (length <= atol**2 or square <= rtol**2 * start) and (
            xtol == np.inf or length <= xtol**2 * float(result.x @ result.x)
        ):
            break
        done = len(result.steps)
        if trial and done >= soon and length * result.pace() ** (max_iter - done) > atol**2:
            return result._replace(given_up=True)
        image = product(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            break  # only rounding errors are left in this direction
        step = square / curvature
        np.add(result.x, step * direction, out=result.x)
        residual -= step * image
        scaled = residual if preconditioner is None else preconditioner(residual)
        before, square = square, float(residual @ scaled)
        result.steps.append(step)
        result.ratios.append(square / before)
        direction = scaled + result.ratios[-1] * direction
    return result


class ManySolutions(NamedTuple):
    """Solutions of many systems, with their residuals.

    Attributes
    ----------
    x : ndarray of shape (d, k)
    residuals : ndarray of shape (k,)
        Norms of the residuals, relative to those of the right-hand sides.
    n_iter : int
    """

    x: Array
    residuals: Array
    n_iter: int


def conjugate_gradients(
    product: Callable[[Array, Array], Array],
    right: Array,
    *,
    precondition: Callable[[Array, Array], Array],
    rtol: float,
    max_iter: int,
    budget: int | None = None,
) -> ManySolutions:
    """Solve matrixⱼ·xⱼ = rightⱼ for every column j at once, from 0. Columns that have converged drop out.

    Parameters
    ----------
    product : callable, (ndarray of shape (d, m), numbers of the m columns) -> ndarray of shape (d, m)
        Multiplies each direction by the matrix of its column, which is symmetric and positive definite.
    right : ndarray of shape (d, k)
    precondition : callable
        The same with approximate inverses.
    rtol : float
        Norm of the residual to reach, relative to that of the right-hand side.
    max_iter : int
    budget : int, optional
        Steps beyond which another method would be faster. A column is given up after a quarter of them if its progress
        predicts more than twice as many, and after twice as many in any case.
    """
    max_iter = max_iter if budget is None else min(max_iter, 2 * budget)
    found, size = np.zeros(right.shape), np.linalg.norm(right, axis=0)
    relative = np.where(size > 0, 1.0, 0.0)
    active = np.flatnonzero(relative > rtol)
    residual = right[:, active].astype(np.float64)
    scaled = precondition(residual, active)
    direction, square = scaled.copy(), np.einsum("ij,ij->j", residual, scaled)
    steps = 0
    while len(active) and steps < max_iter:
        image = product(direction, active)
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        found[:, active] += step * direction
        residual -= step * image
        steps += 1
        relative[active] = np.linalg.norm(residual, axis=0) / size[active]
        stays = (relative[active] > rtol) & (curvature > 0)
        if budget is not None and steps == budget // 4:
            stays &= steps_needed(steps, relative[active], rtol) <= 2 * budget
        if not stays.all():
            active, residual, direction, square = active[stays], residual[:, stays], direction[:, stays], square[stays]
        scaled = precondition(residual, active)
        before, square = square, np.einsum("ij,ij->j", residual, scaled)
        direction = scaled + square / before * direction
    return ManySolutions(found, relative, steps)


def largest_eigenvalue(product: Callable[[Array], Array], vector: Array) -> float:
    """Largest eigenvalue, by few steps of the power method; more would find rounding errors outside the row span."""
    size = float(np.linalg.norm(vector)) or 1.0
    for _ in range(_POWERS):
        vector = product(vector / size)
        size = float(np.linalg.norm(vector)) or 1.0
    return size


def steps_needed(steps: int, reached: Array, rtol: float) -> Array:
    """Steps to reach `rtol` if residuals continue to shrink at the same rate."""
    return np.asarray(steps * np.log(rtol) / np.log(np.clip(reached, 1e-300, 1 - 1e-9)))


def steps_for_condition(condition: float, tol: float) -> float:
    """Upper bound of the steps that reduce an error to `tol`, for a matrix with this condition number (Chebyshev)."""
    root = float(np.sqrt(condition))
    return float(np.log(2.0 / tol) / np.log((root + 1.0) / max(root - 1.0, EPS)))


def steps_for_unrelated_columns(n_rows: int, n_columns: int, squares: float, alpha: float, tol: float) -> float:
    """Typical steps to solve XᵀX + alpha or X·Xᵀ + alpha for unrelated columns.

    The eigenvalues of the smaller product lie between (1 − √r)² and (1 + √r)² times their mean, where r is the ratio of
    the two sizes (Marchenko and Pastur).

    Parameters
    ----------
    squares : float
        Sum of squares of all numbers, after centring.
    """
    fewer, more = sorted((n_rows, n_columns))
    mean, ratio = squares / fewer, float(np.sqrt(fewer / more))
    largest, smallest = (mean * (1.0 + sign * ratio) ** 2 + alpha for sign in (1, -1))
    return steps_for_condition(largest / max(smallest, EPS * largest), tol) if largest > 0 else 0.0
