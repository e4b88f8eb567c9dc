"""The gradient of a dual problem, updated only in rows that can violate the optimality conditions."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.gram_rows import GramRows

_SKIPPED_ERROR = 10.0  # assumed error of float32 in skipped rows, as a multiple of the largest error seen in other rows


class Gradient:
    """Kβ − t, in which some rows are not updated ("rest").

    A row with β = 0 that is far from violating the optimality conditions adds nothing to the objective or to the
    duality gap. A step Δ changes its score by at most √(Kᵢᵢ·ΔᵀKΔ). So the row may rest until the sum of these bounds
    reaches its distance from a violation.

    Parameters
    ----------
    problem : DualProblem
    rows : GramRows
        The source of kernel values.
    beta : ndarray of shape (n,)
    values : ndarray of shape (n,), optional
        The gradient at β; modified in place. If given, no row rests.

    Attributes
    ----------
    values : ndarray of shape (n,)
        For rows that rest, the gradient of an earlier β.
    """

    def __init__(self, problem: DualProblem, rows: GramRows, beta: Array, values: Array | None = None) -> None:
        self._problem, self._rows, self._every_row = problem, rows, values is not None
        self._reach = np.zeros(rows.n)  # bound on the change of each row's gradient since the row began to rest
        self.values = self._at(beta) if values is None else values

    def slopes(self, beta: Array) -> tuple[Array, Array]:
        """Slopes of the problem, after rows that might violate have been updated."""
        while True:
            up, down = self._problem.slopes(beta, self.values)
            resting = self._reach > 0.0
            near = (up + self._reach > down.min()) | (down - self._reach < up.max())
            woken = np.flatnonzero(resting & near)
            if not len(woken):
                return up, down
            self.values[woken], self._reach[woken] = self._at(beta, woken), 0.0

    def add(self, chosen: Array, beta: Array, change: Array, slopes: Array, source: GramRows) -> None:
        """Update the gradient after β changed in some rows.

        Parameters
        ----------
        beta : ndarray of shape (n,)
            β before the change.
        change : ndarray of shape (len(chosen),)
        slopes : ndarray of shape (len(chosen),)
            Gradient of these rows after the change.
        source : GramRows
            Source of the kernel values behind `slopes`; if it is the current source, `slopes` is used without another
            product.
        """
        moved, before = np.flatnonzero(change), self.values[chosen]
        columns, factors, sizes = chosen[moved], change[moved], np.sqrt(np.abs(self._rows.diagonal))
        length = self._length(factors, (slopes - before)[moved])
        resting = self._may_rest(beta, self._reach + length * sizes) | (self._reach > 0.0)
        resting[chosen] = False
        others = ~resting
        others[chosen] = source is not self._rows
        self.values[others] += self._rows.times(columns, factors, None if others.all() else np.flatnonzero(others))
        if source is self._rows:
            self.values[chosen] = slopes
        length = self._length(factors, (self.values[chosen] - before)[moved])
        self._reach[resting] += length * sizes[resting]

    def renew(self, values: Array) -> None:
        """Replace the gradient by a known one."""
        self.values, self._reach = values, np.zeros(len(values))

    def judge_by(self, rows: GramRows, beta: Array, rough: float) -> None:
        """Switch to another source of kernel values. The previous source had an error of about `rough`."""
        before, self._rows = self.values, rows
        resting = self._may_rest(beta, self._reach + rough)
        awake = np.flatnonzero(~resting)
        self.values = before.copy()
        self.values[awake] = self._at(beta, awake)
        if resting.any():
            seen = np.abs(self.values - before)[awake][self._reach[awake] == 0.0]
            self._reach[awake] = 0.0
            self._reach[resting] += max(rough, _SKIPPED_ERROR * float(seen.max(initial=0.0)))

    def _may_rest(self, beta: Array, reach: Array) -> Array:
        """Rows that cannot violate the optimality conditions if their gradient has changed by at most `reach`."""
        problem = self._problem
        if self._every_row or not self._rows.in_parts:
            return np.zeros(len(beta), dtype=bool)
        up, down = problem.slopes(beta, self.values)
        slack = np.minimum(down.min() - up, down - up.max())
        return np.asarray((beta == 0.0) & (problem.low < problem.high) & (slack > reach))

    def _at(self, beta: Array, rows: Array | None = None) -> Array:
        """Compute the gradient of some rows, or of all."""
        moved = np.flatnonzero(beta)
        target = self._problem.target if rows is None else self._problem.target[rows]
        return np.asarray((self._rows.times(moved, beta[moved], rows) if len(moved) else 0.0) - target)

    def _length(self, change: Array, product: Array) -> float:
        """√(ΔᵀKΔ) of a step Δ, from KΔ in the rows that it changes, plus a bound on the rounding error."""
        rounding = float(np.finfo(np.float32).eps) * float(self._rows.diagonal.max()) * float(change @ change)
        return float(np.sqrt(max(0.0, float(change @ product)) + rounding))
