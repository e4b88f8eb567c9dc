"""Checkpoints: sums of finished passes in a file, from which an interrupted fit continues.

A solver depends on the rows only through the sums it requests, so its state need not be saved. If it is run again, it
requests the same sums in the same order, and gets those of finished passes from the file, to the last bit, without
reading rows. The key of a sum is a digest of the source, of the row vectors and of the statistic: another model, other
parameters or other data find nothing.
"""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

import numpy as np

from hiperplano.data.design import Sums
from hiperplano.errors import InvalidFile

_EVERY = 30.0  # seconds between saves within a pass


class Checkpoint:
    """A file of sums.

    Parameters
    ----------
    path : str or Path
        An SQLite database, created if it does not exist. Every save is atomic.
    every : float
        Seconds after which the sums of an unfinished pass are saved.
    """

    def __init__(self, path: str | Path, every: float = _EVERY) -> None:
        self.path, self.every = Path(path), every
        with self._open() as database:
            database.execute("CREATE TABLE IF NOT EXISTS sums (key BLOB PRIMARY KEY, parts INTEGER, arrays BLOB)")

    def find(self, key: bytes) -> tuple[int, Sums | None]:
        """Number of parts summed so far, and their sums; 0 and None if nothing was saved."""
        with self._open() as database:
            found = database.execute("SELECT parts, arrays FROM sums WHERE key = ?", (key,)).fetchone()
        return (0, None) if found is None else (int(found[0]), _unpacked(found[1]))

    def save(self, key: bytes, parts: int, sums: Sums) -> None:
        """Save the sums of the first `done` parts."""
        if any(each.dtype.hasobject for each in map(np.asarray, sums)):
            return
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO sums VALUES (?, ?, ?)", (key, parts, _packed(sums)))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path)) as database, database:
                yield database
        except sqlite3.Error as problem:
            raise InvalidFile(
                "{file} cannot be used as a checkpoint ({problem}); it must be a file that a fit wrote, or a new one. "
                "Choose another path.",
                file=self.path,
                problem=problem,
            ) from problem


class SavedSums:
    """Sums of consecutive parts, restored from a checkpoint and saved from time to time.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        None to save nothing.
    key : bytes
        Key of the sum.
    n_parts : int

    Attributes
    ----------
    done : int
        Parts in the total.
    total : tuple of ndarray or None
    """

    def __init__(self, checkpoint: Checkpoint | None, key: bytes, n_parts: int) -> None:
        self._checkpoint, self._key, self._n_parts = checkpoint, key, n_parts
        self._saved = monotonic()
        self.done, self.total = (0, None) if checkpoint is None else checkpoint.find(key)

    def keep(self, total: Sums, done: int) -> None:
        """Record that `done` parts are in the total; the complete total is always saved."""
        self.done, self.total = done, total
        if self._checkpoint is None:
            return
        if done == self._n_parts or monotonic() - self._saved >= self._checkpoint.every:
            self._checkpoint.save(self._key, done, total)
            self._saved = monotonic()


def _packed(sums: Sums) -> bytes:
    content = io.BytesIO()
    for each in sums:
        np.save(content, each, allow_pickle=False)
    return content.getvalue()


def _unpacked(content: bytes) -> Sums:
    stream = io.BytesIO(content)
    found = []
    while stream.tell() < len(content):
        found.append(np.load(stream, allow_pickle=False))
    return tuple(found)
