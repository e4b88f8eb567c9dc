"""Sparse rows without the columns that hold nothing: hashed words have a million columns, and few of them are met."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory

_MOST = 0.5  # share of the columns that may hold something for the others to be worth leaving out


class HeldColumns:
    """The columns of sparse rows in which a number is stored.

    Parameters
    ----------
    design : InMemory
    held : ndarray of bool of shape (d,)

    Attributes
    ----------
    numbers : ndarray of int
        Of the columns.
    """

    def __init__(self, design: InMemory, held: Array) -> None:
        self.numbers, self._held, self._design = np.flatnonzero(held), held, design

    @classmethod
    def of(cls, design: Design) -> HeldColumns | None:
        """Of rows in memory; None where most columns hold something."""
        if not isinstance(design, InMemory) or not design.is_sparse or design.n_columns < 2:
            return None
        held = np.zeros(design.n_columns, dtype=bool)
        held[design.x.indices] = True
        count = int(np.count_nonzero(held))
        return cls(design, held) if 0 < count < _MOST * design.n_columns else None

    def narrow(self) -> InMemory:
        """The rows with these columns only."""
        design = self._design
        position = np.cumsum(self._held, dtype=design.x.indices.dtype) - 1
        x = csr_array(
            (design.x.data, position[design.x.indices], design.x.indptr), shape=(design.n_rows, len(self.numbers))
        )
        names = None if design.names is None else np.asarray(design.names)[self.numbers]
        vectors: dict[str, Any] = dict(design.vectors)
        return InMemory(x, vectors.pop("y"), None, design.one_target, names, vectors)

    def widen(self, values: Array, fill: Any = 0.0) -> Array:
        """Values of shape (…, held) for all columns: `fill` for those that hold nothing."""
        wide = np.full((*values.shape[:-1], len(self._held)), fill, dtype=values.dtype)
        wide[..., self.numbers] = values
        return wide
