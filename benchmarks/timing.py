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

from threadpoolctl import threadpool_limits

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
    threads : tuple of int
        Numbers of BLAS and OpenMP threads. Each contender tries all of them in its first turn, while its budget
        lasts, and keeps the fastest.
    """

    rounds: int = 5
    budget: float = 60.0
    shortest: float = 0.2
    clock: Callable[[], float] = perf_counter
    threads: tuple[int, ...] = (1,)


@dataclass
class Entry:
    """A contender in a running race."""

    contender: Contender[Any]
    runs: list[float] = field(default_factory=list)
    answer: Answer | None = None
    note: str = ""
    failed: bool = False
    threads: int | None = None
    repeats: int = 1
    turns: int = 0
    spent: float = 0.0

    def exhausted(self, budget: float) -> bool:
        """Whether another turn, as long as the average so far, would pass the budget."""
        return self.turns > 0 and self.spent + self.spent / self.turns > budget

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
        turn = _turn if entry.threads else _first_turn
        entry.attempt(partial(turn, entry, problem, plan))
        shown = entry.note if entry.failed else f"{entry.runs[-1]:.4g} s, {entry.threads} threads"
        say(f"    {entry.contender.name}: {shown}")


def _first_turn(entry: Entry, problem: Any, plan: Plan) -> None:
    """A measure with each number of threads; the fastest counts, and its number is kept.

    The first number gets a second measure: a contender may still import or compile something during its first fit.
    """
    found: list[tuple[float, int, int]] = []
    for threads in (*plan.threads, *plan.threads[: len(plan.threads) - 1]):
        if found and entry.exhausted(plan.budget):
            break
        with threadpool_limits(threads):
            gc.collect()
            seconds, entry.answer = _timed(entry, problem, 1, plan.clock)
            repeats = max(1, ceil(plan.shortest / max(seconds, 1e-9)))
            if repeats > 1:
                seconds, _ = _timed(entry, problem, repeats, plan.clock)
        entry.turns += 1
        found.append((seconds, threads, repeats))
    fastest, entry.threads, entry.repeats = min(found)
    entry.runs.append(fastest)


def _turn(entry: Entry, problem: Any, plan: Plan) -> None:
    """One measure: of a single fit, or of as many in a row as it takes to tell their time."""
    with threadpool_limits(entry.threads):
        gc.collect()
        seconds, _ = _timed(entry, problem, entry.repeats, plan.clock)
    entry.turns += 1
    entry.runs.append(seconds)


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
