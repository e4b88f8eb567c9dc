"""The protocol between rows and solvers: blocks of rows, and `fold` over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.threads import ordered_reduce, worker_count

Array = NDArray[Any]
Sums = tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive rows: `x` (dense or CSR), `y` of shape (m, targets), weights, and where they lie."""

    x: Any
    y: Array
    weight: Array | None
    rows: slice

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @property
    def weights(self) -> Array:
        """One for each row, also where all are one."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def counted(self) -> Block:
        """The block with zeros in the rows without weight, so that no number there can matter."""
        if self.weight is None or self.weight.all():
            return self
        x = self.x.copy()
        if isinstance(x, np.ndarray):
            x[self.weight == 0] = 0.0
        else:
            x.data[np.repeat(self.weight == 0, np.diff(x.indptr))] = 0.0
        return replace(self, x=x)

    def dense(self) -> Array:
        """The rows of `x` as an array; not to be written to."""
        return self.x if isinstance(self.x, np.ndarray) else self.x.toarray()


def add(left: Sums, right: Sums) -> Sums:
    """Add two tuples of arrays, into the first."""
    for total, part in zip(left, right, strict=True):
        np.add(total, part, out=total)
    return left


@dataclass(frozen=True)
class Design(ABC):
    """Rows with their targets and weights.

    Parameters
    ----------
    x : ndarray or csr_array of shape (n, d)
    y : ndarray of shape (n, targets)
    weight : ndarray of shape (n,) or None
        None stands for equal weights of one.
    one_target : bool
        Whether the target came as a plain vector.
    """

    x: Any
    y: Array
    weight: Array | None = None
    one_target: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.x.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.x.shape[1])

    @property
    def n_targets(self) -> int:
        return int(self.y.shape[1])

    @property
    def total_weight(self) -> float:
        return float(self.n_rows) if self.weight is None else float(self.weight.sum())

    def with_target(self, y: Array, weight: Array | None) -> Self:
        """The same rows with another target, of shape (n, targets), and other weights."""
        return type(self)(self.x, y, weight, self.one_target)

    @abstractmethod
    def block_rows(self) -> int:
        """Rows in a block. A function of the data alone: it decides the order of additions."""

    @abstractmethod
    def _slice(self, rows: slice) -> Any:
        """The given consecutive rows of `x`, without a copy of more than them."""

    @abstractmethod
    def take(self, rows: Array | slice) -> Any:
        """The rows with these indices, dense or CSR as the design is; not to be written to."""

    def block(self, rows: slice) -> Block:
        weight = None if self.weight is None else self.weight[rows]
        return Block(self._slice(rows), self.y[rows], weight, rows)

    def slices(self) -> list[slice]:
        """Where the blocks lie."""
        size = self.block_rows()
        return [slice(start, min(start + size, self.n_rows)) for start in range(0, self.n_rows, size)]

    def fold(self, statistic: Callable[[Block], Sums], combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        """Σ over all rows: apply a pure function to every block, and add the tuples up in block order.

        The answer has the same bits for any number of threads.

        Parameters
        ----------
        statistic : callable, Block -> tuple of arrays
            Must return fresh arrays: sums are made in place.
        combine : callable, (tuple, tuple) -> tuple
            Addition unless another associative operation is given.
        """
        slices = self.slices()
        if len(slices) == 1:
            with one_blas_thread():
                return statistic(self.block(slices[0]))
        return ordered_reduce(lambda rows: statistic(self.block(rows)), slices, combine, worker_count())

    def map_rows(self, function: Callable[[Block], Array], out: Array) -> Array:
        """Fill `out`, one row for each row of the design, block by block."""

        def fill(block: Block) -> Sums:
            out[block.rows] = function(block)
            return ()

        self.fold(fill)
        return out
