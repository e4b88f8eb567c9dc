"""Conjugate gradients, with the extreme eigenvalues that their steps imply."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from hiperplano.data.design import Array

_EPS = float(np.finfo(float).eps)


class ConjugateGradientResult(NamedTuple):
    """The answer, and the step lengths and ratios of squared residuals on the way.

    Attributes
    ----------
    x : ndarray of shape (d,)
    """

    x: Array
    steps: list[float]
    ratios: list[float]

    def eigenvalue_range(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue of the (preconditioned) matrix from the steps so far (Lanczos)."""
        if not self.steps:
            return 1.0, 1.0
        steps, ratios = np.array(self.steps), np.array(self.ratios)
        diagonal = 1.0 / steps
        diagonal[1:] += ratios[:-1] / steps[:-1]
        values = eigvalsh_tridiagonal(diagonal, np.sqrt(ratios[:-1]) / steps[:-1])
        return max(float(values[0]), _EPS * float(values[-1])), float(values[-1])


def conjugate_gradient(
    product: Callable[[Array], Array],
    right: Array,
    *,
    atol: float,
    rtol: float = 0.0,
    max_iter: int,
    preconditioner: Array | None = None,
) -> ConjugateGradientResult:
    """Solve matrix·x = right for a symmetric positive semidefinite matrix, from x = 0.

    Parameters
    ----------
    product : callable, ndarray of shape (d,) -> ndarray of shape (d,)
        matrix·direction.
    right : ndarray of shape (d,)
    atol : float
        Length of the residual to reach.
    rtol : float, default=0.0
        Or its length in the norm of the preconditioner, relative to that of `right`.
    preconditioner : ndarray of shape (d,), optional
        Diagonal of an approximate inverse of the matrix.
    """
    result = ConjugateGradientResult(np.zeros_like(right), [], [])
    residual = right.copy()
    scaled = residual if preconditioner is None else preconditioner * residual
    direction = scaled.copy()
    square = start = float(residual @ scaled)
    while len(result.steps) < max_iter:
        if float(residual @ residual) <= atol**2 or square <= rtol**2 * start:
            break
        image = product(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            break  # rounding: nothing is left in this direction
        step = square / curvature
        np.add(result.x, step * direction, out=result.x)
        residual -= step * image
        scaled = residual if preconditioner is None else preconditioner * residual
        before, square = square, float(residual @ scaled)
        result.steps.append(step)
        result.ratios.append(square / before)
        direction = scaled + result.ratios[-1] * direction
    return result
