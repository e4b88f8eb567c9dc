"""Decomposition method for machines with a parameter nu, and conversion to the equivalent machine with a C or ε."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.kernels import Kernel, KernelMatrix, Precomputed
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.solvers.kernel.svm.decomposition import MOST_IDLE_ROUNDS, Minimum, score_rounding
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, held_gram
from hiperplano.solvers.kernel.svm.gram_rows import SMALL, CachedGram, GramRows
from hiperplano.solvers.kernel.svm.nu.loops import smo_of_all_rows
from hiperplano.solvers.kernel.svm.nu.problem import Levels, NuProblem
from hiperplano.solvers.kernel.svm.nu.small_loops import BLURRED, CLEAR, ROUNDING

_SHARE = 0.1  # a working set is solved until its violation is below this share of that of all rows
_NEW = 256  # least number of violating rows added to a working set


@dataclass(frozen=True)
class NuMinimum:
    """The end point of a fit.

    Attributes
    ----------
    sides : ndarray of shape (2, n)
        p and m.
    scores : ndarray of shape (n,)
        Kβ.
    above, below : Levels
        Extreme slopes of the two sides.
    rounding : float
        Rounding error of a score.
    """

    sides: Array
    scores: Array
    above: Levels
    below: Levels
    steps: int
    rounds: int
    rounding: float

    @property
    def beta(self) -> Array:
        return np.asarray(self.sides[0] - self.sides[1])

    @property
    def intercept(self) -> float:
        return 0.5 * (self.above.middle - self.below.middle)

    @property
    def margin(self) -> float:
        """ρ of a classification: scores of support vectors on their margin are ±ρ."""
        return -0.5 * (self.above.middle + self.below.middle)

    @property
    def violation(self) -> float:
        return max(self.above.violation, self.below.violation, 0.0)

    @property
    def has_margin(self) -> bool:
        """Whether ρ is positive, and large compared with the violation of the optimality conditions."""
        return self.margin > CLEAR * self.violation + self._blur

    @property
    def unit(self) -> float:
        """Divisor of f: ρ, or 1 if ρ is only a rounding error."""
        return self.margin if self.margin > self._blur else 1.0

    @property
    def _blur(self) -> float:
        return ROUNDING * float(np.abs(self.scores).max(initial=0.0)) + BLURRED * self.rounding

    @property
    def width(self) -> float:
        """ε of a regression, half the width of the tube."""
        return max(0.0, 0.5 * (self.above.middle + self.below.middle))

    def as_classification(self, sign: Array, bound: Array) -> tuple[DualProblem, Minimum]:
        """The same machine with C = 1/ρ, and scores of ±1 on the margin; unchanged if there is no margin."""
        rho = self.unit
        beta, gradient = self.beta / rho, self.scores / rho - sign
        return DualProblem.classification(sign, bound / rho), self._minimum(beta, gradient, self.intercept / rho, rho)

    def as_regression(self, target: Array, bound: Array) -> tuple[DualProblem, Minimum]:
        """The same machine with the ε that was found."""
        problem = DualProblem.regression(target, bound, self.width)
        return problem, self._minimum(self.beta, self.scores - target, self.intercept)

    def _minimum(self, beta: Array, gradient: Array, intercept: float, unit: float = 1.0) -> Minimum:
        return Minimum(beta, gradient, intercept, self.violation, self.steps, self.rounds, self.rounding / unit)


def solve_nu(problem: NuProblem, kernel: Kernel, x: Any, control: Control, begun: NuMinimum | None = None) -> NuMinimum:
    """Solve a problem, optionally from the end of another fit. `x` is the Gram matrix if the kernel is precomputed."""
    rows: GramRows
    if isinstance(kernel, Precomputed) or x.shape[0] <= SMALL:
        rows = held_gram(kernel, x)
    else:
        matrix = KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)
        rows = CachedGram(matrix, matrix.diagonal, control.n_bytes // 2)
    capacity = max(SMALL, int(np.sqrt(control.n_bytes / 16)))
    if begun is None:
        return _minimise(problem, rows, control, capacity, problem.start())
    left = replace(control, max_steps=control.max_steps - begun.steps)
    found = _minimise(problem, rows, left, capacity, begun.sides.copy())
    return replace(found, steps=found.steps + begun.steps, rounds=found.rounds + begun.rounds)


def _minimise(problem: NuProblem, rows: GramRows, control: Control, capacity: int, sides: Array) -> NuMinimum:
    """Alternate between solving a working set and updating the gradient of all rows.

    Parameters
    ----------
    capacity : int
        Largest size of a working set. At most `_NEW` rows form one working set.
    sides : ndarray of shape (2, n)
        The start; modified in place.
    """
    n = rows.n
    gradient = _gradient(problem, rows, sides)
    steps, rounds, idle, value = 0, 0, 0, np.inf
    while True:
        above, below = problem.levels(sides, gradient)
        violation = max(above.violation, below.violation)
        if control.progress is not None:
            control.progress(rounds, steps, violation)
        before, value = value, min(value, 0.5 * float((sides[0] - sides[1]) @ (gradient - problem.target)))
        idle = idle + 1 if value >= before else 0
        if violation <= control.tol or steps >= control.max_steps or idle > MOST_IDLE_ROUNDS:
            rounding = float(score_rounding(sides[0] - sides[1], rows.diagonal).max())
            return NuMinimum(sides, gradient + problem.target, above, below, steps, rounds, rounding)
        chosen = np.arange(n) if n <= _NEW else _working_set(problem, sides, gradient, (above, below), capacity)
        share = control.tol if len(chosen) == n else max(0.9 * control.tol, _SHARE * violation)
        part, part_gradient = np.ascontiguousarray(sides[:, chosen]), gradient[chosen]
        made, _ = smo_of_all_rows(
            rows.block(chosen),
            rows.diagonal[chosen],
            part_gradient,
            part,
            np.ascontiguousarray(problem.bounds[:, chosen]),
            share,
            control.max_steps - steps,
        )
        steps += made
        change = (part[0] - part[1]) - (sides[0] - sides[1])[chosen]
        moved = np.flatnonzero(change)
        sides[:, chosen], rounds = part, rounds + 1
        if len(chosen) == n:
            gradient = _gradient(problem, rows, sides)  # the loop's gradient has accumulated rounding errors
        else:
            gradient = gradient + rows.times(chosen[moved], change[moved])


def _gradient(problem: NuProblem, rows: GramRows, sides: Array) -> Array:
    beta = sides[0] - sides[1]
    moved = np.flatnonzero(beta)
    return np.asarray((rows.times(moved, beta[moved]) if len(moved) else 0.0) - problem.target)


def _working_set(
    problem: NuProblem, sides: Array, gradient: Array, levels: tuple[Levels, Levels], capacity: int
) -> Array:
    """The rows that violate most, as many to grow as to fall on each side, and the free ones."""
    up, down = problem.slopes(sides, gradient)
    free = ((sides > 0.0) & (sides < problem.bounds)).any(axis=0)
    most = max(_NEW, min(int(free.sum()) // 2, capacity // 2)) // 4  # fewer than there are rows
    chosen = np.zeros(len(gradient), dtype=bool)
    for side, level in enumerate(levels):
        for value, limit in ((up[side], level.least), (-down[side], -level.largest)):
            best = np.argpartition(-value, most)[:most]
            chosen[best[value[best] > limit]] = True
    room = capacity - int(chosen.sum())
    others = np.flatnonzero(free & ~chosen)
    if len(others) > room:
        far = [np.abs(np.where(np.isfinite(up[side]), up[side], 0.0) - levels[side].middle) for side in (0, 1)]
        others = others[np.argpartition(-np.maximum(*far)[others], room)[:room]]
    chosen[others] = True
    return np.flatnonzero(chosen)
