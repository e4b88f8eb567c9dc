"""A fit, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from hiperplano.data.block import Array
from hiperplano.data.validate import last_step
from hiperplano.errors import InvalidParameter
from hiperplano.models.online.base import OnlineModel
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.passes import Trainer
from hiperplano.solvers.online.training import Task, run_passes


class Step(NamedTuple):
    """One step of a fit.

    Attributes
    ----------
    number : int
        From 1.
    row : int, ndarray or None
        Number of the example in X; those of a mini-batch; None for all rows.
    score : float, ndarray or None
        Of the example before the step, one for each class if all are learnt together; None for a mini-batch.
    mistake : bool
        Whether an example was on the wrong side of the plane, or on it.
    updated : bool
        Whether an example moved the plane.
    coef_before, intercept_before, coef, intercept : ndarray, float
        The plane before and after the step; not averaged, and not from the pocket.
    label : object
        The class that the plane tells from the rest, where there is one for each.

    Examples
    --------
    >>> from hiperplano import Perceptron, replay
    >>> step = next(replay(Perceptron(shuffle=False), [[2.0, 1.0], [-1.0, 2.0]], [1, 0]))
    >>> step.row, float(step.score), step.coef_before, step.coef
    (0, 0.0, array([0., 0.]), array([2., 1.]))
    """

    number: int
    row: Any
    score: Any
    mistake: bool
    updated: bool
    coef_before: Array
    intercept_before: Any
    coef: Array
    intercept: Any
    label: Any = None


def replay(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Step]:
    """Fit a model and yield every step: the same compiled loop, run one step at a time.

    Parameters
    ----------
    model : Perceptron, PassiveAggressiveClassifier, Pegasos, SGDClassifier or one of their regressors
        Or a fitted Pipeline that ends with one. It is not changed: a clone is fitted.
        With `shuffle`, give it a `random_state` to see the same steps again.
    X : array-like, CSR matrix or table of shape (n, d)
        Rows to learn from.
    y : array-like of shape (n,)
        Their labels or targets.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, as in `fit`.

    Returns
    -------
    iterator of Step
        The steps in their order.

    Examples
    --------
    >>> from hiperplano import Perceptron, replay
    >>> X, y = [[2.0, 1.0], [-1.0, 2.0]], [0, 1]
    >>> for step in replay(Perceptron(shuffle=False), X, y):
    ...     print(step.row, float(step.score), step.mistake, step.coef, float(step.intercept))
    0 0.0 True [-2. -1.] -1.0
    1 -1.0 True [-3.  1.] 0.0
    0 -5.0 False [-3.  1.] 0.0
    1 5.0 False [-3.  1.] 0.0
    """
    if isinstance(model, Pipeline):
        model, X = last_step(model, X)
    if not isinstance(model, OnlineModel):
        raise InvalidParameter(
            "replay: {model} does not learn step by step; replay takes Perceptron, PassiveAggressiveClassifier, "
            "PassiveAggressiveRegressor, Pegasos, SGDClassifier and SGDRegressor. Pass one of them.",
            model=type(model).__name__,
        )
    model = clone(model)
    memory, tasks, control = model._plan(X, y, None, None, sample_weight)
    for task in tasks:
        recorder = _Recorder(task)
        for record in run_passes(task._replace(trainer=recorder), control):
            if record.ended == "overflow":
                model._refuse_overflow(memory, len(record.mistakes))
            yield from recorder.steps
            recorder.steps = []


class _Recorder:
    """A trainer that notes down every step of another one.

    Parameters
    ----------
    task : Task
        Of the other one.
    """

    def __init__(self, task: Task) -> None:
        trainer: Trainer = task.trainer
        self.trainer, self.label = trainer, task.label
        self.learner, self.planes, self.counts = trainer.learner, trainer.planes, trainer.counts
        self.length, self.total = trainer.length, trainer.total
        self.begin = trainer.begin
        self.row_numbers = None if task.memory is None else task.memory.row_numbers()
        self.steps: list[Step] = []

    def advance(self, start: int, stop: int, rule: Array) -> int:
        size = max(1, int(rule[at.BATCH]))
        while start < stop:
            end = min(start + size, stop)
            before, counts = self._plane(), self.counts.copy()
            reached = self.trainer.advance(start, end, rule)
            if reached < end:
                return reached
            rows = self.row(start) if size == 1 else np.array([self.row(visit) for visit in range(start, end)])
            score = self.learner.states[self.planes, at.SCORE].copy() if size == 1 and rows is not None else None
            new = self.counts[[at.MISTAKES, at.UPDATES]] > counts[[at.MISTAKES, at.UPDATES]]
            changed = bool(new[0]), bool(new[1])
            self.steps.append(Step(int(counts[at.STEP]), rows, score, *changed, *before, *self._plane(), self.label))
            start = end
        return stop

    def row(self, visit: int) -> int | None:
        """The row of a visit, as the caller numbered it."""
        row = self.trainer.row(visit)
        return row if row is None or self.row_numbers is None else int(self.row_numbers[row])

    @property
    def squared_gradient(self) -> float | None:
        return self.trainer.squared_gradient

    def _plane(self) -> tuple[Array, Any]:
        coef, intercept = self.learner.last_coefficients(self.planes)
        return coef, np.array(intercept)[()]
