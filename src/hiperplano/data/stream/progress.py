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
    """Progress of a pass over the rows.

    Attributes
    ----------
    passes : int
        The number of this pass, from 1 on.
    rows : int
        Rows processed in this pass.
    n_rows : int
        Rows of a whole pass; 0 while unknown.
    seconds : float
        Time since the pass began.
    left : float
        Estimated time to its end, in seconds; NaN while unknown.
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
        """The progress as a sentence."""
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
    """Reports progress to a callback, a few times a second and at the end of each pass.

    Parameters
    ----------
    callback : callable, Progress -> None
    """

    def __init__(self, callback: Callable[[Progress], Any]) -> None:
        self._callback = callback
        self.passes = 0
        self._begun = self._told = 0.0

    def begin(self) -> None:
        """Begin a pass."""
        self.passes += 1
        self._begun = self._told = monotonic()

    def tell(self, rows: int, n_rows: int) -> None:
        """Report the number of rows processed in the pass."""
        now = monotonic()
        if rows == n_rows or now - self._told >= _EVERY:
            self._told = now
            self._callback(Progress(self.passes, rows, n_rows, now - self._begun))


class Count:
    """Counter of the rows of one pass, shared by the threads that read them.

    Parameters
    ----------
    watcher : Watcher or None
        Watcher to report to.
    seen, n_rows : int
        Rows processed before, and rows of a whole pass.
    """

    def __init__(self, watcher: Watcher | None, seen: int, n_rows: int) -> None:
        self._watcher, self._seen, self._n_rows = watcher, seen, n_rows
        self._access = Lock()
        if watcher is not None:
            watcher.begin()

    def add(self, rows: int) -> None:
        """Count further rows."""
        if self._watcher is not None:
            with self._access:
                self._seen += rows
                self._watcher.tell(self._seen, self._n_rows)


def show(progress: Progress) -> None:
    """Overwrite the last line of standard error; a finished pass leaves no line."""
    if progress.seconds < _SHOWN_AFTER:
        return
    text = "" if progress.rows == progress.n_rows else translate(progress.sentence)
    sys.stderr.write(f"\r\x1b[2K{text}")
    sys.stderr.flush()


def watcher_for(progress: Callable[[Progress], Any] | bool | None) -> Watcher | None:
    """A watcher for a callback; for True, or for None at a terminal, one that shows a line on standard error."""
    if callable(progress):
        return Watcher(progress)
    shown = sys.stderr.isatty() if progress is None else progress
    return Watcher(show) if shown else None
