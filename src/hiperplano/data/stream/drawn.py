"""Samples of a stream on the host: rows from several chunks, or drawn in the first pass over the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from hiperplano.data.block import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import NotAvailable


class DrawnRows(NamedTuple):
    """Rows drawn evenly, without repetition.

    Attributes
    ----------
    numbers : ndarray of int
        Of the rows in the source, ascending.
    chances : ndarray of float
        The rows with the smallest of these numbers are a sample, however many are taken.
    rows : ndarray of shape (drawn, columns)
    """

    numbers: Array
    chances: Array
    rows: Array

    def sample(self, size: int, masks: Sequence[Array] | None) -> tuple[DrawnRows, Array] | None:
        """A sample of this size, and places of its rows among those that are there.

        A smaller one where fewer were drawn, and None where that are less than half.

        Parameters
        ----------
        masks : sequence of ndarray of bool or None
            Of each chunk, which rows are there; None for all.
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
    """An error for more rows on the host than memory is for."""
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
