"""The equations of a step of the interior point method, by conjugate gradients until a factorisation is cheaper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.solvers.svm.compiled.normal_equations import NormalEquations
from hiperplano.solvers.svm.curvature import PRODUCT

_MOST_STEPS = 1000  # most steps of conjugate gradients for a step of the interior point method
_SHARE = 0.03  # norm of the residual, as a share of the one that would account for the whole gap
_ROUGH = 10.0  # multiple of that in the predictor step,
_ROUGHLY = 0.01  # or relative residual there, if that is larger


class ConjugateEquations:
    """Approximate solver for the equations of `NormalEquations`, preconditioned by the diagonal of Xᵀ·diag(free)·X + I.

    Towards the end, the equations become badly conditioned. Once a solution has taken more steps than a factorisation
    costs, `NormalEquations` is used.

    Parameters
    ----------
    x : CSR matrix of float64, of shape (n, d)
    factor : float
        Cost of a factorisation, in steps of conjugate gradients.

    Attributes
    ----------
    passes : float
        Cost of all solutions so far, in passes over the rows.
    """

    def __init__(self, x: Any, factor: float) -> None:
        self._x, self._columns, self._squares, self._factor = x, x.T, x.power(2).T, factor
        self._exactly: NormalEquations | None = None
        self.passes = 0.0

    def solver(self, free: Array, fit_intercept: bool, gap: float) -> Callable[..., tuple[Array, Array, float]]:
        """A solver for these `free`, of shape (n,), whose residuals are small relative to the gap.

        The level is eliminated, which centres the rows. Each solution is the start for the next one.
        """
        if self._exactly is not None:
            return self._exactly.solver(free, fit_intercept, gap)
        x, columns, mass = self._x, self._columns, float(free.sum())
        mean = columns @ free / mass if fit_intercept else np.zeros(x.shape[1])
        inverse = 1.0 / (1.0 + self._squares @ free)
        turn = np.zeros(x.shape[1])

        def product(p: Array) -> Array:
            return np.asarray(p + columns @ (free * (x @ p)) - mass * float(mean @ p) * mean)

        def solve(right: Array, more: Array, excess: float, rough: bool) -> tuple[Array, Array, float]:
            nonlocal turn
            level = (float(free @ right) + excess) / mass if fit_intercept else 0.0
            found = conjugate_gradient(
                product,
                columns @ (free * (right - level)) + more - product(turn),
                atol=_SHARE * float(np.sqrt(2.0 * gap)) * (_ROUGH if rough else 1.0),
                rtol=_ROUGHLY if rough else 0.0,
                max_iter=_MOST_STEPS,
                preconditioner=lambda rest: inverse * rest,
            )
            self.passes += PRODUCT * len(found.steps)
            if len(found.steps) > self._factor:
                self._exactly = NormalEquations(x)
            turn = turn + found.x
            rise = level - float(mean @ turn)
            return free * (right - x @ turn - rise), turn, rise

        return solve
