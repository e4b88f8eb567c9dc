"""Online training: the number of passes, the stopping criteria, and the record of the passes."""

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
"""Function of coefficients and intercepts that returns a number."""
Report = Callable[[int, float], None]
"""Called with the number of each pass and its mean loss."""

# A fit has diverged if its objective exceeds this multiple of that of its start and of zero planes.
_DIVERGED_OBJECTIVE = 100.0
_RISE = 2.0  # growth of the squared gradient in one pass that counts as a rise; several in a row mean divergence
_FIRST_PASSES = 8  # passes of the first compiled call; each later call makes as many as were made before
_ENDS = {0: "max_iter", at.NO_UPDATES: "no_updates", at.NO_IMPROVEMENT: "no_improvement", at.OVERFLOW: "overflow"}


@dataclass(frozen=True)
class Control:
    """When passes end.

    Attributes
    ----------
    tol : float or None
        Least improvement of the mean loss, or of the score on held-out rows, that counts; for full-batch steps, the
        least squared gradient. None: no such criterion.
    patience : int
        Passes without such an improvement before training ends.
    adaptive : bool
        Divide the rate by 5 instead of ending, until the rate is tiny.
    """

    max_iter: int = 1
    tol: float | None = None
    patience: int = 5
    adaptive: bool = False


@dataclass
class Record:
    """Outcome of the passes of a task.

    Attributes
    ----------
    mistakes : list of int
        Number of mistakes in each pass.
    ended : str
        "no_updates" (a pass changed nothing), "no_improvement" (for a while), "diverging" (the gradient kept growing,
        or the planes are far worse than those at the start), "max_iter", or "overflow" (a number was not finite).
    objective : float
        Mean loss during the last pass, plus the penalty at its end, if it was tracked.
    separable : bool
        Whether a separating plane was found, although the last pass of the fit still made mistakes.
    """

    mistakes: list[int] = field(default_factory=list)
    ended: str = "max_iter"
    objective: float = np.nan
    separable: bool = False


class Task(NamedTuple):
    """One independent training task: a trainer and what its passes need.

    Attributes
    ----------
    accuracy : callable, optional
        Accuracy of planes on all rows, for the pocket.
    validation_score : callable, optional
        Score of the predicting planes on held-out rows; it replaces the loss in the stopping criterion.
    objective : callable, optional
        Objective of planes on all rows. It is needed for averaged planes, which differ from those of the pass.
    growing : Objective, optional
        The objective, for losses with unbounded slopes, whose steps may diverge.
    label : object
        The class that the plane tells from the rest; None if there is one task only.
    memory : InMemory, optional
        The trainer's rows.
    unequal_classes : bool
        Whether classes have different weights. Runs of correct answers ignore weights, so the pocket then also judges
        the plane at the end of every pass.
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
        The task; its trainer's learner is modified.
    """
    trainer = task.trainer
    looked_at = report is not None or task.validation_score is not None or trainer.learner.pocket is not None
    if not looked_at and isinstance(trainer, OnePlane) and trainer.suits_many_passes(task.rule):
        return _compiled_passes(task, trainer, control)
    *_, record = run_passes(task, control, report)
    return record


def _compiled_passes(task: Task, trainer: OnePlane, control: Control) -> Record:
    """Make the passes of `run_passes`, several per compiled call.

    On a small table, Python would otherwise dominate the time.
    """
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
    if record.ended != "overflow" and _has_diverged(task, start):
        record.ended = "diverging"
    return record


def run_passes(task: Task, control: Control, report: Report | None = None) -> Iterator[Record]:
    """Pass over the rows until a pass changes nothing, improves nothing, or max_iter is reached.

    Yields
    ------
    Record
        The same object after each pass, updated.
    """
    trainer, rule, record = task.trainer, task.rule.copy(), Record()
    counts, stopping = trainer.counts, _Stopping(task, control)
    rule[at.TRACK_LOSS] = float(report is not None or control.tol is not None)
    if task.accuracy is not None and trainer.learner.pocket is not None:
        trainer.learner.pocket.accuracy[trainer.planes] = _evaluated_silently(task.accuracy, *_last(trainer))
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
        if last and finite and _has_diverged(task, start):
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


def _has_diverged(task: Task, start: tuple[Array, Array]) -> bool:
    """Whether the predicting planes are far worse than both those at the start and zero planes."""
    if task.growing is None:
        return False
    coef, intercept = task.trainer.learner.coefficients(task.trainer.planes)
    coefs, intercepts = np.stack([coef, start[0], np.zeros_like(coef)]), np.array([intercept, start[1], 0.0])
    with np.errstate(over="ignore", invalid="ignore"):
        found, *before = task.growing.of_planes(coefs, intercepts)
    return not found <= _DIVERGED_OBJECTIVE * max(before)


class _Stopping:
    """Stopping criterion: whether passes still improve the watched quantity.

    Parameters
    ----------
    control : Control
        Control with a `tol`.
    """

    def __init__(self, task: Task, control: Control) -> None:
        self.task, self.control = task, control
        self.best = self.squared_gradient = np.inf
        self.waited = self.rises = 0

    def after_pass(self, objective: float, rule: Array) -> str:
        """Return how the passes end, as in `Record`, or "max_iter" if they go on. Lowers an adaptive rate in `rule`."""
        task, control, gradient = self.task, self.control, self.task.trainer.squared_gradient
        watched = self._watched(objective)
        self.waited = 0 if self._improves(watched) else self.waited + 1
        self.best = min(self.best, watched)
        self.rises = self.rises + 1 if gradient is not None and gradient > _RISE * self.squared_gradient else 0
        self.squared_gradient = task.trainer.squared_gradient or self.squared_gradient
        if self.rises >= control.patience:  # steps are too long for a loss that grows quadratically
            return "diverging"
        if self.waited >= control.patience:
            if not (control.adaptive and rule[at.ETA] > at.SMALLEST_RATE):
                return "no_improvement"
            rule[at.ETA] /= at.RATE_DIVISOR
            self.waited = 0
        return "max_iter"

    def _watched(self, objective: float) -> float:
        """The quantity to minimise.

        It is minus the score on held-out rows, the objective of the averaged planes, or that of the pass.
        """
        trainer, metric, sign = self.task.trainer, self.task.validation_score, -1.0
        if metric is None:
            metric, sign = self.task.objective, 1.0
        if metric is None:
            return objective
        with np.errstate(over="ignore", invalid="ignore"):
            planes = trainer.learner.coefficients(trainer.planes)
        return sign * _evaluated_silently(metric, *planes)

    def _improves(self, watched: float) -> bool:
        """Whether a pass improved the watched quantity by more than `tol`.

        If a pass is one gradient step, the squared gradient is compared with `tol` instead: the improvement also
        depends on the rate, so a small one does not mean that the optimum is near.
        """
        tol = np.inf if self.control.tol is None else self.control.tol
        gradient = self.task.trainer.squared_gradient
        of_the_pass = self.task.validation_score is None and self.task.objective is None
        if gradient is not None and of_the_pass and not self.control.adaptive:
            return gradient > tol
        return not watched > self.best - tol


def run_pass(trainer: Trainer, rule: Array, accuracy: PlaneMetric | None = None) -> bool:
    """Learn from all visits of the pass that was begun.

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
            if position < trainer.length:  # stopped before weights with a new longest run change
                update_pocket(trainer, accuracy)
                trainer.counts[at.RUN] = min(0.0, trainer.counts[at.BEST_RUN])
    learner, planes = trainer.learner, trainer.planes
    state = learner.states[planes]
    learnt = [learner.weights[planes], state[..., at.INTERCEPT]]
    if rule[at.AVERAGE_FROM]:  # the sums are 0 otherwise
        learnt += [learner.sums[planes], state[..., at.INTERCEPT_SUM]]
    return all(np.isfinite(each).all() for each in learnt)


def update_pocket(trainer: Trainer, accuracy: PlaneMetric | None, of_any_run: bool = False) -> None:
    """Put the current weights into the pocket if they are better than those in it.

    If all rows are available, they must classify more of them correctly. With Gallant's pocket, their run of correct
    answers must also be longer.

    Parameters
    ----------
    accuracy : callable or None
        As in `Task`; None if not all rows are available.
    of_any_run : bool
        Ignore the length of the run.
    """
    pocket, counts, planes = trainer.learner.pocket, trainer.counts, trainer.planes
    if pocket is None or not (of_any_run or counts[at.RUN] > counts[at.BEST_RUN]):
        return
    coef, intercept = _last(trainer)
    share = 0.0 if accuracy is None else _evaluated_silently(accuracy, coef, intercept)
    if accuracy is None or share > np.max(pocket.accuracy[planes]):
        pocket.coef[planes], pocket.intercept[planes], pocket.accuracy[planes] = coef, intercept, share
        if counts[at.BEST_RUN] >= 0.0:
            counts[at.BEST_RUN] = max(counts[at.RUN], counts[at.BEST_RUN])


def _last(trainer: Trainer) -> tuple[Array, Array]:
    return trainer.learner.last_coefficients(trainer.planes)


def _evaluated_silently(metric: PlaneMetric, coef: Array, intercept: Array) -> float:
    """Evaluate a metric without overflow warnings.

    It is infinite or NaN for diverged planes, and so never an improvement.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return metric(coef, intercept)


def _shrinks(rule: Array) -> bool:
    """Whether the penalty changes the weights at every step."""
    return bool(rule[at.ALPHA] > 0.0 and rule[at.RATE] < at.PASSIVE_AGGRESSIVE_1)


def _objective(trainer: Trainer, rule: Array) -> float:
    """Mean loss during the pass, plus the penalty at its end."""
    mean = float(trainer.counts[at.LOSS_SUM] / trainer.total)
    if not _shrinks(rule):
        return mean
    with np.errstate(over="ignore"):  # an infinite penalty is never an improvement
        square = trainer.learner.squared_norm(trainer.planes)
        if rule[at.PENALISE_INTERCEPT]:
            square += float(np.sum(np.square(_last(trainer)[1])))
    return mean + 0.5 * float(rule[at.ALPHA] * square)
