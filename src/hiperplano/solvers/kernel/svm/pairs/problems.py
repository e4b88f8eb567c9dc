"""The dual problems of all pairs of classes, for rows sorted by class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem


@dataclass(frozen=True)
class ClassPairs:
    """One machine for each pair of classes; its rows are two slices of all rows.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        Class numbers of the rows, in increasing order; no class is empty.
    positive, negative : ndarray of int of shape (machines,)
        The classes of each machine.
    bound : ndarray of shape (n,)
        Bounds of the dual variables.
    start : ndarray of shape (n, machines), optional
        Dual coefficients to start from; 0 if None.
    """

    codes: Array
    positive: Array
    negative: Array
    bound: Array
    start: Array | None = None

    @cached_property
    def borders(self) -> Array:
        """Where the rows of each class begin, and where the last ones end."""
        return np.searchsorted(self.codes, np.arange(self.codes[-1] + 2))

    @cached_property
    def sizes(self) -> Array:
        """Number of rows of each machine."""
        counts = np.diff(self.borders)
        return np.asarray(counts[self.positive] + counts[self.negative])

    @cached_property
    def places(self) -> Array:
        """Where the variables of each machine begin if those of all machines follow each other, and where they end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def machine_slices(self) -> Array:
        """Where the first slice of each machine begins, its number of rows, and where the second slice begins."""
        one, other = np.minimum(self.positive, self.negative), np.maximum(self.positive, self.negative)
        first = self.borders[one]
        return np.ascontiguousarray(np.array([first, self.borders[one + 1] - first, self.borders[other]]).T)

    @cached_property
    def slice_sizes(self) -> Array:
        """Number of rows in the two slices of each machine, one machine after another."""
        middle = self.machine_slices[:, 1]
        return np.array([middle, self.sizes - middle]).T.reshape(-1)

    @cached_property
    def slice_signs(self) -> Array:
        """1 for slices of the positive class, −1 for others."""
        sign = np.where(self.positive < self.negative, 1.0, -1.0)
        return np.array([sign, -sign]).T.reshape(-1)

    @cached_property
    def members(self) -> tuple[Array, Array]:
        """Row and machine of every variable."""
        sizes, starts = self.slice_sizes, self.machine_slices[:, ::2].reshape(-1)
        before = np.cumsum(sizes) - sizes
        rows = np.arange(int(self.places[-1])) + np.repeat(starts - before, sizes)
        return rows, np.repeat(np.arange(len(self.sizes)), self.sizes)

    def problems(self) -> DualProblem:
        """The problems of all machines, one after another, started from 0."""
        return DualProblem.classification(np.repeat(self.slice_signs, self.slice_sizes), self.bound[self.members[0]])

    def slices(self, machine: int) -> tuple[slice, slice]:
        """Slices of all rows that form a machine, in order."""
        pair = sorted((int(self.positive[machine]), int(self.negative[machine])))
        first, second = (slice(int(self.borders[each]), int(self.borders[each + 1])) for each in pair)
        return first, second

    def rows(self, machine: int) -> Array:
        """Row numbers of a machine."""
        return np.concatenate([np.arange(part.start, part.stop) for part in self.slices(machine)])

    def problem(self, machine: int) -> DualProblem:
        """The problem of a machine, in the order of its rows."""
        rows = self.rows(machine)
        sign = np.where(self.codes[rows] == self.positive[machine], 1.0, -1.0)
        problem = DualProblem.classification(sign, self.bound[rows])
        return problem if self.start is None else problem.started(self.start[rows, machine])

    def from_point(self, machine: int, beta: Array) -> DualProblem:
        """The same problems, started from a feasible point."""
        return replace(self.problem(machine), start=beta)
