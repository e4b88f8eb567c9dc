"""Sparse rows without empty columns: hashed text has a million columns, most of which are empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory

_MOST = 0.5  # empty columns are removed if at most this share of the columns is not empty


class HeldColumns:
    """The nonempty columns of sparse rows.

    Parameters
    ----------
    design : InMemory
    held : ndarray of bool of shape (d,)

    Attributes
    ----------
    numbers : ndarray of int
        Numbers of these columns.
    n_all : int
        Number of columns of the design, including empty ones.
    """

    def __init__(self, design: InMemory, held: Array) -> None:
        self.numbers, self.n_all, self._design = np.flatnonzero(held), len(held), design

    @classmethod
    def of(cls, design: Design) -> HeldColumns | None:
        """Find the nonempty columns of rows in memory; None if most columns are not empty."""
        if not isinstance(design, InMemory) or not design.is_sparse or design.n_columns < 2:
            return None
        held = design.held_columns(_MOST * design.n_columns)
        return cls(design, held) if held is not None and held.any() else None

    def narrow(self) -> InMemory:
        """The rows restricted to these columns."""
        return self._design.with_columns(self.numbers)

    def widen(self, values: Array, fill: Any = 0.0) -> Array:
        """Expand values of shape (…, held) to all columns, with `fill` for empty ones."""
        wide = np.zeros((*values.shape[:-1], self.n_all), dtype=values.dtype)
        if fill:
            wide[...] = fill
        wide[..., self.numbers] = values
        return wide
