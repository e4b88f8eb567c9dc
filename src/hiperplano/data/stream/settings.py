"""User settings of a stream."""

from __future__ import annotations

from dataclasses import dataclass

from hiperplano.data.stream.checkpoint import Checkpoint
from hiperplano.data.stream.progress import Watcher

MEMORY = 256 * 2**20
"""Default number of bytes that all chunks in memory may take together."""
CHUNKS_IN_HAND = 16
"""Chunks that are in memory at a time: being summed, decoded or waiting, and their copies."""
CHUNKS_OF_A_READER = 4
"""Chunks in memory for each thread that reads and sums: the current one, and the data that it is decoded from."""
LARGEST_CHUNKS = 6
"""Chunks that must fit in memory if whole row groups of a file are read, column by column."""


@dataclass(frozen=True)
class Settings:
    """Settings of all passes over a stream.

    Attributes
    ----------
    memory : int
        Bytes for the current chunks; also for rows, or row vectors, that a solver needs in memory.
    watcher : Watcher or None
        Receives the progress of passes.
    checkpoint : Checkpoint or None
        Stores the sums of finished passes.
    """

    memory: int = MEMORY
    watcher: Watcher | None = None
    checkpoint: Checkpoint | None = None
