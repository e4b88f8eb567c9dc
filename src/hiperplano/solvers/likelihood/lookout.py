"""Looks at points for a minimisation, and with the Hessian where its end is near."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.metric import inverse
from hiperplano.solvers.likelihood.quasi_newton import Metric

_FIRST_RATE = 0.3  # by which steps are expected to shrink before two of them were seen


class Lookout:
    """Value and gradient at every point asked for, and the Hessian at one of them.

    That is the first point from which less than `near` of scaled parameters seems to be left. From there on it is the
    metric, in which steps converge at once, and it is that of the solution as well as standard errors need it: one
    pass for three purposes.

    Parameters
    ----------
    near : float
        Relative to the largest parameter, or to 1 if that is less; 0 for no Hessian.
    """

    def __init__(self, problem: Likelihood, start: Array, metric: Metric, near: float) -> None:
        self._problem, self._metric, self._near = problem, metric, near
        self._last, self._size, self._rate = start, np.inf, _FIRST_RATE
        self._hessian: Array | None = None
        self._there = start

    def metric(self, vector: Array) -> Array:
        """The metric to go by: it changes when there is a Hessian."""
        return self._metric(vector)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        size = float(np.abs(theta - self._last).max(initial=0.0))
        if np.isfinite(self._size) and self._size > 0:
            self._rate = min(size / self._size, 0.9)
        self._last, self._size = theta, size
        left = size * self._rate / (1.0 - self._rate)
        if self._hessian is not None or left > self._near * self._unit(theta):
            return self._problem.evaluate(theta)
        value, gradient, self._hessian = self._problem.evaluate_with_hessian(theta)
        self._there, self._metric = theta, inverse(self._hessian)
        return value, gradient

    def evidence(self, theta: Array) -> Array | None:
        """The Hessian, if it was taken near enough to this point."""
        moved = float(np.abs(theta - self._there).max(initial=0.0))
        return self._hessian if self._hessian is not None and moved <= self._near * self._unit(theta) else None

    @staticmethod
    def _unit(theta: Array) -> float:
        return max(1.0, float(np.abs(theta).max(initial=0.0)))
