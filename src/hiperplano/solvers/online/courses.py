"""How a pass over the rows is made: example by example for one plane, or for all classes together.

A course knows rows, target, order and the planes it changes; `solvers.online.course` decides how many passes there are.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import NO_SHARE, Learner, Rows
from hiperplano.solvers.online.visits import Visits


class Course(Protocol):
    """What a pass consists of.

    Attributes
    ----------
    learner : Learner
    planes : int or slice
        Those that the course changes.
    counts : ndarray
        The state in which it counts.
    length : int
        Visits in a pass.
    total : float
        Sum of the weights of the visits.
    """

    learner: Learner
    planes: Any
    counts: Array
    length: int
    total: float

    @property
    def steepness(self) -> float | None:
        """Squared length of the gradient that the last pass followed, if it followed one."""

    def begin(self, number: int) -> None:
        """Take the order of a pass."""

    def advance(self, start: int, stop: int, rule: Array) -> int:
        """Learn from the visits start … stop − 1 of the pass; return where learning stopped."""

    def row(self, visit: int) -> int | None:
        """The row of a visit; None if a visit is all rows."""


class _Walk:
    """What the two courses that walk from row to row share."""

    steepness: float | None = None

    def __init__(self, rows: Rows, target: Array, visits: Visits, learner: Learner) -> None:
        self.rows, self.target, self.visits, self.learner = rows, target, visits, learner
        self.length, self.total = visits.count, visits.total
        self.order: Array = np.empty(0, dtype=np.intp)
        self.share = NO_SHARE

    def begin(self, number: int) -> None:
        self.order, self.share = self.visits.of_pass(number)

    def row(self, visit: int) -> int | None:
        return int(self.order[visit])


class OnePlane(_Walk):
    """Two classes, or a number; `target` holds ±1 or the number."""

    def __init__(self, rows: Rows, target: Array, visits: Visits, learner: Learner, plane: int = 0) -> None:
        super().__init__(rows, target, visits, learner)
        self.planes = plane
        self.counts = learner.states[plane]

    def advance(self, start: int, stop: int, rule: Array) -> int:
        from hiperplano.solvers.online.batches_loops import walk_batches
        from hiperplano.solvers.online.loops import walk

        learner, k = self.learner, self.planes
        visits = (*self.rows, self.target, self.order, self.share, start, stop, rule)
        if rule[at.BATCH] == 1.0 and rule[at.PROJECT] == 0.0:
            return int(walk(*visits, learner.weights[k], learner.sums[k], learner.states[k]))
        room = np.empty(int(rule[at.BATCH]))
        return int(walk_batches(*visits, learner.weights[k], learner.sums[k], learner.states[k], room))


class AllPlanes(_Walk):
    """One plane for each class, learnt together; `target` holds numbers of classes."""

    def __init__(self, rows: Rows, target: Array, visits: Visits, learner: Learner, class_weight: Array) -> None:
        super().__init__(rows, target, visits, learner)
        self.planes = slice(None)
        self.counts = learner.states[0]
        self.class_weight = class_weight

    def advance(self, start: int, stop: int, rule: Array) -> int:
        from hiperplano.solvers.online.classes_loops import walk_classes

        learner = self.learner
        visits = (*self.rows, self.target, self.order, self.share, start, stop, rule)
        return int(walk_classes(*visits, self.class_weight, learner.weights, learner.sums, learner.states))
