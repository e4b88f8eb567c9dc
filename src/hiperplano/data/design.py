"""`Design`, the interface between rows and solvers: `fold` is the only way to see rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hiperplano.data.block import Array, Block

if TYPE_CHECKING:
    from hiperplano.data.in_memory import InMemory

__all__ = ["Array", "Block", "Design", "RowVector", "Rows", "Statistic", "Sums", "add", "maximum", "minimum"]

Sums = tuple[Array, ...]
Statistic = Callable[[Block], Sums]
Rows = dict[str, Array]
RowVector = Any
"""One number, or k, for each row of a design, lying where the rows lie.

Opaque: it is handed to `with_vectors`, `gather` or `collect`, and to nothing else.
"""


def add(left: Sums, right: Sums) -> Sums:
    """Add two tuples of arrays, into the first."""
    for total, part in zip(left, right, strict=True):
        np.add(total, part, out=total)
    return left


def maximum(left: Sums, right: Sums) -> Sums:
    """The larger of two tuples of arrays, entry by entry."""
    return tuple(np.maximum(a, b) for a, b in zip(left, right, strict=True))


def minimum(left: Sums, right: Sums) -> Sums:
    """The smaller of two tuples of arrays, entry by entry."""
    return tuple(np.minimum(a, b) for a, b in zip(left, right, strict=True))


class Design(ABC):
    """Rows with their targets and weights, wherever they are.

    Attributes
    ----------
    n_rows, n_columns, n_targets : int
        Rows; columns of the rows, without the constant of an intercept; columns of the target.
    dtype : numpy.dtype
        Of the numbers in the rows; sums are made in float64.
    density : float
        Share of the entries that are stored; 1 for dense rows.
    names : ndarray of str or None
        Of the columns.
    one_target : bool
        Whether the target came as a plain vector.
    has_weight : bool
        Whether blocks carry a vector "weight".
    reading_cost : float
        Nanoseconds of a core until a number is at hand in a pass; 0 for rows in memory.
    """

    n_rows: int
    n_columns: int
    n_targets: int
    dtype: np.dtype[Any]
    density: float = 1.0
    names: Array | None = None
    one_target: bool = False
    has_weight: bool = False
    reading_cost: float = 0.0

    @property
    @abstractmethod
    def is_sparse(self) -> bool:
        """Whether blocks hold CSR rows."""

    @abstractmethod
    def fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        """Σ over all rows: apply a pure function to every block, and combine the tuples in block order.

        Parameters
        ----------
        statistic : callable, Block -> tuple of arrays
            A frozen dataclass of small arrays. It must return fresh arrays: sums are made in place. One that reads
            only the vectors of a block may say so by a class attribute `reads_rows = False`: it gets longer blocks. So
            does one that never makes sparse rows dense, and says `stays_sparse = True`; `sums_squares = True` tells
            that it returns a matrix of d × d numbers, of which few should be added up. One that multiplies dense rows
            in float32 only, and says `stays_single = True`, gets longer blocks, too.
        combine : callable, (tuple, tuple) -> tuple
            Addition unless another associative operation is given.

        Returns
        -------
        tuple of ndarray
            On the host. The same bits for any number of threads.
        """

    @abstractmethod
    def fold_and_map(
        self, statistic: Callable[[Block], tuple[Sums, Rows]], combine: Callable[[Sums, Sums], Sums] = add
    ) -> tuple[Sums, dict[str, RowVector]]:
        """`fold` and `map` in one pass: the sums, and row vectors by name.

        Parameters
        ----------
        statistic : callable, Block -> (tuple of arrays, mapping of arrays)
            What is summed, and what is kept for each row of the block, by name.
        """

    def map(self, function: Callable[[Block], Array]) -> RowVector:
        """One number, or k, for each row.

        Parameters
        ----------
        function : callable, Block -> ndarray of shape (m,) or (m, k)

        Returns
        -------
        RowVector
            It stays with its rows; `collect` brings it to the host.
        """
        return self.fold_and_map(_Mapped(function))[1]["values"]

    @abstractmethod
    def collect(self, vector: RowVector) -> Array:
        """A row vector as one array on the host, in the order of the rows."""

    @abstractmethod
    def with_vectors(self, **vectors: RowVector | None) -> Self:
        """The same rows with other or more row vectors; None takes one away.

        A vector is what `map` or `fold_and_map` of this design returned, or an array on the host with one entry for
        each row. A target "y" of shape (n,) becomes one of shape (n, 1).
        """

    @abstractmethod
    def vector(self, name: str) -> RowVector:
        """A row vector by its name."""

    @abstractmethod
    def row_numbers(self) -> Array:
        """The number of each row in the table that came in: not 0, 1, 2 … where rows without weight were left out."""

    def row_label(self, row: int) -> Any:
        """A row of the table that came in, for messages: its number, or where it lies.

        Parameters
        ----------
        row : int
            One of `row_numbers`.
        """
        return row

    @abstractmethod
    def sample(self, size: int, seed: int = 0) -> InMemory:
        """At most `size` rows drawn without replacement, in their order, on the host."""

    def some_rows(self, size: int) -> InMemory:
        """At most `size` rows from all over the table, on the host, for a look at where columns lie."""
        return self.sample(size)

    @abstractmethod
    def gather(self, mask: RowVector) -> InMemory:
        """The rows where a row vector of bool is true, with all their vectors, on the host."""

    def weighted_rows(self) -> Design:
        """The rows whose weight is not 0: the one rule for rows without weight is that they are not there."""
        if not self.has_weight or self.fold(_SmallestWeight(), minimum)[0][0] > 0:
            return self
        return self.gather(self.map(_has_weight))

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.fold(_TotalWeight())[0][0]) if self.has_weight else float(self.n_rows)


@dataclass(frozen=True)
class _Mapped:
    """A function of a block as a statistic that sums nothing."""

    function: Callable[[Block], Array]

    @property
    def reads_rows(self) -> bool:
        return getattr(self.function, "reads_rows", True)

    @property
    def stays_sparse(self) -> bool:
        return getattr(self.function, "stays_sparse", False)

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        return (), {"values": self.function(block)}


@dataclass(frozen=True)
class _SmallestWeight:
    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        return (np.atleast_1d(block.weights.min(initial=xp.inf)),)


@dataclass(frozen=True)
class _TotalWeight:
    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        return (np.atleast_1d(block.weights.sum()),)


def _has_weight(block: Block) -> Array:
    return np.asarray(block.weights > 0)
