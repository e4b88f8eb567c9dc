"""Machines with a parameter nu and a kernel of few features, solved as planes in these features."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.kernels.inner_product import row_squares
from hiperplano.solvers.kernel.svm.decomposition import score_rounding
from hiperplano.solvers.kernel.svm.nu.plane_loops import NuPlane, interior_point
from hiperplano.solvers.kernel.svm.nu.problem import Levels, NuProblem
from hiperplano.solvers.kernel.svm.nu.solve import NuMinimum
from hiperplano.solvers.kernel.svm.planes.exact_duals import column_units, exact_free_duals


def solve_nu_plane(problem: NuProblem, features: Array, tol: float) -> NuMinimum:
    """Solve one machine; its classes may turn out to have no margin.

    Parameters
    ----------
    features : ndarray of shape (n, r)
    """
    diagonal, centre = row_squares(features), features.mean(axis=0)
    middle = 0.5 * float(problem.target.max() + problem.target.min())
    # As Σβ = 0, centring changes only the intercept; it saves digits.
    machine = _Machine.of(replace(problem, target=problem.target - middle), features - centre)
    # The margin is at most the norm of the plane times that of the longest row.
    least = 0.0 if len(machine.high) == 2 else tol / math.sqrt(row_squares(machine.columns).max())
    end = interior_point(machine.columns, machine.sign, machine.target, machine.high, 2.0 * problem.total, least)
    part = machine.at_bounds(end)
    found = machine.minimum(part, end.steps, diagonal)
    n_free = np.count_nonzero((part > 0.0) & (part < machine.high))
    if found.violation > tol * min(1.0, found.unit) and n_free <= len(end.unknowns):
        exact = machine.minimum(machine.exact(part, end), end.steps, diagonal)
        found = min(found, exact, key=lambda one: one.violation)
    return _moved(found, float(centre @ (found.beta @ machine.columns)[:-1]), middle)


def _moved(found: NuMinimum, score: float, target: float) -> NuMinimum:
    """The same machine before features and targets were centred: both are larger by constants."""
    level = score - target
    return replace(
        found,
        scores=found.scores + score,
        above=Levels(*(slope - level for slope in found.above)),
        below=Levels(*(slope + level for slope in found.below)),
    )


@dataclass(frozen=True)
class _Machine:
    """A problem in the parts of `interior_point`: one for each row of two classes, two for each row of a regression.

    Attributes
    ----------
    problem : NuProblem
    columns : ndarray of shape (n, r + 1)
        Features, and a column of ones.
    sign, target, high : ndarray of shape (parts, n)
    """

    problem: NuProblem
    columns: Array
    sign: Array
    target: Array
    high: Array

    @classmethod
    def of(cls, problem: NuProblem, features: Array) -> Self:
        columns = np.column_stack([features, np.ones(len(features))])
        above, below = problem.bounds > 0.0
        if (above & below).all():
            sign, high = np.repeat([[1.0], [-1.0]], len(features), axis=1), problem.bounds
        else:
            sign, high = np.where(above, 1.0, -1.0)[None], problem.bounds.sum(axis=0)[None]
        return cls(problem, columns, sign, sign * problem.target, high)

    def at_bounds(self, end: NuPlane) -> Array:
        """Parts, of which those that tend to a bound are set to it: they are closer to it than to their margin."""
        size, high = float(np.abs(end.residual).max()), self.high
        low = end.part * size < -end.residual * high
        return np.where(low, 0.0, np.where((high - end.part) * size < end.residual * high, high, end.part))

    def exact(self, part: Array, end: NuPlane) -> Array:
        """Parts to the last digit; those that turn out to be at a bound are set to it."""
        columns, sign, target, high = self.columns, self.sign, self.target, self.high
        sums, unit = np.array([0.0, 2.0 * self.problem.total]), np.append(column_units(columns), 1.0)
        while True:
            free = (part > 0.0) & (part < high)
            side, row = np.nonzero(free)
            if not len(row):
                return part
            bound = np.where(free, 0.0, part)
            rest = np.append((sign * bound).sum(axis=0) @ columns, bound.sum())
            rows = np.column_stack([sign[free][:, None] * columns[row], np.ones(len(row))])
            found = exact_free_duals(rows, target[free], part[free], rest, end.unknowns, sums, unit)
            part = bound
            part[side, row] = np.clip(found, 0.0, high[free])
            if (part[free] == found).all():
                return part

    def minimum(self, part: Array, steps: int, diagonal: Array) -> NuMinimum:
        """The machine with these parts; `diagonal` holds the kernel values of rows with themselves."""
        sides = np.where(self.problem.bounds > 0.0, part, 0.0)
        self._balance(sides)
        beta = sides[0] - sides[1]
        features = self.columns[:, :-1]
        scores = features @ (beta @ features)
        above, below = self.problem.levels(sides, scores - self.problem.target)
        return NuMinimum(sides, scores, above, below, steps, 1, float(score_rounding(beta, diagonal).max()))

    def _balance(self, sides: Array) -> None:
        """Make Σβ = 0 to the last bit: if columns are far from 0, any other sum affects the scores."""
        room = np.minimum(sides, self.problem.bounds - sides)
        side, row = np.unravel_index(room.argmax(), room.shape)
        excess = math.fsum(sides[0]) - math.fsum(sides[1])
        if abs(excess) < room[side, row]:
            sides[side, row] -= excess if side == 0 else -excess
