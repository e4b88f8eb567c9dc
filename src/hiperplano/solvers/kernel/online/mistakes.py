"""Learning from mistakes with a kernel: a count for each row, and the scores of all rows, brought up to date."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.gram_rows import CachedGram, HeldGram, sum_of_rows
from hiperplano.solvers.online.sampling_order import SamplingOrder

_LOOK = 64  # visits looked at before there are known to be more without a mistake


@dataclass(frozen=True)
class Passes:
    """When passes end, and what is kept.

    Attributes
    ----------
    tol : float or None
        The mean loss of a pass must fall by this much, in `patience` passes; None: go on until a pass has no mistake.
    budget : int or None
        Most rows with a count.
    """

    max_iter: int
    tol: float | None
    patience: int
    budget: int | None
    fit_intercept: bool


@dataclass
class Counts:
    """What a plane has learnt: f(x) = Σᵢ countᵢ·(k(xᵢ, x) + 1), the 1 only with an intercept.

    Attributes
    ----------
    count : ndarray of shape (n,)
        Mistakes at each row, times the sign of its class.
    late : ndarray of shape (n,)
        Sum over a row's mistakes of sign·(steps made before): count − late/steps is the mean over all steps.
    history : list of int
        The rows of the mistakes, in their order.
    mistakes : list of int
        In each pass.
    steps : int
        Examples met.
    ended : str
        "clean" (a pass without mistake), "no_improvement" or "max_iter".
    """

    count: Array
    late: Array
    history: list[int] = field(default_factory=list)
    mistakes: list[int] = field(default_factory=list)
    steps: int = 0
    ended: str = "max_iter"

    def averaged(self, all_steps: int) -> Array:
        """The mean of the counts over so many steps, of which the last ones changed nothing."""
        return np.asarray(self.count - self.late / max(1, all_steps))


def learn_counts(sign: Array, gram: HeldGram | CachedGram, order: SamplingOrder, passes: Passes) -> Counts:
    """The kernel perceptron: a row with sign·f(x) ≤ 0 when it is met is counted once more.

    Parameters
    ----------
    sign : ndarray of shape (n,)
        −1 or 1.
    gram : HeldGram or CachedGram
        Only the rows of mistakes are computed.
    """
    n = len(sign)
    learnt, scores = Counts(np.zeros(n), np.zeros(n)), np.zeros(n)
    best, waited = np.inf, 0
    for number in range(1, passes.max_iter + 1):
        visits = order.of_pass(number)[0]
        before, loss = len(learnt.history), 0.0
        place = 0
        while (place := _next_mistake(sign, scores, visits, place)) < len(visits):
            row = int(visits[place])
            loss -= sign[row] * scores[row]
            _count(learnt, row, sign[row], learnt.steps + place)
            _add(scores, gram, row, sign[row], passes.fit_intercept)
            if passes.budget is not None and np.count_nonzero(learnt.count) > passes.budget:
                _forget(learnt, scores, gram, passes.fit_intercept, learnt.steps + place)
            place += 1
        learnt.steps += len(visits)
        learnt.mistakes.append(len(learnt.history) - before)
        if learnt.mistakes[-1] == 0:
            learnt.ended = "clean"
            break
        if passes.tol is not None:
            waited = waited + 1 if loss / len(visits) > best - passes.tol else 0
            best = min(best, loss / len(visits))
            if waited >= passes.patience:
                learnt.ended = "no_improvement"
                break
    return learnt


def _next_mistake(sign: Array, scores: Array, visits: Array, place: int) -> int:
    """The first visit from here on whose row is on the wrong side, or on the plane; their number if there is none."""
    look = _LOOK
    while place < len(visits):
        rows = visits[place : place + look]
        wrong = sign[rows] * scores[rows] <= 0
        first = int(wrong.argmax())
        if wrong[first]:
            return place + first
        place, look = place + len(rows), 2 * look
    return len(visits)


def _count(learnt: Counts, row: int, change: float, steps: int) -> None:
    learnt.count[row] += change
    learnt.late[row] += change * steps
    learnt.history.append(row)


def _add(scores: Array, gram: HeldGram | CachedGram, row: int, factor: float, fit_intercept: bool) -> None:
    rows, factors = np.array([row]), np.array([factor])
    if isinstance(gram, HeldGram):
        scores += sum_of_rows(gram.gram, rows, factors)
    else:
        scores += gram.times(rows, factors)
    if fit_intercept:
        scores += factor


def _forget(learnt: Counts, scores: Array, gram: HeldGram | CachedGram, fit_intercept: bool, steps: int) -> None:
    """Remove the row with the least count; of several, the one that was counted first."""
    counted = np.flatnonzero(learnt.count)
    least = counted[np.abs(learnt.count[counted]) == np.abs(learnt.count[counted]).min()]
    row = next(row for row in learnt.history if row in set(least.tolist()))
    change = -learnt.count[row]
    learnt.late[row] += change * steps
    learnt.count[row] = 0.0
    _add(scores, gram, row, change, fit_intercept)
