"""Functions that run in a Dask worker: sums of a partition, additions of sums, and selection of rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.data.design import Rows, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.threads import one_worker
from hiperplano.errors import HiperplanoError, InvalidData
from hiperplano.messages import Message


@dataclass(frozen=True)
class Place:
    """Position of a partition in the table, for messages.

    Attributes
    ----------
    number : int
        Number of the partition.
    first, n_rows : int
        Its first row in the table, and its number of rows there; −1 if unknown.
    source : str
        File and row at which it begins, if known.
    """

    number: int
    first: int = -1
    n_rows: int = -1
    source: str = ""

    def name(self) -> Message:
        """Description for messages."""
        found = Message("partition {number}", number=self.number)
        if self.n_rows > 0:
            found = Message(
                "{partition} (rows {first} to {last})",
                partition=found,
                first=self.first,
                last=self.first + self.n_rows - 1,
            )
        return Message("{partition}, from row {row} on", partition=found, row=self.source) if self.source else found

    def row_numbers(self) -> Array:
        """The numbers of its rows in the table."""
        return np.arange(self.first, self.first + self.n_rows)


@dataclass(frozen=True)
class Reader:
    """Converts the rows of a partition to an array of floats, or to a CSR array.

    Attributes
    ----------
    dtype : numpy.dtype
    n_columns : int
    sparse : bool
        Whether partitions hold sparse matrices.
    """

    dtype: Any
    n_columns: int
    sparse: bool = False

    def __call__(self, place: Place, part: Any, n_rows: int | None = None) -> Any:
        try:
            rows = self._rows(part)
        except Exception as problem:  # user code may raise anything
            raise unreadable(place, problem) from problem
        if n_rows is not None and rows.shape[0] != n_rows:
            raise InvalidData(
                "X: {place} holds {found} rows, but {wanted} are recorded for it; a partition must hold the same rows "
                "whenever it is read. Compute the sizes again (compute_chunk_sizes), or persist the data.",
                place=place.name(),
                found=rows.shape[0],
                wanted=n_rows,
            )
        return rows

    def _rows(self, part: Any) -> Any:
        if type(part) is np.ndarray and part.dtype == self.dtype and part.ndim == 2 and not self.sparse:
            return part
        from hiperplano.data.validate import plain_rows

        if not part.shape[0]:
            return np.empty((0, self.n_columns), self.dtype)
        rows = plain_rows(part)
        if issparse(rows) != self.sparse:
            raise InvalidData(
                "its rows are {found}, but dask was told that they are {told}. Pass meta= to the dask function that "
                "made them, for example meta=scipy.sparse.csr_array((0, 0)).",
                found=Message("sparse") if issparse(rows) else Message("dense"),
                told=Message("sparse") if self.sparse else Message("dense"),
            )
        return rows.astype(self.dtype, copy=False)


def unreadable(place: Place, problem: BaseException) -> HiperplanoError:
    """The error for a partition that cannot be read or used, with its cause; errors of this library keep their type."""
    reason = problem.args[0] if isinstance(problem, HiperplanoError) else f"{type(problem).__name__}: {problem}"
    named = InvalidData("X: {place} cannot be used: {reason}", place=place.name(), reason=reason)
    if not isinstance(problem, HiperplanoError):
        return named
    same = copy(problem)
    same.args = named.args
    return same


@dataclass(frozen=True)
class Work:
    """The work on every partition in a pass; sent to each worker once.

    Attributes
    ----------
    statistic, combine
        As in `Design.fold` and `fold_and_map`.
    reader : Reader
    names : tuple of (str, str or None)
        Names of the row vectors of a partition: that used by a statistic, and the key in the input mapping, or None if
        the input is the array itself.
    errors : dict
        NumPy's error settings of the caller.
    """

    statistic: Any
    combine: Callable[[Sums, Sums], Sums]
    reader: Reader
    names: tuple[tuple[str, str | None], ...]
    errors: Any = field(default_factory=dict)

    def rows(self, place: Place, n_rows: int, x: Any, vectors: tuple[Any, ...]) -> InMemory:
        """The partition as rows in memory; None stands for rows that are not read."""
        if x is None:
            # If a statistic reads them nevertheless, it gets NaN.
            x = np.broadcast_to(np.array(np.nan, self.reader.dtype), (n_rows, self.reader.n_columns))
        else:
            x = self.reader(place, x, n_rows)
        given = zip(self.names, vectors, strict=True)
        named = {name: vector if key is None else vector[key] for (name, key), vector in given}
        y = named.pop("y")
        return InMemory(x, as_column(y), None, vectors=named)


def sums(work: Work, place: Place, n_rows: int, x: Any, *vectors: Any) -> Sums:
    """The statistic of a partition."""
    rows = work.rows(place, n_rows, x, vectors)
    with np.errstate(**work.errors), one_worker():
        return rows.fold(work.statistic, work.combine)


def sums_and_rows(work: Work, place: Place, n_rows: int, x: Any, *vectors: Any) -> tuple[Sums, Rows]:
    """The statistic of a partition, and its values for each row."""
    rows = work.rows(place, n_rows, x, vectors)
    with np.errstate(**work.errors), one_worker():
        return rows.fold_and_map(work.statistic, work.combine)


def row_values(work: Work, place: Place, n_rows: int, x: Any, *vectors: Any) -> Rows:
    """The values of `Design.map` for each row of a partition."""
    rows = work.rows(place, n_rows, x, vectors)
    with np.errstate(**work.errors), one_worker():
        return {"values": rows.map(work.statistic)}


def field_of(name: Any, results: Any) -> Any:
    """One of several results."""
    return results[name]


def widths(rows: Rows) -> dict[str, tuple[int, ...]]:
    """Shapes of the values for one row."""
    return {name: kept.shape[1:] for name, kept in rows.items()}


def combined(work: Work, parts: list[Sums]) -> Sums:
    """Combine the sums of neighbouring partitions.

    The first is copied, because a worker may be asked for its own sums again if another worker is lost.
    """
    with np.errstate(**work.errors):
        return reduce(work.combine, parts[1:], tuple(np.array(part) for part in parts[0]))


def chosen_rows(
    work: Work, which: Array | None, place: Place, n_rows: int, x: Any, *vectors: Any
) -> tuple[Any, dict[str, Array]]:
    """Some rows of a partition with their vectors and their numbers in the table.

    Parameters
    ----------
    which : ndarray of int or None
        Positions in the partition; None for the rows where the vector "chosen" is True.
    """
    rows = work.rows(place, n_rows, x, vectors)
    if "row" not in rows.vectors:
        rows = rows.with_vectors(row=place.row_numbers())
    if which is None:
        which = np.flatnonzero(rows.vectors["chosen"])
        rows = rows.with_vectors(chosen=None)
    taken = rows.subset(which)
    return taken.x, taken.vectors


def as_column(y: Array) -> Array:
    """Targets of shape (m, targets)."""
    return y[:, None] if y.ndim == 1 else y


def with_weight(weight: Array, values: Array) -> Array:
    """The values of the rows with nonzero weight."""
    return values[weight > 0]


def read_weighted(reader: Reader, place: Place, part: Any, weight: Array) -> Any:
    """The rows of a partition with nonzero weight."""
    return reader(place, part, len(weight))[weight > 0]


def look(part: Any) -> tuple[int, int]:
    """Number of rows of a partition, and number of stored entries if it is sparse."""
    return int(part.shape[0]), int(part.nnz) if issparse(part) else 0


def piece(name: str, place: Place, part: Any) -> Array:
    """The entries of a target or of weights that belong to a partition."""
    try:
        found = np.asarray(part)
        return found.astype(np.float64, copy=False) if name == "sample_weight" else found
    except Exception as problem:  # user code may raise anything
        raise unreadable(place, problem) from problem


def pieces_together(name: str, parts: list[Any], skip: int, length: int) -> Array:
    """The same from several parts with other boundaries: `length` entries after the first `skip`."""
    found = np.concatenate([piece(name, Place(number), part) for number, part in enumerate(parts)])
    return found[skip : skip + length]


def rows_alone(reader: Reader, names: Array | None, place: Place, part: Any) -> InMemory:
    """A partition as rows in memory without targets."""
    x = reader(place, part)
    return InMemory(x, np.empty((x.shape[0], 0)), None, names=names)


def read_chunk(source: Any, chunk: int) -> Any:
    """The rows of one chunk of a stream's source."""
    return next(iter(source.read([chunk])))
