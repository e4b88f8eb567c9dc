"""Machines of a kernel with few features, solved as planes in these features.

A linear kernel has one feature per column, and a polynomial kernel on few columns has some dozens. If there are several
times as many rows, the solver of linear support vector machines finds the plane in a few passes over the features,
whatever C and the scales of the columns. SMO moves two dual variables at a time, and takes millions of steps on columns
that are not standardised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.arrays import frozen
from hiperplano.kernels import Kernel
from hiperplano.kernels.dimension import few_features
from hiperplano.kernels.inner_product import row_squares
from hiperplano.solvers.kernel.svm.decomposition import Minimum, score_rounding
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.planes.exact_duals import exact_duals
from hiperplano.solvers.svm.compiled.problem import Box, Control, LoopRows
from hiperplano.solvers.svm.compiled.search import POLISHING, Search
from hiperplano.solvers.svm.compiled.solve import solve_dense

_TOL = 1e-6  # relative duality gap from which one or two more steps give the last digits
_PASSES = 1000  # most passes over the features
_ROUNDING = 1e-13  # share of the objective at zero scores that counts as rounding error


@dataclass(frozen=True)
class Planes:
    """The features of all rows.

    Attributes
    ----------
    features : ndarray of shape (n, r)
    """

    features: Array

    @classmethod
    def of(cls, kernel: Kernel, x: Any, n_rows: int, max_steps: int) -> Self | None:
        """The features of all rows.

        Return None if the kernel has too many features for this number of rows, or if few steps are allowed.
        """
        found = few_features(kernel, x, n_rows) if max_steps >= _PASSES + POLISHING else None
        return None if found is None else cls(found)

    def solve(self, problem: DualProblem, rows: Array | slice, tol: float) -> Minimum | None:
        """Solve a machine with finite bounds on some rows. None if no plane was found."""
        bound = np.maximum(problem.high, -problem.low)
        features = self.features[rows]
        diagonal, centre = row_squares(features), features.mean(axis=0)
        middle = 0.5 * float(problem.target.max() + problem.target.min())
        # As Σβ = 0, centring changes only the intercept; it saves digits.
        features, problem = features - centre, replace(problem, target=problem.target - middle)
        search = _searched(problem, features, bound)
        if not search.proved:
            return None
        found = _judged(problem, features, diagonal, problem.started(search.found.beta).start)
        if found.violation > tol:
            beta = exact_duals(problem, features, search.found.beta, search.found.coef)
            found = min(found, _judged(problem, features, diagonal, beta), key=lambda each: each.violation)
        beta = _balanced(problem, found.beta)
        level = float(centre @ (beta @ features)) - middle
        return replace(
            found,
            beta=beta,
            gradient=found.gradient + level,
            intercept=found.intercept - level,
            steps=search.found.passes,
        )


def _balanced(problem: DualProblem, beta: Array) -> Array:
    """Dual variables with Σβ = 0 to the last bit: if columns are far from 0, any other sum affects the scores."""
    free = np.flatnonzero(problem.free(beta))
    if len(free):
        beta = beta.copy()
        room = np.minimum(np.abs(beta), np.minimum(beta - problem.low, problem.high - beta))[free]
        beta[free[room.argmax()]] -= math.fsum(beta)
    return beta


def _judged(problem: DualProblem, features: Array, diagonal: Array, beta: Array) -> Minimum:
    """Evaluate dual variables: their violation and its rounding error.

    `diagonal` holds the kernel values of rows with themselves.
    """
    gradient = features @ (beta @ features) - problem.target
    up, down = problem.slopes(beta, gradient)
    largest, least = float(up.max()), float(down.min())
    blur = score_rounding(beta, diagonal)
    rounding = float(blur[up.argmax()] + blur[down.argmin()])
    return Minimum(beta, gradient, 0.5 * (largest + least), max(0.0, largest - least), 0, 1, rounding)


def _searched(problem: DualProblem, features: Array, bound: Array) -> Search:
    """Solve the linear machine to full precision, so that only rounding errors violate its conditions."""
    C, size = float(bound.max()), np.abs(problem.target)
    weight = bound / C
    unit = float(weight @ size / weight.sum()) or 1.0
    floor = _ROUNDING * float(bound @ np.maximum(size - problem.width, 0.0))
    target = np.ascontiguousarray(problem.target, dtype=np.float64)
    box = Box(frozen(target), problem.low, problem.high, np.zeros(len(size)), frozen(weight), problem.width)
    control = Control(True, _TOL, floor, _PASSES, unit, C, unit / C)
    search = Search(LoopRows.dense(features, False), box, control)
    solve_dense(search, few=True, n_problems=1)
    if search.proved:
        search.polish()
    return search
