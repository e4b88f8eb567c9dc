"""Online training: how many passes there are, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.metrics import Objective
from hiperplano.solvers.online.passes import OnePlane, Trainer
from hiperplano.solvers.online.sampling_order import KEPT_VISITS

PlaneMetric = Callable[[Array, Array], float]
"""(coefficients, intercepts) → a number."""
Report = Callable[[int, float], None]
"""Is told the number of each pass and its mean loss."""

_WORSE = 100.0  # times the objective of where a fit began, or of planes of 0: it has gone astray
_DIVERGING = 2.0  # a squared gradient that is multiplied by this in pass after pass will not come back
_FIRST_PASSES = 8  # of those that are made in one call; then as many as have been made
_ENDS = {0: "max_iter", at.NO_UPDATES: "no_updates", at.NO_IMPROVEMENT: "no_improvement", at.OVERFLOW: "overflow"}


@dataclass(frozen=True)
class Control:
    """When passes end.

    Attributes
    ----------
    tol : float or None
        Least improvement of the mean loss, or of the score on held-out rows, that counts; for steps over all rows, the
        least squared gradient. None: go on.
    patience : int
        Passes without such an improvement before the end.
    adaptive : bool
        Instead of ending, divide the rate by 5, until it is tiny.
    """

    max_iter: int = 1
    tol: float | None = None
    patience: int = 5
    adaptive: bool = False


@dataclass
class Record:
    """How the passes of a task went.

    Attributes
    ----------
    mistakes : list of int
        In each pass.
    ended : str
        "no_updates" (a pass changed nothing), "no_improvement" (for a while), "diverging" (the gradient grew and
        grew, or the planes are far worse than those that the fit began with), "max_iter", or "overflow" (a number was
        not finite).
    objective : float
        Mean loss along the last pass, with the penalty at its end, if it was tracked.
    separable : bool
        Whether a plane was found that has all rows on their sides, although the fit made mistakes to its end.
    """

    mistakes: list[int] = field(default_factory=list)
    ended: str = "max_iter"
    objective: float = np.nan
    separable: bool = False


class Task(NamedTuple):
    """What is trained by itself: a trainer with all that its passes need.

    Attributes
    ----------
    accuracy : callable, optional
        Share of right answers of planes on all rows, for the pocket.
    validation_score : callable, optional
        How good the planes to predict with are on rows kept apart; it stands in for the loss.
    objective : callable, optional
        Of planes on all rows: for averaged ones, which are not those that a pass is made with.
    growing : Objective, optional
        The same, where steps grow with the miss and may lead away.
    label : object
        The class that the plane tells from the rest; None if there is one task only.
    memory : InMemory, optional
        The trainer's rows.
    unequal_classes : bool
        Classes have different weights. Runs of right answers, which light rows break as heavy ones do, then say little
        of a plane: the pocket looks at that of every pass too.
    """

    trainer: Trainer
    rule: Array
    accuracy: PlaneMetric | None = None
    validation_score: PlaneMetric | None = None
    objective: PlaneMetric | None = None
    growing: Objective | None = None
    label: Any = None
    memory: InMemory | None = None
    unequal_classes: bool = False


def train(task: Task, control: Control, report: Report | None = None) -> Record:
    """Make all passes of a task.

    Parameters
    ----------
    task : Task
        Its trainer's learner is changed.
    """
    trainer = task.trainer
    looked_at = report is not None or task.validation_score is not None or trainer.learner.pocket is not None
    if not looked_at and isinstance(trainer, OnePlane) and trainer.suits_many_passes(task.rule):
        return _pass_after_pass(task, trainer, control)
    *_, record = run_passes(task, control, report)
    return record


def _pass_after_pass(task: Task, trainer: OnePlane, control: Control) -> Record:
    """The passes of `run_passes`, many in one call: on a small table Python would take most of the time."""
    rule, record, watch = task.rule.copy(), Record(), np.zeros(at.WATCH_SIZE)
    rule[at.TRACK_LOSS] = float(control.tol is not None)
    watch[at.TOL] = np.nan if control.tol is None else control.tol
    watch[at.PATIENCE], watch[at.ADAPTIVE], watch[at.TOTAL] = control.patience, control.adaptive, trainer.total
    watch[at.BEST], watch[at.OBJECTIVE] = np.inf, np.nan
    start, most = _last(trainer), max(1, KEPT_VISITS // trainer.length)
    while len(record.mistakes) < control.max_iter and not watch[at.ENDED]:
        made = len(record.mistakes)
        many = min(max(made, _FIRST_PASSES), most, control.max_iter - made)
        record.mistakes += trainer.walk_on(made + 1, many, rule, watch)
    record.ended, record.objective = _ENDS[int(watch[at.ENDED])], float(watch[at.OBJECTIVE])
    if record.ended != "overflow" and _has_gone_astray(task, start):
        record.ended = "diverging"
    return record


def run_passes(task: Task, control: Control, report: Report | None = None) -> Iterator[Record]:
    """Pass over the rows until a pass changes nothing, improves nothing, or max_iter is reached.

    Yields
    ------
    Record
        The same after each pass, brought up to date.
    """
    trainer, rule, record = task.trainer, task.rule.copy(), Record()
    counts, stopping = trainer.counts, _Stopping(task, control)
    rule[at.TRACK_LOSS] = float(report is not None or control.tol is not None)
    if task.accuracy is not None and trainer.learner.pocket is not None:
        trainer.learner.pocket.accuracy[trainer.planes] = _quietly(task.accuracy, *_last(trainer))
        counts[at.BEST_RUN] = -1.0 if rule[at.POCKET] == at.EVERY else 0.0
    start = _last(trainer)
    for number in range(1, control.max_iter + 1):
        before, counts[at.LOSS_SUM] = counts.copy(), 0.0
        trainer.begin(number)
        finite = run_pass(trainer, rule, task.accuracy)
        record.mistakes.append(int(counts[at.MISTAKES] - before[at.MISTAKES]))
        if report is not None:
            report(number, float(counts[at.LOSS_SUM] / trainer.total))
        if finite and (rule[at.TRACK_LOSS] or trainer.squared_gradient is not None):
            record.objective = _objective(trainer, rule)
        if not finite:
            record.ended = "overflow"
        elif counts[at.UPDATES] == before[at.UPDATES] and not _shrinks(rule):
            record.ended = "no_updates"
        elif control.tol is not None:
            record.ended = stopping.after_pass(record.objective, rule)
        last = record.ended != "max_iter" or number == control.max_iter
        if last and finite and _has_gone_astray(task, start):
            record.ended = "diverging"
        if last or task.unequal_classes:
            update_pocket(trainer, task.accuracy, of_any_run=task.unequal_classes)
        if last:
            counts[at.BEST_RUN] = max(0.0, counts[at.BEST_RUN])
        if record.ended == "no_updates" and control.tol is None:
            trainer.learner.average_on(trainer.planes, (control.max_iter - number) * trainer.length, rule)
        yield record
        if last:
            return


def _has_gone_astray(task: Task, start: tuple[Array, Array]) -> bool:
    """Whether the planes to predict with are far worse than those that the fit began with, and than planes of 0."""
    if task.growing is None:
        return False
    coef, intercept = task.trainer.learner.coefficients(task.trainer.planes)
    coefs, intercepts = np.stack([coef, start[0], np.zeros_like(coef)]), np.array([intercept, start[1], 0.0])
    with np.errstate(over="ignore", invalid="ignore"):
        found, *before = task.growing.of_planes(coefs, intercepts)
    return not found <= _WORSE * max(before)


class _Stopping:
    """Whether the passes of a task still improve what is watched.

    Parameters
    ----------
    control : Control
        With a `tol`.
    """

    def __init__(self, task: Task, control: Control) -> None:
        self.task, self.control = task, control
        self.best = self.squared_gradient = np.inf
        self.waited = self.rises = 0

    def after_pass(self, objective: float, rule: Array) -> str:
        """How the passes end, as in `Record`; "max_iter" if they go on. An adaptive rate is lowered in `rule`."""
        task, control, gradient = self.task, self.control, self.task.trainer.squared_gradient
        watched = self._watched(objective)
        self.waited = 0 if self._improves(watched) else self.waited + 1
        self.best = min(self.best, watched)
        self.rises = self.rises + 1 if gradient is not None and gradient > _DIVERGING * self.squared_gradient else 0
        self.squared_gradient = task.trainer.squared_gradient or self.squared_gradient
        ended = "max_iter"
        if self.rises >= control.patience:  # steps are too long for a loss that grows with the square of the miss
            ended = "diverging"
        if self.waited >= control.patience:
            if not (control.adaptive and rule[at.ETA] > at.SMALLEST_RATE):
                return "no_improvement"
            rule[at.ETA] /= at.RATE_DIVISOR
            self.waited = 0
        return ended

    def _watched(self, objective: float) -> float:
        """What should fall: the loss on held-out rows, the objective of the averaged planes, or that of the pass."""
        trainer, metric, sign = self.task.trainer, self.task.validation_score, -1.0
        if metric is None:
            metric, sign = self.task.objective, 1.0
        if metric is None:
            return objective
        with np.errstate(over="ignore", invalid="ignore"):
            planes = trainer.learner.coefficients(trainer.planes)
        return sign * _quietly(metric, *planes)

    def _improves(self, watched: float) -> bool:
        """Whether a pass brought an improvement of `tol`.

        Where a pass is one step along the gradient, what it improves is the squared gradient times the rate: a short
        step does not mean that there is nothing left to improve, nor a step too far that there is not.
        """
        tol = np.inf if self.control.tol is None else self.control.tol
        gradient = self.task.trainer.squared_gradient
        of_the_pass = self.task.validation_score is None and self.task.objective is None
        if gradient is not None and of_the_pass and not self.control.adaptive:
            return gradient > tol
        return not watched > self.best - tol


def run_pass(trainer: Trainer, rule: Array, accuracy: PlaneMetric | None = None) -> bool:
    """Learn from all visits of a pass that has begun.

    Parameters
    ----------
    accuracy : callable, optional
        As in `Task`.

    Returns
    -------
    bool
        False if a number was not finite.
    """
    position = 0
    with np.errstate(over="ignore", invalid="ignore"):
        while position < trainer.length:
            position = trainer.advance(position, trainer.length, rule)
            if trainer.counts[at.NOT_FINITE]:
                return False
            if position < trainer.length:  # the weights are about to change, after a long run of right answers
                update_pocket(trainer, accuracy)
                trainer.counts[at.RUN] = min(0.0, trainer.counts[at.BEST_RUN])
    learner, planes = trainer.learner, trainer.planes
    state = learner.states[planes]
    learnt = [learner.weights[planes], state[..., at.INTERCEPT]]
    if rule[at.AVERAGE_FROM]:  # the sums are 0 otherwise
        learnt += [learner.sums[planes], state[..., at.INTERCEPT_SUM]]
    return all(np.isfinite(each).all() for each in learnt)


def update_pocket(trainer: Trainer, accuracy: PlaneMetric | None, of_any_run: bool = False) -> None:
    """Put the present weights into the pocket if they are better than those in it.

    They are if, where all rows are there to judge, they answer more of them rightly; and with Gallant's pocket only if
    their run of right answers is longer.

    Parameters
    ----------
    accuracy : callable or None
        As in `Task`; None if not all rows are there.
    of_any_run : bool
        Do not look at the length of the run.
    """
    pocket, counts, planes = trainer.learner.pocket, trainer.counts, trainer.planes
    if pocket is None or not (of_any_run or counts[at.RUN] > counts[at.BEST_RUN]):
        return
    coef, intercept = _last(trainer)
    share = 0.0 if accuracy is None else _quietly(accuracy, coef, intercept)
    if accuracy is None or share > np.max(pocket.accuracy[planes]):
        pocket.coef[planes], pocket.intercept[planes], pocket.accuracy[planes] = coef, intercept, share
        if counts[at.BEST_RUN] >= 0.0:
            counts[at.BEST_RUN] = max(counts[at.RUN], counts[at.BEST_RUN])


def _last(trainer: Trainer) -> tuple[Array, Array]:
    return trainer.learner.last_coefficients(trainer.planes)


def _quietly(metric: PlaneMetric, coef: Array, intercept: Array) -> float:
    """A metric of planes that may have grown too large: it is then infinite or NaN, and no better than any other."""
    with np.errstate(over="ignore", invalid="ignore"):
        return metric(coef, intercept)


def _shrinks(rule: Array) -> bool:
    """Whether weights change at every step, by the penalty."""
    return bool(rule[at.ALPHA] > 0.0 and rule[at.RATE] < at.PASSIVE_AGGRESSIVE_1)


def _objective(trainer: Trainer, rule: Array) -> float:
    """Mean loss of the pass, as it went, with the penalty at its end."""
    mean = float(trainer.counts[at.LOSS_SUM] / trainer.total)
    if not _shrinks(rule):
        return mean
    with np.errstate(over="ignore"):  # an infinite penalty is no improvement
        square = trainer.learner.squared_norm(trainer.planes)
        if rule[at.PENALISE_INTERCEPT]:
            square += float(np.sum(np.square(_last(trainer)[1])))
    return mean + 0.5 * float(rule[at.ALPHA] * square)
