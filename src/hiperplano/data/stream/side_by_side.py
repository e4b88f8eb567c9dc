"""Threads that read and sum runs of chunks in parallel; results are returned in the order of the runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event
from typing import TypeVar

from hiperplano.data.parallel.blas import guard, one_blas_thread
from hiperplano.data.parallel.threads import one_worker
from hiperplano.data.stream.source import Source

Result = TypeVar("Result")
Item = TypeVar("Item")
Run = list[int]

_MOST = 1024  # most chunks in a run, so that little work is lost if a pass is interrupted


def runs_of(source: Source, chunks: Sequence[int]) -> list[Run]:
    """Runs of consecutive chunks: a new one begins where reading can begin, and where a run would be too long.

    Rows that can be read only from the beginning are not grouped.
    """
    most = _MOST if sum(map(source.can_begin, chunks)) > 1 else 1
    runs: list[Run] = []
    for chunk in chunks:
        if not runs or source.can_begin(chunk) or len(runs[-1]) >= most:
            runs.append([])
        runs[-1].append(chunk)
    return runs


@contextmanager
def side_by_side(
    function: Callable[[Run, Event], Result], runs: Sequence[Run], workers: int
) -> Iterator[Iterator[Result]]:
    """Results of a function for the runs, in order; at most one more result than there are threads is waiting.

    When the block is left, even by an error or Ctrl-C, no thread is working: the function must check the event, as
    `until` does.
    """
    stopped = Event()
    with one_blas_thread(), ThreadPoolExecutor(workers, thread_name_prefix="hiperplano-reader") as pool:

        def work(run: Run) -> Result:
            guard.limit_this_thread()
            with one_worker():
                return function(run, stopped)

        try:
            yield _in_order(lambda run: pool.submit(copy_context().run, work, run), runs, workers + 1)
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def _in_order(begin: Callable[[Run], Future[Result]], runs: Sequence[Run], ahead: int) -> Iterator[Result]:
    begun: deque[Future[Result]] = deque()
    for run in runs:
        begun.append(begin(run))
        if len(begun) > ahead:
            yield begun.popleft().result()
    while begun:
        yield begun.popleft().result()


def until(stopped: Event, items: Iterator[Item]) -> Iterator[Item]:
    """The items, until the event is set."""
    for item in items:
        if stopped.is_set():
            raise CancelledError
        yield item
