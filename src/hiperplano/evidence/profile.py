"""Intervals and tests from the profile of Firth's likelihood."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri

from hiperplano.data.design import Array
from hiperplano.data.threads import one_blas_thread
from hiperplano.solvers.likelihood.firth import FirthSolution


def profile(solution: FirthSolution, level: float) -> tuple[Array, Array]:
    """For every coefficient (the intercept first) the ends of its interval, and the p-value of its being 0.

    An end is where the maximum of the likelihood over all other coefficients has dropped by half the quantile of χ².
    """
    drop = 0.5 * float(chdtri(1, 1.0 - level))
    with one_blas_thread():
        ways = [_Way(solution, fixed) for fixed in solution.coordinates.matrix() @ solution.problem.basis]
        ends = np.array([[way.end(-1.0, drop), way.end(+1.0, drop)] for way in ways])
        tests = np.array([float(chdtrc(1, 2.0 * way.loss_at(0.0))) for way in ways])
    return ends, tests


class _Way:
    """One coefficient moved away from its estimate, all others following."""

    def __init__(self, solution: FirthSolution, fixed: Array) -> None:
        self.problem, self.fixed, self.theta = solution.problem, fixed, solution.theta
        self.best = self.problem.look(self.theta).value
        self.estimate = float(fixed @ self.theta)
        self.toward = np.linalg.solve(self.problem.look(self.theta).information, fixed)
        self.error = float(np.sqrt(fixed @ self.toward))

    def loss_at(self, value: float) -> float:
        """How much the likelihood drops when the coefficient is held at `value`."""
        start = self.theta + (value - self.estimate) / self.error**2 * self.toward
        _, found, _, _ = self.problem.maximise(start, self.fixed, tol=1e-9, max_steps=200)
        return max(self.best - found.value, 0.0)

    def end(self, side: float, drop: float) -> float:
        """Where the drop reaches `drop`, on one side; infinite if it never does."""
        near, far = 0.0, 2.0  # in standard errors, so that units do not matter

        def value(distance: float) -> float:
            return self.estimate + side * distance * self.error

        for _ in range(30):
            if self.loss_at(value(far)) > drop:
                return value(brentq(lambda t: self.loss_at(value(t)) - drop, near, far, xtol=1e-11, rtol=1e-11))
            near, far = far, 3.0 * far
        return side * float("inf")
