"""Limits BLAS to one thread while rows are summed.

BLAS with two threads adds in another order than with one. The library uses its own threads instead
(`data/parallel/threads.py`), which do not change results.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  loads SciPy's BLAS, so that the controller finds it
from threadpoolctl import ThreadpoolController


class _OfThread(threading.local):
    """How often a thread has entered the guard, and its own limits before that."""

    depth = 0
    limits: Sequence[int] = ()


class _BlasGuard:
    """Keeps every BLAS at one thread while at least one caller is inside.

    Most limits are global to the process, so callers are counted: the first sets them, the last restores them.
    A BLAS on OpenMP has a limit for each calling thread, which sets and restores its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callers = 0
        self._before: list[int] = []
        self._own = _OfThread()

    def __enter__(self) -> None:
        here = self._own
        here.depth += 1
        if here.depth > 1:  # this thread is inside already
            return
        own, shared = _libraries()
        if own:
            here.limits = _limits(own)
            _set_limits(own, here.limits, [1] * len(own))
        with self._lock:
            if self._callers == 0:
                self._before = _limits(shared)
                _set_limits(shared, self._before, [1] * len(shared))
            self._callers += 1

    def __exit__(self, *_: object) -> None:
        here = self._own
        here.depth -= 1
        if here.depth:
            return
        own, shared = _libraries()
        if own:
            _set_limits(own, [1] * len(own), here.limits)
        with self._lock:
            self._callers -= 1
            if self._callers == 0:
                _set_limits(shared, [1] * len(shared), self._before)

    def limit_this_thread(self) -> None:
        own, _ = _libraries()
        _set_limits(own, _limits(own), [1] * len(own))

    def allowed(self) -> int:
        """Threads that BLAS could use before the guard."""
        own, shared = _libraries()
        of_thread = self._own.limits if self._own.depth else _limits(own)
        with self._lock:
            before = self._before if self._callers else _limits(shared)
        return min([*before, *of_thread], default=1)


guard = _BlasGuard()


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """Libraries with one limit per thread, and libraries with one limit for all threads."""
    every = [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
    own = [lib for lib in every if getattr(lib, "threading_layer", "") == "openmp"]
    return own, [lib for lib in every if lib not in own]


def _limits(libraries: list[Any]) -> list[int]:
    return [library.get_num_threads() for library in libraries]


def _set_limits(libraries: list[Any], before: Sequence[int], limits: Sequence[int]) -> None:
    if list(before) == list(limits):  # skipped if nothing changes: a small fit would take a tenth longer
        return
    changed = [
        (library, limit) for library, last, limit in zip(libraries, before, limits, strict=True) if limit != last
    ]
    # From version 3.8 on, threadpoolctl lets one thread change a shared limit, and silently ignores all others.
    controlled = [library for library, _ in changed if hasattr(library, "clear_controlling_thread")]
    for library in controlled[:1]:  # one thread controls all of them
        library.clear_controlling_thread(force=True)
    for library, limit in changed:
        library.set_num_threads(limit)
    for library in controlled[:1]:
        library.clear_controlling_thread(force=True)


def one_blas_thread() -> _BlasGuard:
    """Run the body of a `with` with single-threaded BLAS, whatever the thread calling it."""
    return guard
