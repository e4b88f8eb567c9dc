"""Sources of a stream: chunks of rows in a fixed order, which can be read repeatedly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.stream.settings import CHUNKS_OF_A_READER


class Source(ABC):
    """Rows in chunks.

    Attributes
    ----------
    n_columns : int
    dtype : numpy.dtype
        dtype of the rows.
    density : float
        Share of the entries that are stored; 1 for dense rows.
    is_sparse : bool
        Whether chunks are CSR arrays.
    names : ndarray of str or None
        Names of the columns.
    sizes : ndarray of int of shape (chunks,)
        Rows of each chunk, known from a first pass; 0 or more.
    reading_cost : float
        As in `Design`.
    fingerprint : str
        Equal for the same rows in the same chunks: saved results of a run are reused only then.
    """

    n_columns: int
    dtype: np.dtype[Any]
    density: float = 1.0
    is_sparse: bool = False
    names: Array | None = None
    sizes: Array
    reading_cost: float = 0.0
    fingerprint: str = ""

    @abstractmethod
    def read(self, chunks: Sequence[int]) -> Iterator[Any]:
        """The rows of these chunks, in ascending order, one chunk after the other.

        Each is an ndarray or a CSR array of shape (sizes[number], n_columns), valid until `give_back`. Several threads
        may read concurrently; inside `one_worker` no further threads are started.
        """

    def can_begin(self, chunk: int) -> bool:
        """Whether a chunk can be read without those before it."""
        return chunk == 0

    def bytes_in_hand(self, chunk: int) -> float:
        """Memory of a thread that reads and sums a chunk."""
        return CHUNKS_OF_A_READER * float(self.sizes[chunk]) * self.n_columns * self.dtype.itemsize * self.density

    @abstractmethod
    def give_back(self, rows: Any) -> None:
        """Return rows that are no longer used, so that their memory can be reused."""

    @abstractmethod
    def place(self, chunk: int, row: int) -> str:
        """Position of a row of a chunk, for messages."""
