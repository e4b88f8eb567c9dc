"""Threads that wait for work, kept from one call to the next."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock, Thread


class Helper:
    """A thread that does one piece of work at a time.

    A lock wakes it, and another one its caller. With a queue and futures both take four times as long, which is as long
    as sums over thousands of rows.
    """

    def __init__(self) -> None:
        self._given, self._done = Lock(), Lock()  # released once there is work, and once it is done
        self._given.acquire()
        self._done.acquire()
        self._work: Callable[[], None] | None = None
        self._busy = False
        Thread(target=self._run, name="hiperplano", daemon=True).start()

    def start(self, work: Callable[[], None]) -> None:
        """Do some work, which must not raise anything."""
        self._work = work
        self._given.release()
        self._busy = True

    def finish(self) -> None:
        """Wait until the work is done. If it has not begun, it is not done any more."""
        if self._busy and not self._given.acquire(blocking=False):
            self._done.acquire()
        self._work, self._busy = None, False

    def _run(self) -> None:
        while True:
            self._given.acquire()
            assert self._work is not None
            self._work()
            self._done.release()


_idle: list[Helper] = []


def take_helpers(number: int) -> list[Helper]:
    """Helpers that are not at work. They belong to the caller until they are given back."""
    found: list[Helper] = []
    while len(found) < number:
        try:
            found.append(_idle.pop())
        except IndexError:  # taken by another thread, too
            found.append(Helper())
    return found


def give_back(helpers: list[Helper]) -> None:
    """Keep helpers that have finished for the next caller."""
    _idle.extend(helpers)


if hasattr(os, "register_at_fork"):  # a child process has none of the threads
    os.register_at_fork(after_in_child=_idle.clear)
