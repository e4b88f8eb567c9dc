"""Sums of finished passes, kept in a file: a fit that was killed finds them there and goes on.

A solver is a function of the sums that it asks for. So nothing is kept of the solver itself: run again, it asks for the
same sums in the same order, and gets those of finished passes from the file, to the last bit, without a pass. What a
sum belongs to is told by a digest of the rows' source, of their vectors and of the statistic: another model, other
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

_EVERY = 30.0  # seconds between two saves inside a pass


class Checkpoint:
    """A file of sums.

    Parameters
    ----------
    path : str or Path
        An SQLite database, made if it is not there. Every save is on disk as a whole or not at all.
    every : float
        Seconds after which the sums of an unfinished pass are saved.
    """

    def __init__(self, path: str | Path, every: float = _EVERY) -> None:
        self.path, self.every = Path(path), every
        self._saved = monotonic()
        with self._open() as database:
            database.execute("CREATE TABLE IF NOT EXISTS sums (key BLOB PRIMARY KEY, chunks INTEGER, arrays BLOB)")

    def find(self, key: bytes) -> tuple[int, Sums | None]:
        """How many chunks are summed, and their sums; 0 and None where nothing was saved."""
        self._saved = monotonic()
        with self._open() as database:
            found = database.execute("SELECT chunks, arrays FROM sums WHERE key = ?", (key,)).fetchone()
        return (0, None) if found is None else (int(found[0]), _unpacked(found[1]))

    def save(self, key: bytes, chunks: int, sums: Sums) -> None:
        """Keep the sums of the first so many chunks."""
        if any(each.dtype.hasobject for each in map(np.asarray, sums)):
            return
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO sums VALUES (?, ?, ?)", (key, chunks, _packed(sums)))
        self._saved = monotonic()

    @property
    def is_due(self) -> bool:
        """Whether an unfinished pass should be saved."""
        return monotonic() - self._saved >= self.every

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
