"""The equations of a step of the interior point method by conjugate gradients, until a factor is worth its cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.solvers.svm.compiled.normal_equations import NormalEquations

_MOST_STEPS = 1000  # of conjugate gradients for a step of the interior point method; the last iterate is then used
_PRODUCT = 0.1  # what a step of conjugate gradients adds to the number of passes; its time is more than 0.2 passes
_SHARE = 0.03  # residual that may be left, as a share of the one that would account for all of the gap
_ROUGH = 10.0  # times as much in the predictor step,
_ROUGHLY = 0.01  # or this share of its first residual


class ConjugateEquations:
    """Solves what `NormalEquations` does, about, on the diagonal of Xᵀ·diag(free)·X + I.

    Rows that are free at the end tell less of each other than all rows did: steps become dear, and the first that took
    as long as a factor is the last.

    Parameters
    ----------
    x : CSR matrix of float64, of shape (n, d)
    factor : float
        What a factor costs, in steps of conjugate gradients.

    Attributes
    ----------
    passes : float
        What all answers so far have cost, in passes over the rows.
    """

    def __init__(self, x: Any, factor: float) -> None:
        self._x, self._columns, self._squares, self._factor = x, x.T, x.power(2).T, factor
        self._exactly: NormalEquations | None = None
        self.passes = 0.0

    def solver(self, free: Array, fit_intercept: bool, gap: float) -> Callable[..., tuple[Array, Array, float]]:
        """A solver for these `free`, of shape (n,), that leaves little beside the gap.

        The level is eliminated: rows are taken from their mean. An answer is where the next one starts.
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
            self.passes += _PRODUCT * len(found.steps)
            if len(found.steps) > self._factor:
                self._exactly = NormalEquations(x)
            turn = turn + found.x
            rise = level - float(mean @ turn)
            return free * (right - x @ turn - rise), turn, rise

        return solve
