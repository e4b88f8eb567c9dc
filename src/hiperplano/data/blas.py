"""BLAS limited to one thread while rows are summed.

A BLAS that runs on two threads adds in another order than on one. So the parallelism is ours (`data/threads.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  loads SciPy's BLAS, so that the controller finds it
from threadpoolctl import ThreadpoolController


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


guard = _BlasGuard()


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
    guard.enter()
    try:
        yield
    finally:
        guard.leave()
