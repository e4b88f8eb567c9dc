"""Time contenders in turns: a round lets each of them run, so that whatever slows the machine slows all."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.workload import Answer, Contender

Say = Callable[[str], None]


class Plan(NamedTuple):
    """How much to repeat.

    Attributes
    ----------
    rounds : int
    budget : float
        Seconds: a contender whose runs would together take longer is not run again.
    shortest : float
        Seconds: a single fit that takes less is repeated within its turn.
    clock : callable, () -> seconds
    """

    rounds: int = 5
    budget: float = 60.0
    shortest: float = 0.2
    clock: Callable[[], float] = perf_counter


@dataclass
class Entry:
    """A contender in a running race."""

    contender: Contender[Any]
    runs: list[float] = field(default_factory=list)
    answer: Answer | None = None
    note: str = ""
    failed: bool = False
    repeats: int = 1
    spent: float = 0.0

    def exhausted(self, budget: float) -> bool:
        """Whether another turn, as long as the average so far, would pass the budget."""
        return bool(self.runs) and self.spent + self.spent / len(self.runs) > budget

    def attempt(self, work: Callable[[], object]) -> None:
        """Do something with the contender; an exception takes it out of the race, a warning is noted."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                work()
            except Exception as problem:  # whatever a library raises is its result
                self.failed, self.runs, self.answer = True, [], None
                self.note = f"failed: {_one_line(problem)}"
                return
        if caught and not self.note:
            self.note = f"warned: {_one_line(caught[0].message)}"


def warm_up(entries: Sequence[Entry], problem: Any) -> None:
    """Let everyone import and compile what it needs, on a small problem."""
    for entry in entries:
        entry.attempt(partial(entry.contender.solve, problem))
        if not entry.failed:
            entry.note = ""  # what it says about the small problem is of no interest


def one_round(entries: Sequence[Entry], problem: Any, plan: Plan, say: Say) -> None:
    """Give every contender its turn that is still in the race and within its budget."""
    for entry in entries:
        if entry.failed or entry.exhausted(plan.budget):
            continue
        entry.attempt(partial(_turn, entry, problem, plan))
        shown = entry.note if entry.failed else f"{entry.runs[-1]:.4g} s"
        say(f"    {entry.contender.name}: {shown}")


def _turn(entry: Entry, problem: Any, plan: Plan) -> None:
    """One measure: of a single fit, or of as many in a row as it takes to tell their time."""
    gc.collect()
    if entry.answer is None:
        once, entry.answer = _timed(entry, problem, 1, plan.clock)
        entry.repeats = max(1, ceil(plan.shortest / max(once, 1e-9)))
        if entry.repeats == 1:
            entry.runs.append(once)
            return
    each, _ = _timed(entry, problem, entry.repeats, plan.clock)
    entry.runs.append(each)


def _timed(entry: Entry, problem: Any, repeats: int, clock: Callable[[], float]) -> tuple[float, Answer]:
    """Seconds for each of some fits in a row, and the last answer."""
    solve = entry.contender.solve
    start = clock()
    for _ in range(repeats):
        answer = solve(problem)
    elapsed = clock() - start
    entry.spent += elapsed
    return elapsed / repeats, answer


def _one_line(problem: object) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())}"[:200]
