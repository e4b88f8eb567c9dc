"""Threads that do not change results: each processes whole blocks, and results are combined in block order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial, reduce
from operator import iadd
from typing import Generic, TypeVar

from hiperplano.data.parallel.blas import guard, one_blas_thread
from hiperplano.data.parallel.helpers import give_back, take_helpers

Item = TypeVar("Item")
Result = TypeVar("Result")


def worker_count() -> int:
    """Number of threads: the smallest of the usable cores, BLAS's limit and the two environment variables."""
    if _alone.get():
        return 1
    limits = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    limits += [int(value) for name in _VARIABLES if (value := os.environ.get(name, "")).isdigit()]
    return max(1, min(*limits, guard.allowed()))


@contextmanager
def one_worker() -> Iterator[None]:
    """Run the body without further threads, for one of many tasks that already run in parallel."""
    before = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(before)


_alone = ContextVar("one_worker", default=False)
_LARGE = 2**17  # numbers from which a second thread saves time
_VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], n_cells: int) -> list[Result]:
    """`map` for columns of a table, in threads if there are enough cells."""
    return ordered_map(function, items, worker_count() if n_cells >= _LARGE else 1)


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> list[Result]:
    """`map` in threads, like `ordered_reduce`."""
    chosen = list(items)
    return ordered_reduce(lambda item: [function(item)], chosen, iadd, workers) if chosen else []


def ordered_reduce(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    combine: Callable[[Result, Result], Result],
    workers: int,
) -> Result:
    """`reduce(combine, map(function, items))` in threads, with the same bits for any number of threads.

    Results are combined in the order of the items, and only a few are waiting. The caller is one of the workers; the
    others share its context, so that `np.errstate` around a fold applies inside it.
    """
    workers = min(workers, len(items))
    with one_blas_thread():
        if workers <= 1:
            return reduce(combine, map(function, items))
        work = _Work(function, items, combine, waiting=2 * workers)
        helpers = take_helpers(workers - 1)
        try:
            for helper in helpers:
                helper.start(partial(copy_context().run, work.help))
            work.run()
        finally:  # no thread is working after the call, whatever happened
            work.stop()
            for helper in helpers:
                helper.finish()
        give_back(helpers)  # unless the call was interrupted, perhaps before all had finished
        return work.result()


class _Work(Generic[Item, Result]):
    """Items to be processed by several threads, and their results."""

    def __init__(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        combine: Callable[[Result, Result], Result],
        waiting: int,
    ) -> None:
        self._function, self._items, self._combine, self._waiting = function, items, combine, waiting
        self._changed = threading.Condition()
        self._taken = 0
        self._parts: dict[int, Result] = {}
        self._total: list[Result] = []  # empty, or one element
        self._combined = 0
        self._someone_combines = False
        self._problems: dict[int, BaseException] = {}
        self._stopped = False

    def help(self) -> None:
        """The work of a helper thread."""
        try:
            guard.limit_this_thread()
        except BaseException as problem:
            self._problems[-1] = problem
            self.stop()
        else:
            self.run()

    def run(self) -> None:
        """Take items and hand in their results until there are no more."""
        while (place := self._next()) is not None:
            try:
                self._hand_in(place, self._function(self._items[place]))
            except BaseException as problem:  # raised again by `result`, in the caller
                self._problems[place] = problem
                self.stop()

    def stop(self) -> None:
        """Let no thread take another item."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def result(self) -> Result:
        """All results combined, or the exception of the first item that raised one."""
        if self._problems:
            problems, self._problems = self._problems, {}
            raise problems[min(problems)]
        return self._total[0]

    def _next(self) -> int | None:
        with self._changed:
            while self._taken - self._combined > self._waiting and not self._stopped:
                self._changed.wait()
            if self._stopped or self._taken == len(self._items):
                return None
            self._taken += 1
            return self._taken - 1

    def _hand_in(self, place: int, part: Result) -> None:
        """Store a result, and combine those whose turn it is, unless another thread is doing so."""
        with self._changed:
            self._parts[place] = part
            if self._someone_combines:
                return
            self._someone_combines = True
        while True:
            with self._changed:
                if self._combined not in self._parts:
                    self._someone_combines = False
                    return
                part = self._parts.pop(self._combined)
            self._total = [self._combine(self._total[0], part)] if self._total else [part]
            with self._changed:
                self._combined += 1
                self._changed.notify_all()
