"""Sparse rows without the columns that hold nothing: hashed words have a million columns, and few of them are met."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    n_all : int
        Columns of the design, with those that hold nothing.
    """

    def __init__(self, design: InMemory, held: Array) -> None:
        self.numbers, self.n_all, self._design = np.flatnonzero(held), len(held), design

    @classmethod
    def of(cls, design: Design) -> HeldColumns | None:
        """Of rows in memory; None where most columns hold something."""
        if not isinstance(design, InMemory) or not design.is_sparse or design.n_columns < 2:
            return None
        held = design.held_columns(_MOST * design.n_columns)
        return cls(design, held) if held is not None and held.any() else None

    def narrow(self) -> InMemory:
        """The rows with these columns only."""
        return self._design.with_columns(self.numbers)

    def widen(self, values: Array, fill: Any = 0.0) -> Array:
        """Values of shape (…, held) for all columns: `fill` for those that hold nothing."""
        wide = np.zeros((*values.shape[:-1], self.n_all), dtype=values.dtype)
        if fill:
            wide[...] = fill
        wide[..., self.numbers] = values
        return wide
