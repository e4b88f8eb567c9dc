"""Learning one example at a time: how many passes there are, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.courses import Course

Judge = Callable[[Array, Array], float]
"""(coefficients, intercepts) → how good they are, more is better."""

_GROWS = 2.0  # a squared gradient that is multiplied by this in pass after pass will not come back
_SLOWER = 5.0  # an adaptive rate is divided by this,
_SLOWEST = 1e-6  # but not below this


@dataclass(frozen=True)
class Control:
    """When passes end.

    Attributes
    ----------
    max_iter : int
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
    """How the passes of a course went: mistakes in each, and whether a pass changed nothing ("clean"), none improved
    for a while ("still"), the gradient grew and grew ("rising"), all were made ("passes"), or a number was not finite
    ("overflow")."""

    mistakes: list[int] = field(default_factory=list)
    ended: str = "passes"
    objective: float = np.nan  # mean loss along the last pass, with the penalty at its end, if it was watched


class Lesson(NamedTuple):
    """A course with all that its passes need.

    Attributes
    ----------
    course : Course
    rule : ndarray
    right : callable, optional
        Judges weights for the pocket on all rows.
    held_out : callable, optional
        Judges the planes to predict with on rows kept apart, in place of the loss.
    cost : callable, optional
        The objective of planes on all rows: for averaged ones, which are not those that a pass is made with.
    label : object
        The class that the plane tells from the rest; None if there is one course only.
    numbers : ndarray, optional
        Of the course's rows among those that the caller gave, if some were held out.
    uneven : bool
        Rows have classes of different weights. Runs of right answers, which light rows break as heavy ones do, then say
        little of a plane: the pocket looks at that of every pass too.
    """

    course: Course
    rule: Array
    right: Judge | None = None
    held_out: Judge | None = None
    cost: Judge | None = None
    label: Any = None
    numbers: Array | None = None
    uneven: bool = False


def train(lesson: Lesson, control: Control, report: Callable[[int, float], None] | None = None) -> Record:
    """Make all passes of a lesson."""
    *_, record = passes(lesson, control, report)
    return record


def passes(lesson: Lesson, control: Control, report: Callable[[int, float], None] | None = None) -> Iterator[Record]:
    """Pass over the rows until a pass changes nothing, improves nothing, or max_iter is reached; yield after each.

    `report` is told the number and the mean loss of each pass.
    """
    course, rule, right, held_out, cost, *_ = lesson
    rule, record, counts = rule.copy(), Record(), course.counts
    rule[at.WATCH] = float(report is not None or control.tol is not None)
    best, waited, rises, steepness = np.inf, 0, 0, np.inf
    if right is not None:
        _start_pocket(course, right)
    for number in range(1, control.max_iter + 1):
        before, counts[at.LOSS_SUM] = counts.copy(), 0.0
        course.begin(number)
        good = one_pass(course, rule, right)
        record.mistakes.append(int(counts[at.MISTAKES] - before[at.MISTAKES]))
        if report is not None:
            report(number, float(counts[at.LOSS_SUM] / course.total))
        if good and (rule[at.WATCH] or course.steepness is not None):
            record.objective = _objective(course, rule)
        if not good:
            record.ended = "overflow"
        elif counts[at.UPDATES] == before[at.UPDATES] and not _shrinks(rule):
            record.ended = "clean"
        elif control.tol is not None:
            now = record.objective
            with np.errstate(over="ignore", invalid="ignore"):  # rows without weight may hold anything
                if held_out is not None:
                    now = -held_out(*published(course))
                elif cost is not None:
                    now = cost(*published(course))
            waited = waited + 1 if _is_still(course, control, now, best, held_out is None and cost is None) else 0
            best = min(best, now)
            rises = rises + 1 if course.steepness is not None and course.steepness > _GROWS * steepness else 0
            steepness = course.steepness or steepness
            if rises >= control.patience:  # steps are too long for a loss that grows with the square of the miss
                record.ended = "rising"
            if waited >= control.patience:
                if control.adaptive and rule[at.ETA] > _SLOWEST:
                    rule[at.ETA] /= _SLOWER
                    waited = 0
                else:
                    record.ended = "still"
        last = record.ended != "passes" or number == control.max_iter
        if last or lesson.uneven:
            keep_if_better(course, right, of_any_run=lesson.uneven)
        yield record
        if last:
            return


def one_pass(course: Course, rule: Array, right: Judge | None = None) -> bool:
    """Learn from all visits of a pass that has begun; False if a number was not finite."""
    position = 0
    with np.errstate(over="ignore", invalid="ignore"):
        while position < course.length:
            position = course.advance(position, course.length, rule)
            if course.counts[at.NOT_FINITE]:
                return False
            if position < course.length:  # the weights are about to change, after a long run of right answers
                keep_if_better(course, right)
                course.counts[at.RUN] = 0.0
        learner, planes = course.learner, course.planes
        intercepts = learner.states[planes][..., [at.INTERCEPT, at.INTERCEPT_SUM]]
        parts = learner.weights[planes], learner.sums[planes], intercepts
        return all(np.isfinite(np.sum(part)) for part in parts)


def keep_if_better(course: Course, right: Judge | None, of_any_run: bool = False) -> None:
    """Put the present weights into the pocket if their run of right answers is longer than the kept ones' (Gallant's
    pocket) and, where all rows are there to judge, they answer more of them rightly (his ratchet)."""
    pocket, counts, planes = course.learner.pocket, course.counts, course.planes
    if pocket is None or not (of_any_run or counts[at.RUN] > counts[at.BEST_RUN]):
        return
    coef, intercept = present(course)
    with np.errstate(over="ignore", invalid="ignore"):  # rows without weight may hold anything
        share = 0.0 if right is None else right(coef, intercept)
    if right is None or share > np.max(pocket.right[planes]):
        pocket.coef[planes], pocket.intercept[planes], pocket.right[planes] = coef, intercept, share
        counts[at.BEST_RUN] = max(counts[at.RUN], counts[at.BEST_RUN])


def _start_pocket(course: Course, right: Judge) -> None:
    pocket = course.learner.pocket
    if pocket is not None:
        with np.errstate(over="ignore", invalid="ignore"):  # rows without weight may hold anything
            pocket.right[course.planes] = right(*present(course))


def present(course: Course) -> tuple[Array, Array]:
    """Weights and intercepts at this moment."""
    learner, planes = course.learner, course.planes
    return course.counts[at.SCALE] * learner.weights[planes], learner.states[planes, at.INTERCEPT]


def published(course: Course) -> tuple[Array, Array]:
    """Weights and intercepts to predict with: from the pocket, averaged, or those at this moment."""
    learner, planes = course.learner, course.planes
    if learner.pocket is not None:
        return learner.pocket.coef[planes], learner.pocket.intercept[planes]
    state = learner.states[planes]
    steps = state[..., at.AVERAGED]
    if not steps.any():
        return present(course)
    sums = state[..., at.MASS, None] * learner.weights[planes] - learner.sums[planes]
    return sums / steps[..., None], state[..., at.INTERCEPT_SUM] / steps


def _is_still(course: Course, control: Control, now: float, best: float, watched: bool) -> bool:
    """Whether a pass did not bring an improvement of `tol`.

    Where a pass is one step along the gradient, what it improves is the squared gradient times the rate: a short step
    does not mean that there is nothing left to improve, nor a step too far that there is not.
    """
    tol = np.inf if control.tol is None else control.tol
    if watched and course.steepness is not None and not control.adaptive:
        return course.steepness <= tol
    return now > best - tol


def _shrinks(rule: Array) -> bool:
    """Whether weights change at every step, by the penalty."""
    return bool(rule[at.ALPHA] > 0.0 and rule[at.RATE] < at.PASSIVE_AGGRESSIVE_1)


def _objective(course: Course, rule: Array) -> float:
    """Mean loss of the pass, as it went, with the penalty at its end."""
    coef, intercept = present(course)
    mean = float(course.counts[at.LOSS_SUM] / course.total)
    if not _shrinks(rule):
        return mean
    square = np.sum(np.square(coef)) + (np.sum(np.square(intercept)) if rule[at.BIAS_SHRINKS] else 0.0)
    return mean + 0.5 * float(rule[at.ALPHA] * square)
