"""`Design`, the interface between rows and solvers: rows are accessed only through `fold`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from hiperplano.data.block import Array, Block

if TYPE_CHECKING:
    from hiperplano.data.in_memory import InMemory

__all__ = ["Array", "Block", "Design", "RowVector", "Rows", "Statistic", "Sums", "add", "maximum", "minimum"]

Sums = tuple[Array, ...]
Statistic = Callable[[Block], Sums]
Rows = dict[str, Array]
RowVector = Any
"""One number, or k, for each row of a design, stored with the rows. It is opaque: only `with_vectors`, `gather` and
`collect` accept it.
"""


def add(left: Sums, right: Sums) -> Sums:
    """Add two tuples of arrays, in place in the first."""
    for total, part in zip(left, right, strict=True):
        np.add(total, part, out=total)
    return left


def maximum(left: Sums, right: Sums) -> Sums:
    """Elementwise maximum of two tuples of arrays."""
    return tuple(np.maximum(a, b) for a, b in zip(left, right, strict=True))


def minimum(left: Sums, right: Sums) -> Sums:
    """Elementwise minimum of two tuples of arrays."""
    return tuple(np.minimum(a, b) for a, b in zip(left, right, strict=True))


class Design(ABC):
    """Rows with their targets and weights, wherever they are.

    Attributes
    ----------
    n_rows, n_columns, n_targets : int
        Number of rows, of columns (without the constant of an intercept), and of targets.
    dtype : numpy.dtype
        dtype of the rows; sums are made in float64.
    density : float
        Share of the entries that are stored; 1 for dense rows.
    names : ndarray of str or None
        Names of the columns.
    one_target : bool
        Whether the target was given as a vector.
    has_weight : bool
        Whether blocks carry a vector "weight".
    reading_cost : float
        Time of one core to read a number in a pass, in nanoseconds; 0 for rows in memory.
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
            A frozen dataclass of small arrays. It must return new arrays, since sums are made in place. Class
            attributes allow longer blocks: `reads_rows = False` if it reads only the vectors of a block, `stays_sparse
            = True` if it never makes sparse rows dense, and `stays_single = True` if it multiplies dense rows only in
            float32. `sums_squares = True` says that it returns a d × d matrix, of which few should be added.
        combine : callable, (tuple, tuple) -> tuple
            An associative operation; addition by default.

        Returns
        -------
        tuple of ndarray
            Arrays in memory, equal to the last bit for any number of threads.
        """

    @abstractmethod
    def fold_and_map(
        self, statistic: Callable[[Block], tuple[Sums, Rows]], combine: Callable[[Sums, Sums], Sums] = add
    ) -> tuple[Sums, dict[str, RowVector]]:
        """`fold` and `map` in one pass: the sums, and row vectors by name.

        Parameters
        ----------
        statistic : callable, Block -> (tuple of arrays, mapping of arrays)
            The terms to sum, and the values for each row of the block, by name.
        """

    def map(self, function: Callable[[Block], Array]) -> RowVector:
        """Compute one number, or k, for each row.

        Parameters
        ----------
        function : callable, Block -> ndarray of shape (m,) or (m, k)

        Returns
        -------
        RowVector
            It is stored with its rows; `collect` loads it into memory.
        """
        return self.fold_and_map(_Mapped(function))[1]["values"]

    @abstractmethod
    def collect(self, vector: RowVector) -> Array:
        """A row vector as one array in memory, in the order of the rows."""

    @abstractmethod
    def with_vectors(self, **vectors: RowVector | None) -> Self:
        """The same rows with changed or additional row vectors; None removes one.

        A vector is a result of `map` or `fold_and_map` of this design, or an array in memory with one entry for each
        row. A target "y" of shape (n,) becomes one of shape (n, 1).
        """

    @abstractmethod
    def vector(self, name: str) -> RowVector:
        """A row vector by its name."""

    @abstractmethod
    def row_numbers(self) -> Array:
        """The number of each row in the input table; not 0, 1, 2 … if rows of weight 0 were dropped."""

    def row_label(self, row: int) -> Any:
        """Description of a row of the input table, for messages: its number, or its position.

        Parameters
        ----------
        row : int
            One of `row_numbers`.
        """
        return row

    @abstractmethod
    def sample(self, size: int, seed: int = 0) -> InMemory:
        """At most `size` rows drawn without replacement, in their order, in memory."""

    def some_rows(self, size: int) -> InMemory:
        """At most `size` rows from all over the table, in memory, for estimates of location."""
        return self.sample(size)

    @abstractmethod
    def gather(self, mask: RowVector) -> InMemory:
        """The rows where a boolean row vector is True, with all their vectors, in memory."""

    def weighted_rows(self) -> Design:
        """The rows with nonzero weight: rows of weight 0 are always dropped."""
        if not self.has_weight or self.fold(_SmallestWeight(), minimum)[0][0] > 0:
            return self
        return self.gather(self.map(_has_weight))

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.fold(_TotalWeight())[0][0]) if self.has_weight else float(self.n_rows)


Function = TypeVar("Function", bound=Callable[..., Any])


def reads_vectors_only(function: Function) -> Function:
    """Mark a function of a block that reads only its vectors, like `reads_rows = False` of a statistic."""
    vars(function)["reads_rows"] = False
    return function


@dataclass(frozen=True)
class _Mapped:
    """A function of a block as a statistic without sums."""

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
