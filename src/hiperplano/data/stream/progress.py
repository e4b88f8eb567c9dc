"""Progress of a fit: reported to a callback, or shown on standard error if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

from hiperplano.messages import Message, translate

_EVERY = 0.2  # seconds between two reports
_SHOWN_AFTER = 1.0  # seconds before progress is shown, so that short passes show nothing


@dataclass(frozen=True)
class Progress:
    """Where a pass over the rows stands.

    Attributes
    ----------
    passes : int
        The number of this pass, from 1 on.
    rows : int
        Rows seen in it.
    n_rows : int
        Rows of a whole pass; 0 while that is not known.
    seconds : float
        Since the pass began.
    left : float
        Seconds to its end at this speed; NaN while that cannot be told.
    """

    passes: int
    rows: int
    n_rows: int
    seconds: float

    @property
    def left(self) -> float:
        if not (self.rows and self.n_rows):
            return float("nan")
        return self.seconds * max(self.n_rows - self.rows, 0) / self.rows

    @property
    def sentence(self) -> Message:
        """The same in words."""
        if not self.n_rows:
            return Message("pass {passes}: {rows:,} rows", passes=self.passes, rows=self.rows)
        return Message(
            "pass {passes}: {rows:,} of {n_rows:,} rows, {left:.0f} s left",
            passes=self.passes,
            rows=self.rows,
            n_rows=self.n_rows,
            left=self.left if self.rows else 0.0,
        )


class Watcher:
    """Tells a callback how far passes have come, a few times a second and at the end of each.

    Parameters
    ----------
    callback : callable, Progress -> None
    """

    def __init__(self, callback: Callable[[Progress], Any]) -> None:
        self._callback = callback
        self.passes = 0
        self._begun = self._told = 0.0

    def begin(self) -> None:
        """A pass begins."""
        self.passes += 1
        self._begun = self._told = monotonic()

    def tell(self, rows: int, n_rows: int) -> None:
        """So many rows of the pass have been seen."""
        now = monotonic()
        if rows == n_rows or now - self._told >= _EVERY:
            self._told = now
            self._callback(Progress(self.passes, rows, n_rows, now - self._begun))


class Count:
    """Rows of one pass, counted by the threads that read them.

    Parameters
    ----------
    watcher : Watcher or None
        Is told.
    seen, n_rows : int
        Rows that were seen before, and rows of a whole pass.
    """

    def __init__(self, watcher: Watcher | None, seen: int, n_rows: int) -> None:
        self._watcher, self._seen, self._n_rows = watcher, seen, n_rows
        self._access = Lock()
        if watcher is not None:
            watcher.begin()

    def add(self, rows: int) -> None:
        """So many more were seen."""
        if self._watcher is not None:
            with self._access:
                self._seen += rows
                self._watcher.tell(self._seen, self._n_rows)


def show(progress: Progress) -> None:
    """Write it over the last line of standard error; a pass that has ended leaves no line."""
    if progress.seconds < _SHOWN_AFTER:
        return
    text = "" if progress.rows == progress.n_rows else translate(progress.sentence)
    sys.stderr.write(f"\r\x1b[2K{text}")
    sys.stderr.flush()


def watcher_for(progress: Callable[[Progress], Any] | bool | None) -> Watcher | None:
    """Of a callback; of True, or of None at a terminal, one that shows a line on standard error."""
    if callable(progress):
        return Watcher(progress)
    shown = sys.stderr.isatty() if progress is None else progress
    return Watcher(show) if shown else None
