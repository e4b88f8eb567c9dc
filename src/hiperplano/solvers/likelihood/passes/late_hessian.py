"""Value and gradient for a minimisation, and the Hessian near its end."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.lbfgs import Preconditioner
from hiperplano.solvers.newton import Problem

_FIRST_RATE = 0.3  # by which steps are expected to shrink before two of them were seen


class LateHessian:
    """Value and gradient at every point asked for, and the Hessian at one of them.

    That is the first point from which less than `near` of standardised parameters seems to be left. From there on it is
    the preconditioner, with which steps converge at once, and it is that of the solution as well as standard errors
    need it: one pass for three purposes.

    Parameters
    ----------
    start : ndarray of shape (scores, size)
    precondition : callable
        Until there is a Hessian.
    near : float
        Relative to the largest parameter, or to 1 if that is less; 0 for no Hessian.
    """

    def __init__(self, problem: Problem, start: Array, precondition: Preconditioner, near: float) -> None:
        self._problem, self._precondition, self._near = problem, precondition, near
        self._last, self._size, self._rate = start, np.inf, _FIRST_RATE
        self._hessian: Array | None = None
        self._there = start

    def precondition(self, vector: Array) -> Array:
        """The preconditioner to go by: it changes when there is a Hessian."""
        return self._precondition(vector)

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""
        if self._near == 0:
            return self._problem.evaluate(theta)
        size = float(np.abs(theta - self._last).max(initial=0.0))
        if np.isfinite(self._size) and self._size > 0:
            self._rate = min(size / self._size, 0.9)
        self._last, self._size = theta, size
        left = size * self._rate / (1.0 - self._rate)
        if self._hessian is not None or left > self._near * self._unit(theta):
            return self._problem.evaluate(theta)
        value, gradient, self._hessian = self._problem.evaluate_with_hessian(theta)
        self._there, self._precondition = theta, SymmetricSolver(self._hessian).precondition
        return value, gradient

    def hessian_near(self, theta: Array) -> Array | None:
        """The Hessian, if it was taken near enough to this point."""
        moved = float(np.abs(theta - self._there).max(initial=0.0))
        return self._hessian if self._hessian is not None and moved <= self._near * self._unit(theta) else None

    @staticmethod
    def _unit(theta: Array) -> float:
        return max(1.0, float(np.abs(theta).max(initial=0.0)))
