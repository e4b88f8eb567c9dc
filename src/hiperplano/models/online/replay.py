"""A fit, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from hiperplano.data.block import Array
from hiperplano.data.validate import last_step
from hiperplano.errors import InvalidParameter
from hiperplano.models.logistic import LogisticRegression
from hiperplano.models.online.base import OnlineModel
from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.likelihood.gradient_descent import gradient_descent
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.metrics import loss_of
from hiperplano.solvers.online.passes import Trainer
from hiperplano.solvers.online.schedules import learning_rate
from hiperplano.solvers.online.training import Task, run_passes

_SETTLED = 1e-10  # size of the next Newton step, in standardised parameters, at which the steps end


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
        The plane before and after the step; not averaged, and not from the pocket. With a kernel, α of every row.
    label : object
        The class that the plane tells from the rest, where there is one for each.
    loss : float or None
        Of the example before the step, without a penalty; None for a mini-batch. For `LogisticRegression`, the mean
        loss with its penalty after the step.
    rate : float or None
        Step size η, where the rule has one. For `LogisticRegression` the length of the step, standardised columns.

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
    loss: float | None = None
    rate: float | None = None


def replay(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Step]:
    """Fit a model and yield every step: the same compiled loop, run one step at a time.

    Parameters
    ----------
    model : LogisticRegression, or an online classifier or regressor (Perceptron, KernelPerceptron, Pegasos, …)
        Or a fitted Pipeline that ends with one. It is not changed: a clone is fitted. With `shuffle`, give it a
        `random_state` to see the same steps again. Logistic regression takes Newton's steps, or with
        solver="gradient" plain gradient steps.
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
    if isinstance(model, LogisticRegression):
        yield from _likelihood_steps(clone(model), X, y, sample_weight)
        return
    if not isinstance(model, OnlineModel):
        raise InvalidParameter(
            "replay: {model} does not learn step by step; replay takes Perceptron, PassiveAggressiveClassifier, "
            "PassiveAggressiveRegressor, Pegasos, SGDClassifier, SGDRegressor, KernelPerceptron and "
            "LogisticRegression. Pass one of them.",
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


def _likelihood_steps(model: LogisticRegression, X: Any, y: Any, sample_weight: Any) -> Iterator[Step]:
    """The steps of Newton's method, or of gradient descent, on the likelihood."""
    problem, control = model._likelihood(X, y, sample_weight)
    states: list[tuple[Array, float]] = []

    def watch(state: State) -> None:
        states.append((problem.balanced(state.theta), state.value))

    if control["solver"] == "gradient":
        gradient_descent(problem, problem.prior(), control["tol"], control["max_iter"], watch)
    else:
        problem.newton(None, control["tol"], control["max_iter"], _SETTLED, watch)
    for number, ((before, _), (after, loss)) in enumerate(pairwise(states), start=1):
        planes = [part for theta in (before, after) for part in problem.scale.coefficients(theta)]
        w0, b0, w, b = (part[0] for part in planes) if problem.n_scores == 1 else planes
        rate = float(np.linalg.norm(after - before))
        if rate > 0:
            yield Step(number, None, None, False, True, w0, b0, w, b, loss=loss, rate=rate)


class _Recorder:
    """A trainer that records every step of another one.

    Parameters
    ----------
    task : Task
        Task of the other trainer.
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
            t = float(counts[at.STEP])
            loss = None if score is None else self._loss(self.trainer.row(start), score, rule)
            rate = float(learning_rate(rule, t)) if rule[at.RATE] < at.PASSIVE_AGGRESSIVE_1 else None
            self.steps.append(Step(int(t), rows, score, *changed, *before, *self._plane(), self.label, loss, rate))
            start = end
        return stop

    def _loss(self, row: Any, score: Array, rule: Array) -> float | None:
        """Loss of an example, if one plane is learnt."""
        target = getattr(self.trainer, "target", None)
        if np.ndim(score) or target is None:
            return None
        return float(loss_of(rule).value(np.asarray(target[row]), np.asarray(score)))

    def row(self, visit: int) -> int | None:
        """The row of a visit, in the caller's numbering."""
        row = self.trainer.row(visit)
        return row if row is None or self.row_numbers is None else int(self.row_numbers[row])

    @property
    def squared_gradient(self) -> float | None:
        return self.trainer.squared_gradient

    def _plane(self) -> tuple[Array, Any]:
        coef, intercept = self.learner.last_coefficients(self.planes)
        return coef, np.array(intercept)[()]
