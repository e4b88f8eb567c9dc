"""The design of rows in memory: a NumPy array or a SciPy CSR array, with row vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import cached_property
from threading import Lock
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Rows, RowVector, Statistic, Sums, add
from hiperplano.data.loops.arrays import RowArrays, row_arrays
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.parallel.threads import in_threads, ordered_reduce, worker_count
from hiperplano.errors import NotAvailable

# A block and its copies should stay in a core's cache (2**18 doubles are 2 MiB), but have enough rows that a product
# over them costs more than adding its result. Blocks of float32 rows are half as large, since they are also copied to
# float64.
_BLOCK_CELLS = 2**18
# Numbers in a block of dense rows that are only multiplied in float32. It exceeds a core's cache, but reading it from a
# shared one takes hardly longer. Each block costs a tenth of a millisecond: its rows push all else out of the cache.
_SINGLE_CELLS = 2**21
_FEWEST_SINGLE_CELLS = 2**19  # least numbers of such rows for two blocks: starting a second thread costs as much
_FEWEST_ROWS, _MOST_ROWS = 1024, 2**14
_SPARSE_ENTRIES = 2**19  # stored entries in a block of sparse rows
_SPARSE_CELLS = 2**21  # numbers in such a block if it is made dense
_FEWEST_SPARSE_ROWS, _MOST_SPARSE_ROWS = 256, 2**15
_SHORT_ROW = 16  # mean entries per row up to which a branch misprediction at its end costs as much as its product
_LONG_ROWS = 2**16  # rows of a block if only vectors are read
# Least and most entries of a block of sparse rows that stays sparse: twice the least make two blocks, for two threads.
_FEWEST_ENTRIES, _MOST_ENTRIES = 2**18, 2**19
# Rows of a dense block for each of its columns if it returns a d × d matrix. Writing and adding it takes as long as the
# products of some hundred rows; longer blocks save 5% of the time of XᵀX with 600 columns, and 15% with 2,000.
_PER_COLUMN = 2
_PER_SUM = 2  # least entries of such a block per number of its sums, so that adding these costs little


class InMemory(Design):
    """Rows of a two-dimensional array of any memory order, or of a CSR array with sorted, unique column numbers.

    Parameters
    ----------
    x : ndarray or csr_array of shape (n, d)
    y : ndarray of shape (n, targets)
    weight : ndarray of shape (n,) or None
        None stands for weights of one.
    one_target : bool
        Whether the target was given as a vector.
    names : ndarray of str, optional
        Names of the columns.
    vectors : mapping of str to ndarray, optional
        Additional row vectors.
    """

    is_sparse: bool = False

    def __init__(
        self,
        x: Any,
        y: Array,
        weight: Array | None = None,
        one_target: bool = False,
        names: Array | None = None,
        vectors: Mapping[str, Array] | None = None,
    ) -> None:
        self.x, self.is_sparse = x, not isinstance(x, np.ndarray)
        self._parts: dict[tuple[int, int], Any] = {}
        self.vectors = {"y": y, **({} if weight is None else {"weight": weight}), **(vectors or {})}
        self.one_target, self.names, self.dtype = one_target, names, x.dtype
        self.n_rows, self.n_columns = x.shape
        self.density = x.nnz / max(1, self.n_rows * self.n_columns) if self.is_sparse else 1.0
        self.n_targets, self.has_weight = int(y.shape[1]), "weight" in self.vectors

    @property
    def y(self) -> Array:
        """Targets, of shape (n, targets)."""
        return self.vectors["y"]

    @property
    def weight(self) -> Array | None:
        """Weights, or None if all are one."""
        return self.vectors.get("weight")

    @property
    def total_weight(self) -> float:
        return float(self.n_rows) if self.weight is None else float(self.weight.sum())

    def block_rows(self) -> int:
        """Rows in a block. It depends only on the data, because it determines the order of additions."""
        if not self.is_sparse:
            return self._dense_rows(_BLOCK_CELLS if self.dtype.itemsize == 8 else _BLOCK_CELLS // 2)
        by_entries = int(_SPARSE_ENTRIES * self.n_rows / max(1, self.x.nnz))
        by_cells = _SPARSE_CELLS // max(1, self.n_columns)
        rows = min(by_entries, by_cells) if by_cells > _FEWEST_SPARSE_ROWS else by_entries
        return min(_MOST_SPARSE_ROWS, max(_FEWEST_SPARSE_ROWS, rows))

    def _dense_rows(self, cells: int) -> int:
        return min(_MOST_ROWS, max(_FEWEST_ROWS, cells // (self.n_columns + 1)))

    @cached_property
    def slices(self) -> list[slice]:
        """Slices of the blocks."""
        return self._cut(self.block_rows())

    @cached_property
    def _long_slices(self) -> list[slice]:
        return self._cut(_LONG_ROWS)

    def _cut(self, most: int) -> list[slice]:
        """Slices of equal length, at most `most` rows. Several are an even number, so that two threads share them."""
        n_blocks = 2 * -(-self.n_rows // (2 * most)) if self.n_rows > most else 1
        size = max(1, -(-self.n_rows // n_blocks))
        return [slice(start, min(start + size, self.n_rows)) for start in range(0, max(self.n_rows, 1), size)]

    def block(self, rows: slice) -> Block:
        """Consecutive rows, without a copy."""
        if rows.stop - rows.start == self.n_rows and not self.is_sparse:
            return Block(self.x, self.vectors)
        return Block(self._slice(rows), {name: vector[rows] for name, vector in self.vectors.items()})

    def only_block(self) -> Block | None:
        """All rows, if they form one block, for callers that keep results of it between passes."""
        return self.block(self.slices[0]) if len(self.slices) == 1 else None

    def _slice(self, rows: slice) -> Any:
        if not self.is_sparse:
            return self.x[rows]
        part = self._parts.get((rows.start, rows.stop))
        if part is None:
            part = self._parts[rows.start, rows.stop] = self._sparse_part(rows)
        return part

    def _sparse_part(self, rows: slice) -> Any:
        """Rows as a separate matrix, cached for the next pass together with its transpose.

        Slicing or construction through SciPy would copy and check; these are views, except for the row pointer.
        """
        if rows.stop - rows.start == self.n_rows:
            part = copy(self.x)  # a shallow copy, so that cached attributes are not added to the caller's matrix
            part.has_canonical_format = True
            return part
        first, last = self.x.indptr[rows.start], self.x.indptr[rows.stop]
        part = type(self.x)((rows.stop - rows.start, self.n_columns), dtype=self.x.dtype)
        part.data, part.indices = self.x.data[first:last], self.x.indices[first:last]
        part.indptr = self.x.indptr[rows.start : rows.stop + 1] - first
        part.has_canonical_format = True
        return part

    def fold(self, statistic: Statistic, combine: Callable[[Sums, Sums], Sums] = add) -> Sums:
        slices = self._slices_for(statistic)
        if len(slices) == 1:  # small fits do not need the number of threads
            with one_blas_thread():
                return statistic(self.block(slices[0]))
        return self._reduce(lambda rows: statistic(self.block(rows)), combine, slices)

    def _slices_for(self, statistic: Any) -> list[slice]:
        """Slices of the blocks for a statistic.

        Blocks are longer if it reads vectors only, leaves sparse rows sparse, or multiplies dense ones in float32.
        """
        if self.n_rows <= _FEWEST_ROWS and not self.is_sparse:
            return [slice(0, self.n_rows)]  # for any statistic
        if not getattr(statistic, "reads_rows", True):
            return self._long_slices
        if self.is_sparse and getattr(statistic, "stays_sparse", False):
            sums = self.n_columns**2 if getattr(statistic, "sums_squares", False) else self.n_columns
            fewest, most = (max(entries, _PER_SUM * sums) for entries in (_FEWEST_ENTRIES, _MOST_ENTRIES))
            n_blocks = max(2, self.x.nnz // most) if self.x.nnz >= 2 * fewest else 1
            return self._cut(max(1, -(-self.n_rows // n_blocks)))
        single, squares = (getattr(statistic, name, False) for name in ("stays_single", "sums_squares"))
        if single and not squares:
            cells = self.n_rows * (self.n_columns + 1)
            n_blocks = 1 if cells < _FEWEST_SINGLE_CELLS else max(2, cells // _SINGLE_CELLS)
            return self._cut(min(_MOST_ROWS, max(_FEWEST_ROWS, -(-self.n_rows // n_blocks))))
        # Of dense float32 rows, as many bytes as a block of doubles.
        rows = self._dense_rows(2 * _BLOCK_CELLS) if single else self.block_rows()
        if squares and not self.is_sparse:
            rows = max(rows, min(_PER_COLUMN * self.n_columns, -(-self.n_rows // 2)))  # two blocks, for two threads
        return self.slices if rows == self.block_rows() else self._cut(rows)

    def _reduce(
        self, function: Callable[[slice], Sums], combine: Callable[[Sums, Sums], Sums], slices: list[slice]
    ) -> Sums:
        if len(slices) == 1:  # small fits do not need the number of threads
            with one_blas_thread():
                return function(slices[0])
        return ordered_reduce(function, slices, combine, worker_count())

    def fold_and_map(
        self, statistic: Callable[[Block], tuple[Sums, Rows]], combine: Callable[[Sums, Sums], Sums] = add
    ) -> tuple[Sums, dict[str, RowVector]]:
        slices = self._slices_for(statistic)
        kept: Rows = {}
        allocating = Lock()

        def summed(rows: slice) -> Sums:
            sums, vectors = statistic(self.block(rows))
            for name, part in vectors.items():
                if len(slices) == 1:
                    kept[name] = part
                    continue
                with allocating:
                    if name not in kept:
                        # In the memory order of the parts.
                        kept[name] = np.empty_like(part, shape=(self.n_rows, *part.shape[1:]))
                kept[name][rows] = part
            return sums

        return self._reduce(summed, combine, slices), dict(kept)

    def map(self, function: Callable[[Block], Array]) -> RowVector:
        slices = self._slices_for(function)
        # Nothing is summed over rows, so a single block needs no guard for reproducibility.
        return function(self.block(slices[0])) if len(slices) == 1 else super().map(function)

    def collect(self, vector: RowVector) -> Array:
        return np.asarray(vector)

    def with_vectors(self, **vectors: RowVector | None) -> Self:
        merged = {**self.vectors, **vectors}
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        changed.vectors = {name: np.asarray(vector) for name, vector in merged.items() if vector is not None}
        if changed.y.ndim == 1:
            changed.vectors["y"] = changed.y[:, None]
        changed.n_targets, changed.has_weight = int(changed.y.shape[1]), "weight" in changed.vectors
        return changed

    def vector(self, name: str) -> RowVector:
        return self.vectors[name]

    def weighted_rows(self) -> Design:
        return self if self.weight is None or self.weight.all() else self.gather(self.weight > 0)

    def row_numbers(self) -> Array:
        return self.vectors["row"] if "row" in self.vectors else np.arange(self.n_rows)

    def sample(self, size: int, seed: int = 0) -> InMemory:
        if size >= self.n_rows:
            return self
        rows = np.random.default_rng(seed).choice(self.n_rows, size, replace=False, shuffle=False)
        return self.subset(np.sort(rows))

    def some_rows(self, size: int) -> InMemory:
        """The same; dense rows are taken at equal distances, which takes a tenth of the time of a random draw.

        The distance is odd, so that rows that alternate in pairs or dozens are all represented.
        """
        if size >= self.n_rows or self.is_sparse:
            return self.sample(size)
        return self.subset(slice(None, None, -(-self.n_rows // size) | 1))

    def gather(self, mask: RowVector) -> InMemory:
        return self.with_vectors(row=self.row_numbers()).subset(np.flatnonzero(mask))

    def subset(self, rows: Array | slice) -> InMemory:
        """The rows with these numbers, in this order, with all their vectors."""
        vectors = {name: vector[rows] for name, vector in self.vectors.items()}
        return InMemory(self.x[rows], vectors.pop("y"), None, self.one_target, self.names, vectors)

    def by_row_length(self) -> InMemory:
        """Short sparse rows sorted by length, for many passes, so that the processor predicts where each row ends."""
        if not self.is_sparse or self.x.nnz > _SHORT_ROW * self.n_rows:
            return self
        length = np.minimum(np.diff(self.x.indptr), np.iinfo(np.uint16).max)
        return self.subset(np.argsort(length.astype(np.uint16), kind="stable"))  # radix sort of 16-bit integers

    def held_columns(self, most: float) -> Array | None:
        """Mask of the columns of sparse rows with a stored number, of shape (d,); None if `most` or more have one."""
        held = np.zeros(self.n_columns, dtype=bool)
        start, end = 0, self.n_columns
        while start < self.x.nnz:  # few indices are enough where most columns are held
            part = self.x.indices[start : min(end, self.x.nnz)]
            held[part.astype(np.intp, copy=False)] = True  # NumPy's implicit conversion takes three times as long
            if np.count_nonzero(held) >= most:
                return None
            start, end = end, 2 * end
        return held

    def with_columns(self, numbers: Array) -> InMemory:
        """Sparse rows restricted to these columns, which must include all columns with stored numbers."""
        position = np.empty(self.n_columns, dtype=self.x.indices.dtype)  # entries of other columns are never used
        position[numbers] = np.arange(len(numbers), dtype=position.dtype)
        shape = self.n_rows, len(numbers)
        x = csr_array((self.x.data, position[self.x.indices], self.x.indptr), shape=shape)
        names = None if self.names is None else np.asarray(self.names)[numbers]
        vectors = dict(self.vectors)
        return InMemory(x, vectors.pop("y"), None, self.one_target, names, vectors)

    def on_rows_of(self, other: InMemory) -> InMemory:
        """The vectors of this design with the rows of another one of equal length."""
        return other.with_vectors(**self.vectors)

    def in_doubles(self, most_cells: int) -> InMemory:
        """Rows converted to float64, if they have at most `most_cells` numbers.

        Otherwise each pass would convert them again.
        """
        if self.x.dtype == np.float64 or self.x.size > most_cells:
            return self
        x: Any = self.dense() if not self.is_sparse else self._sparse_part(slice(0, self.n_rows))
        if self.is_sparse:
            x.data = x.data.astype(np.float64)
        vectors = dict(self.vectors)
        return InMemory(x, vectors.pop("y"), None, self.one_target, self.names, vectors)

    def in_singles(self, origin: Array) -> Array:
        """All dense rows in float32, relative to an origin of shape (d,)."""
        out = np.empty_like(self.x, dtype=np.float32)
        centred = bool(origin.any())

        def fill(rows: slice) -> None:  # written in place, to avoid a copy
            if centred:
                np.subtract(self.x[rows], origin, out=out[rows], casting="same_kind")
            else:
                out[rows] = self.x[rows]

        in_threads(fill, self.slices, self.x.size)
        return out

    def arrays(self) -> tuple[Any, Array, Array | None]:
        """Rows, targets of shape (n, targets) and weights, for libraries that need arrays; read-only."""
        return self.x, self.y, self.weight

    def dense(self) -> Array:
        """All rows as one float64 array, for the few that `sample` and `gather` return; read-only."""
        return np.asarray(self.x.toarray() if self.is_sparse else self.x, dtype=np.float64)

    def as_held(self) -> Any:
        """All rows as stored, an ndarray or a CSR array, for models that expose them; read-only."""
        return self.x

    def loop_arrays(self) -> RowArrays:
        """The three arrays for compiled loops: dense (the last two are empty) or CSR."""
        return row_arrays(self.x)


def require_memory(design: Design, reason: str) -> InMemory:
    """Return the design if its rows are in memory; otherwise raise an error.

    Parameters
    ----------
    reason : str
        Sentence that says why the rows must be in memory, and what to use instead.
    """
    if isinstance(design, InMemory):
        return design
    raise NotAvailable(
        "{reason} These {n_rows} rows lie elsewhere ({design}). Pass arrays, or a sample of the rows.",
        reason=reason,
        n_rows=design.n_rows,
        design=type(design).__name__,
    )
