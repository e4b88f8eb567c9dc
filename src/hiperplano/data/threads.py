"""Threads that never change an answer.

A BLAS that runs on two threads adds in another order than on one. So while rows are summed every BLAS call
has one thread, and the parallelism is ours: whole blocks, whose partial results are combined in block order.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401  loads SciPy's BLAS, so that the controller below finds it
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


class _BlasGuard:
    """Keeps every BLAS at one thread while at least one caller is inside.

    Most limits are global to the process, so callers are counted: the first sets them, the last restores them.
    A BLAS on OpenMP has a limit for each calling thread, which sets and restores its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callers = 0
        self._before: list[int] = []
        self._own = threading.local()

    def enter(self) -> None:
        stack = self._own.__dict__.setdefault("limits", [])
        stack.append([] if stack else _limits(_per_thread()))
        if len(stack) > 1:  # this thread is inside already
            return
        self.limit_this_thread()
        with self._lock:
            if self._callers == 0:
                self._before = _limits(_shared())
                _set_limits(_shared(), [1] * len(self._before))
            self._callers += 1

    def leave(self) -> None:
        before = self._own.limits.pop()
        if self._own.limits:
            return
        _set_limits(_per_thread(), before)
        with self._lock:
            self._callers -= 1
            if self._callers == 0:
                _set_limits(_shared(), self._before)

    def limit_this_thread(self) -> None:
        _set_limits(_per_thread(), [1] * len(_per_thread()))

    def allowed(self) -> int:
        """Threads that BLAS had before the guard took them."""
        stack = self._own.__dict__.get("limits")
        own = stack[0] if stack else _limits(_per_thread())
        with self._lock:
            before = self._before if self._callers else _limits(_shared())
        return min([*before, *own], default=1)


_guard = _BlasGuard()


@cache
def _blas_libraries() -> list[Any]:
    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]


def _per_thread() -> list[Any]:
    return [lib for lib in _blas_libraries() if getattr(lib, "threading_layer", "") == "openmp"]


def _shared() -> list[Any]:
    return [lib for lib in _blas_libraries() if getattr(lib, "threading_layer", "") != "openmp"]


def _limits(libraries: list[Any]) -> list[int]:
    return [library.get_num_threads() for library in libraries]


def _set_limits(libraries: list[Any], limits: list[int]) -> None:
    for library, limit in zip(libraries, limits, strict=True):
        # From 3.8 on, threadpoolctl lets one thread change a shared limit and ignores all others, without a word.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(limit)
        release(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the body with single-threaded BLAS, whatever the thread calling it."""
    _guard.enter()
    try:
        yield
    finally:
        _guard.leave()


def worker_count() -> int:
    """Threads to use: the smallest of the usable cores, BLAS's limit and the two environment variables."""
    limits = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    limits += [int(value) for name in _VARIABLES if (value := os.environ.get(name, "")).isdigit()]
    return max(1, min(*limits, _guard.allowed()))


_LARGE = 2**17  # cells beyond which a second thread pays
_VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], n_cells: int) -> list[Result]:
    """`map` for columns of a table: side by side where they hold so many cells that threads pay."""
    if n_cells < _LARGE or worker_count() < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(worker_count()) as pool:
        # Each in a context of its own: the language now spoken is part of it.
        futures = [pool.submit(copy_context().run, function, item) for item in items]
        return [future.result() for future in futures]


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Generator[Result, None, None]:
    """`map` in threads: results come in the order of the items, and only a few wait at a time.

    Threads see the caller's context, so that `np.errstate` around a fold holds inside it.
    """
    if workers == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers, initializer=_guard.limit_this_thread) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(copy_context().run, function, item))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # an error, an interrupt, or a caller that wants no more
            for future in waiting:
                future.cancel()
