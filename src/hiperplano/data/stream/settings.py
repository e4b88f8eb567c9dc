"""What a person may set about a stream."""

from __future__ import annotations

from dataclasses import dataclass

from hiperplano.data.stream.checkpoint import Checkpoint
from hiperplano.data.stream.progress import Watcher

MEMORY = 256 * 2**20
"""Bytes that the chunks in hand may take together, unless another number is given."""
CHUNKS_IN_HAND = 16
"""Summed, decoded and waiting chunks, with the copies made on the way."""
CHUNKS_OF_A_READER = 4
"""Of them, those of each thread that reads and sums: the one in work, and what it is decoded from."""
LARGEST_CHUNKS = 6
"""Of the largest chunks, which are read as they lie in a file, column by column: those that memory is for."""


@dataclass(frozen=True)
class Settings:
    """Of all passes over a stream.

    Attributes
    ----------
    memory : int
        Bytes for the chunks in hand; also for rows, or row vectors, that a solver asks to hold.
    watcher : Watcher or None
        Is told how far a pass has come.
    checkpoint : Checkpoint or None
        Keeps the sums of finished passes.
    """

    memory: int = MEMORY
    watcher: Watcher | None = None
    checkpoint: Checkpoint | None = None
