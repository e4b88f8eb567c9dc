"""Samples of a stream in memory: rows from several chunks, or drawn in the first pass over the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from hiperplano.data.block import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import NotAvailable


class DrawnRows(NamedTuple):
    """A uniform sample of rows without replacement.

    Attributes
    ----------
    numbers : ndarray of int
        Numbers of the rows in the source, ascending.
    chances : ndarray of float
        Random numbers; the rows with the k smallest are a sample of size k.
    rows : ndarray of shape (drawn, columns)
    """

    numbers: Array
    chances: Array
    rows: Array

    def sample(self, size: int, masks: Sequence[Array] | None) -> tuple[DrawnRows, Array] | None:
        """A sample of this size, and the positions of its rows among the kept ones.

        It is smaller if fewer rows were drawn, and None if they are less than half.

        Parameters
        ----------
        masks : sequence of ndarray of bool or None
            Mask of the kept rows of each chunk; None for all.
        """
        places, there = self.numbers, np.ones(len(self.numbers), dtype=bool)
        if masks is not None:
            kept = np.concatenate(masks)
            there, places = kept[self.numbers], np.cumsum(kept)[self.numbers] - 1
        enough, size = size // 2, min(size, int(np.count_nonzero(there)))
        if size < enough:
            return None
        chances = np.where(there, self.chances, np.inf)
        some = np.sort(np.argpartition(chances, size - 1)[:size])
        if size == len(self.numbers):
            return self, places
        return DrawnRows(self.numbers[some], self.chances[some], self.rows[some]), places[some]


def joined(parts: Sequence[InMemory]) -> InMemory:
    """The rows of several designs, with their vectors."""
    arrays = [part.as_held() for part in parts]
    rows = csr_array(vstack(arrays)) if parts[0].is_sparse else np.concatenate(arrays)
    vectors = {name: np.concatenate([part.vectors[name] for part in parts]) for name in parts[0].vectors}
    return InMemory(rows, vectors.pop("y"), None, parts[0].one_target, parts[0].names, vectors)


def refuse_too_many(n_taken: int, n_rows: int, row_bytes: float, memory: int) -> None:
    """Raise an error if more rows are requested than the memory limit allows."""
    size = n_taken * row_bytes
    if size > memory and n_taken > 1:
        raise NotAvailable(
            "This fit needs {n_taken:,} of {n_rows:,} rows in memory ({size:.0f} MB), and a stream holds at most "
            "{memory:.0f} MB. Raise memory in scan, or choose a model that only needs sums of rows: least squares, "
            "ridge, logistic regression, linear discriminants.",
            n_taken=n_taken,
            n_rows=n_rows,
            size=size / 2**20,
            memory=memory / 2**20,
        )
