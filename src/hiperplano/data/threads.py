"""Threads that never change an answer.

A BLAS that runs on two threads adds in another order than on one. So while rows are summed every BLAS call
has one thread, and the parallelism is ours: whole blocks, whose partial results are combined in block order.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
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

    The limit is global to the process, so callers are counted: the first sets it, the last restores it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callers = 0
        self._before: list[int] = []

    def enter(self) -> None:
        with self._lock:
            if self._callers == 0:
                self._before = [library.get_num_threads() for library in _blas_libraries()]
                for library in _blas_libraries():
                    library.set_num_threads(1)
            self._callers += 1

    def leave(self) -> None:
        with self._lock:
            self._callers -= 1
            if self._callers == 0:
                for library, threads in zip(_blas_libraries(), self._before, strict=True):
                    library.set_num_threads(threads)

    def allowed(self) -> int:
        """Threads that BLAS had before the guard took them."""
        with self._lock:
            before = self._before if self._callers else [lib.get_num_threads() for lib in _blas_libraries()]
        return min(before, default=1)


_guard = _BlasGuard()


@cache
def _blas_libraries() -> list[Any]:
    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]


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


_VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """`map` in threads: results come in the order of the items, and only a few wait at a time.

    Threads see the caller's context, so that `np.errstate` around a fold holds inside it.
    """
    if workers == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            waiting.append(pool.submit(copy_context().run, function, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
