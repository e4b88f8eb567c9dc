"""A view of a design whose columns are computed from the original ones in every pass, and never stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Rows, RowVector, Statistic, Sums, add
from hiperplano.data.in_memory import InMemory


class Transformed(Design):
    """Rows whose columns are a function of those of other rows.

    Parameters
    ----------
    rows : Design
    function : callable, Block -> ndarray of float64 of shape (m, n_columns)
        A frozen dataclass of small arrays, like a statistic.
    n_columns : int
        Number of columns that the function returns.
    """

    density = 1.0

    def __init__(self, rows: Design, function: Callable[[Block], Array], n_columns: int) -> None:
        self._rows, self._function, self.n_columns = rows, function, n_columns
        self.n_rows, self.n_targets, self.one_target = rows.n_rows, rows.n_targets, rows.one_target
        self.has_weight, self.dtype = rows.has_weight, np.dtype(np.float64)
        self.reading_cost = rows.reading_cost * rows.n_columns / max(1, n_columns)

    @property
    def is_sparse(self) -> bool:
        return False

    @property
    def total_weight(self) -> float:
        return self._rows.total_weight

    def fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        return self._rows.fold(_OnTransformed(self._function, statistic), combine)

    def fold_and_map(
        self, statistic: Callable[[Block], tuple[Sums, Rows]], combine: Callable[[Sums, Sums], Sums] = add
    ) -> tuple[Sums, dict[str, RowVector]]:
        return self._rows.fold_and_map(_OnTransformed(self._function, statistic), combine)

    def collect(self, vector: RowVector) -> Array:
        return self._rows.collect(vector)

    def with_vectors(self, **vectors: RowVector | None) -> Self:
        return self._of(self._rows.with_vectors(**vectors))

    def vector(self, name: str) -> RowVector:
        return self._rows.vector(name)

    def row_numbers(self) -> Array:
        return self._rows.row_numbers()

    def weighted_rows(self) -> Design:
        return self._of(self._rows.weighted_rows())

    def sample(self, size: int, seed: int = 0) -> InMemory:
        return self._held(self._rows.sample(size, seed))

    def gather(self, mask: RowVector) -> InMemory:
        return self._held(self._rows.gather(mask))

    def _of(self, rows: Design) -> Self:
        return type(self)(rows, self._function, self.n_columns)

    def _held(self, rows: InMemory) -> InMemory:
        """Rows in memory with their new columns, and all their vectors."""
        vectors = dict(rows.vectors)
        made = rows.collect(rows.map(self._function)) if rows.n_rows else np.empty((0, self.n_columns))
        return InMemory(made, vectors.pop("y"), None, self.one_target, None, vectors)


@dataclass(frozen=True)
class _OnTransformed:
    """A statistic of the new columns as one of the old; no columns are computed if it reads vectors only."""

    function: Callable[[Block], Array]
    statistic: Callable[[Block], Any]

    @property
    def reads_rows(self) -> bool:
        return getattr(self.statistic, "reads_rows", True)

    def __call__(self, block: Block) -> Any:
        return self.statistic(Block(self.function(block), block.vectors) if self.reads_rows else block)
