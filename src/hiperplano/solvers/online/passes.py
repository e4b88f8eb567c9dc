"""Single passes over the rows: example by example, for one plane or for the planes of all classes together.

A trainer holds the rows, the target, the order and the planes that it changes. `solvers.online.training` decides on the
number of passes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.loops.arrays import frozen
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import NO_WEIGHTS, Learner
from hiperplano.solvers.online.sampling_order import SamplingOrder


class Trainer(Protocol):
    """Interface of the objects that make passes.

    Attributes
    ----------
    planes : int or slice
        The planes that it changes.
    counts : ndarray of shape (STATE_SIZE,)
        The state that holds its counts.
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
    def squared_gradient(self) -> float | None:
        """‖gradient‖² at the last pass, if a pass is one gradient step over all rows; otherwise None."""

    def begin(self, number: int) -> None:
        """Set the order of the visits of this pass, numbered from 1."""

    def advance(self, start: int, stop: int, rule: Array) -> int:
        """Learn from the visits start … stop − 1 of the pass; return where learning stopped.

        Parameters
        ----------
        start, stop : int
            Visits of the pass.

        Returns
        -------
        int
            Where learning stopped: `stop`, or the visit before which the pocket must be checked.
        """

    def row(self, visit: int) -> int | None:
        """The row of a visit; None if one visit covers all rows."""


class RowByRow:
    """Shared code of trainers that visit one row at a time."""

    squared_gradient: float | None = None

    def __init__(self, target: Array, order: SamplingOrder, learner: Learner) -> None:
        self.target, self.sampling_order, self.learner = target, order, learner
        self.length, self.total = order.count, order.total
        self.order: Array = np.empty(0, dtype=np.intp)
        self.visit_weight = NO_WEIGHTS

    def begin(self, number: int) -> None:
        self.order, self.visit_weight = self.sampling_order.of_pass(number)

    def row(self, visit: int) -> int | None:
        return int(self.order[visit])


class OnePlane(RowByRow):
    """Trainer of one plane, for two classes or a regression.

    Parameters
    ----------
    target : ndarray of shape (n,)
        ±1, or the number.
    plane : int
        The plane of the learner that is trained.
    """

    def __init__(self, target: Array, order: SamplingOrder, learner: Learner, plane: int = 0) -> None:
        # Numba is imported by the first fit that needs it.
        from hiperplano.solvers.online.loops.example_loops import walk

        super().__init__(target, order, learner)
        self._walk = walk
        self.planes = plane
        self.counts = learner.states[plane]

    def advance(self, start: int, stop: int, rule: Array) -> int:
        learner, k = self.learner, self.planes
        visits = (*self.sampling_order.arrays, self.target, self.order, self.visit_weight, start, stop, rule)
        if rule[at.BATCH] == 1.0 and rule[at.PROJECT] == 0.0:
            return int(self._walk(*visits, learner.weights[k], learner.sums[k], learner.states[k]))
        from hiperplano.solvers.online.loops.batch_loops import walk_batches

        steps = np.empty(int(rule[at.BATCH]))
        return int(walk_batches(*visits, learner.weights[k], learner.sums[k], learner.states[k], steps))

    def suits_many_passes(self, rule: Array) -> bool:
        """Whether `walk_on` supports this rule."""
        return bool(rule[at.BATCH] == 1.0 and not (rule[at.PROJECT] or rule[at.POCKET] or rule[at.AVERAGE_FROM]))

    def walk_on(self, first: int, many: int, rule: Array, watch: Array) -> list[int]:
        """Make the passes `first` … `first` + `many` − 1 in one call, or fewer if learning ends; return their mistakes.

        Parameters
        ----------
        watch : ndarray of shape (WATCH_SIZE,)
            Stopping criteria on entry, and how the passes ended on return; see `online.rules`.
        """
        from hiperplano.solvers.online.loops.pass_loops import walk_passes

        learner, k = self.learner, self.planes
        visits = self.sampling_order.of_passes(first, many)
        mistakes = np.empty(many, dtype=np.intp)
        rows, planes = self.sampling_order.arrays, (learner.weights[k], learner.sums[k], learner.states[k])
        made = int(walk_passes(*rows, self.target, *visits, rule, watch, mistakes, *planes))
        self.order, self.visit_weight = (each[min(made, len(each)) - 1] for each in visits)
        return mistakes[:made].tolist()

    def walks_clean(self, rule: Array, passes: int) -> bool:
        """Whether unpenalised steps on a copy of the plane reach a pass without mistakes.

        They use the order of the last pass.

        If False, the rows may still be separable.
        """
        plain = rule.copy()
        plain[[at.ALPHA, at.POCKET, at.AVERAGE_FROM, at.TRACK_LOSS]] = 0.0
        walker = OnePlane(self.target, self.sampling_order, self.learner.copy(), self.planes)
        walker.order, walker.visit_weight = frozen(np.tile(self.order, passes)), np.tile(self.visit_weight, passes)
        walker.advance(0, passes * self.length, plain)
        return bool(walker.counts[at.RUN] >= self.length)


class AllPlanes(RowByRow):
    """One plane for each class, trained together.

    Parameters
    ----------
    target : ndarray of shape (n,)
        Numbers of classes, as float64.
    class_weight : ndarray of shape (classes,)
    """

    def __init__(self, target: Array, order: SamplingOrder, learner: Learner, class_weight: Array) -> None:
        super().__init__(target, order, learner)
        self.planes = slice(None)
        self.counts = learner.states[0]
        self.class_weight = class_weight

    def advance(self, start: int, stop: int, rule: Array) -> int:
        from hiperplano.solvers.online.loops.class_loops import walk_classes

        learner = self.learner
        visits = (*self.sampling_order.arrays, self.target, self.order, self.visit_weight, start, stop, rule)
        return int(walk_classes(*visits, self.class_weight, learner.weights, learner.sums, learner.states))
