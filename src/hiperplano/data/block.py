"""A block of rows, as statistics see it, with products that work for dense and sparse rows alike."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

Array = NDArray[Any]
_MOST_KEPT = 2**19  # largest temporary array that is kept, in numbers: twice a block of dense rows
_SHORT = 3  # mean entries per row up to which branch mispredictions at row ends cost more than the additions
_kept = threading.local()

# Products of dense rows with a few vectors are made in tiles. A general matrix product first copies its operands into
# another order, which pays if each number is used many times; with a few vectors it takes longer than the
# multiplications. OpenBLAS multiplies small matrices without that copy (on x86-64 with AVX-512); elsewhere tiles take
# about as long as the whole product.
_FEWEST_COLUMNS = 32  # fewer columns make the calls too short
_MOST_VECTORS = 12  # more of them use each number so often that the copy pays
_OUTPUT = 1000  # most scores of a tile: OpenBLAS copies the operands of larger products
_MULTIPLICATIONS = 500_000  # most multiplications of a tile, for the same reason
_FEWEST_SCORED, _FEWEST_SUMMED = 16, 32  # rows of a tile; a sum also has to be added to the others

_HELD = 500  # most numbers of a result that NumPy computes without letting other threads run
_FEWEST_IN_PART = 256  # rows of a part; with fewer, calls take longer than waiting for the other thread


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows, and the row vectors that travel with them.

    Attributes
    ----------
    x : ndarray or csr_array of shape (m, d)
        The rows; read-only. Statistics use the methods below, which work for dense and sparse rows.
    vectors : mapping of str to ndarray of shape (m,) or (m, k)
        "y" (targets, of shape (m, targets)), "weight" unless all weights are one, and vectors added by `with_vectors`.
    """

    x: Any
    vectors: Mapping[str, Array]

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @property
    def xp(self) -> Any:
        """The array's namespace: NumPy, or another library with the same functions."""
        return np

    @property
    def n_columns(self) -> int:
        """Number of columns of `x`."""
        return int(self.x.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether only some entries of `x` are stored."""
        return not isinstance(self.x, np.ndarray)

    @property
    def y(self) -> Array:
        """Targets, of shape (m, targets)."""
        return self.vectors["y"]

    @property
    def weight(self) -> Array | None:
        """Weights, or None if all are one."""
        return self.vectors.get("weight")

    @property
    def weights(self) -> Array:
        """Weights, as an array even if all are one."""
        weight = self.vectors.get("weight")
        return np.ones(len(self)) if weight is None else weight

    def weighted(self, values: Array) -> Array:
        """`values`, of shape (m,) or (m, k), times the weights."""
        weight = self.vectors.get("weight")
        if weight is None:
            return values
        return values * (weight if values.ndim == 1 else weight[:, None])

    def weighted_root(self, rows: Array) -> Array:
        """`rows`, of shape (m, k), times the square roots of the weights, in place."""
        if self.weight is not None:
            rows *= np.sqrt(self.weight).astype(rows.dtype)[:, None]
        return rows

    def dense(self) -> Array:
        """The rows of `x` as an array; read-only."""
        return np.asarray(self.x.toarray() if self.is_sparse else self.x)

    def doubles(self) -> Array:
        """The rows of `x` as a read-only float64 array, since each product with other dtypes converts them again."""
        x = self.dense()
        if x.dtype == np.float64:
            return x
        out = scratch("doubles", x.shape, x)
        out[...] = x
        return out

    def dot(self, coef: Array) -> Array:
        """x·coef, for `coef` of shape (d,) or (d, k)."""
        if self.is_sparse or coef.ndim == 1:
            return np.asarray(self.x @ coef if self.is_sparse else matrix_product(self.x, coef))
        return row_scores(self._rows_like(coef), coef.T)

    def transpose_dot(self, right: Array) -> Array:
        """xᵀ·right in float64, for `right` of shape (m,) or (m, k)."""
        if self.is_sparse or right.ndim == 1:
            turned = self.transposed()
            return np.asarray(turned @ right if self.is_sparse else matrix_product(turned, right), dtype=np.float64)
        return row_sums(right, self._rows_like(right)).T.astype(np.float64, copy=False)

    def _rows_like(self, other: Array) -> Array:
        """Dense rows to be multiplied with another array, as float64 if that is float64."""
        return self.doubles() if other.dtype == np.float64 else self.dense()

    def normal_dot(self, weights: Array | None, right: Array, offset: float = 0.0) -> tuple[Array, float]:
        """xᵀ·W·(x·right − offset) and Σ W·(x·right − offset) in float64, for `right` of shape (d,).

        Parameters
        ----------
        weights : ndarray of shape (m,) or None
            None for all one.
        """
        if self.is_sparse:
            from hiperplano.data.loops.sparse_products import add_normal_product, add_normal_product_of_entries

            out, weights = np.zeros(self.n_columns), np.empty(0) if weights is None else weights
            x = self.x
            if x.nnz > _SHORT * len(self):
                return out, add_normal_product(x.data, x.indices, x.indptr, weights, right, offset, out)
            scores = np.full(len(self), -offset)
            rows = self._rows_of_entries()
            return out, add_normal_product_of_entries(x.data, x.indices, rows, weights, right, scores, out)
        scores = self.dot(right) - offset
        scores = scores if weights is None else weights * scores
        return self.transpose_dot(scores), float(scores.sum())

    def _rows_of_entries(self) -> Array:
        """The row number of each stored entry."""
        rows = getattr(self.x, "rows_of_entries", None)
        if rows is None:
            rows = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.x.indptr))
            self.x.rows_of_entries = rows  # rows in memory are used again in every pass
        return np.asarray(rows)

    def stored_moments(self, right: Array) -> tuple[Array, Array]:
        """Σᵢ x·right and Σᵢ x²·right of every column of sparse rows in float64, for `right` of shape (m,)."""
        from hiperplano.data.loops.sparse_products import add_moments

        sums, squares = np.zeros(self.n_columns), np.zeros(self.n_columns)
        add_moments(self.x.data, self.x.indices, self.x.indptr, right, sums, squares)
        return sums, squares

    def transposed(self) -> Any:
        """xᵀ, without a copy."""
        if not self.is_sparse:
            return self.x.T
        turned = getattr(self.x, "turned", None)
        if turned is None:
            turned = self.x.turned = transposed(self.x)  # rows in memory are used again in every pass
        return turned

    def weighted_products(self, weights: Array) -> Array:
        """Σ weights·x·xᵀ in float64, of shape (d, d); from stored entries alone if these are few."""
        if self.is_sparse:
            from hiperplano.data.loops.mirror import mirror  # compiled code is imported on demand
            from hiperplano.data.loops.sparse_products import add_products

            size = self.n_columns
            out = np.zeros((size, size))
            add_products(self.x.data, self.x.indices, self.x.indptr, weights, out)
            mirror(out, (0, size), (0, size))
            return out
        rows = self.x * np.sqrt(weights)[:, None]
        return np.asarray(matrix_product(rows.T, rows), dtype=np.float64)

    def squared(self) -> Block:
        """The same rows with every entry squared."""
        return Block(self.x.multiply(self.x).tocsr() if self.is_sparse else np.square(self.x), self.vectors)

    def absolute(self) -> Block:
        """The same rows without the signs of their entries."""
        return Block(abs(self.x), self.vectors)

    def row_squares(self) -> Array:
        """Σⱼ x² of every row."""
        if self.is_sparse:
            return np.asarray(self.x.multiply(self.x).sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(np.einsum("ij,ij->i", self.x, self.x, dtype=np.float64))

    def weighted_row_squares(self, weights: Array) -> Array:
        """Σⱼ weightsⱼ·x² of every row, without a copy of dense rows."""
        if self.is_sparse:
            return np.asarray(self.x.multiply(self.x) @ weights)
        return np.asarray(np.einsum("ij,ij,j->i", self.x, self.x, weights))

    def column_squares(self) -> Array:
        """Σᵢ x² of every column. Dense float32 rows are summed in float32, where the result may be infinite."""
        if self.is_sparse:
            squares = np.square(self.x.data, dtype=np.float64)
            return np.bincount(self.x.indices, squares, self.n_columns).astype(np.float64, copy=False)
        kind = np.float32 if self.x.dtype == np.float32 else np.float64  # a conversion would take longer than the sums
        return np.einsum("ij,ij->j", self.x, self.x, dtype=kind).astype(np.float64, copy=False)

    def column_sizes(self) -> Array:
        """The largest |x| of every column, in float64."""
        if self.is_sparse:
            sizes = np.zeros(self.n_columns)
            np.maximum.at(sizes, self.x.indices, np.abs(self.x.data).astype(np.float64, copy=False))
            return sizes
        return np.abs(self.x).max(axis=0).astype(np.float64, copy=False)

    def entries(self) -> Array:
        """The stored numbers: `x` itself, or the data of CSR rows."""
        return np.asarray(self.x.data if self.is_sparse else self.x)

    def with_entries(self, entries: Array) -> Block:
        """The same rows with other values in the stored positions."""
        if not self.is_sparse:
            return Block(entries, self.vectors)
        return Block(type(self.x)((entries, self.x.indices, self.x.indptr), shape=self.x.shape), self.vectors)

    def scaled(self, scale: Array) -> Block:
        """The rows with every column times its `scale`, of shape (d,)."""
        return self.with_entries(self.entries() * (scale[self.x.indices] if self.is_sparse else scale))

    def scaled_rows(self, scale: Array) -> Block:
        """The rows times their `scale`, of shape (m,)."""
        factor = np.repeat(scale, np.diff(self.x.indptr)) if self.is_sparse else scale[:, None]
        return self.with_entries(self.entries() * factor)

    def columns(self, which: Array) -> Block:
        """The block restricted to these columns."""
        if len(which) == self.n_columns and np.array_equal(which, np.arange(self.n_columns)):
            return self
        return Block(self.x[:, which], self.vectors)

    def take(self, which: Array) -> Block:
        """The rows at these positions, or where a mask is True, with their vectors."""
        return Block(self.x[which], {name: vector[which] for name, vector in self.vectors.items()})


def scratch(name: str, shape: tuple[int, ...], like: Any = None, dtype: type = np.float64) -> Array:
    """A temporary array with arbitrary content, which the next call of this thread with the same name may overwrite.

    Page faults of a fresh array of a megabyte take longer than filling it.

    Parameters
    ----------
    name : str
        Name of the array. Arrays that are needed at the same time must have different names.
    shape : tuple of int
    like : ndarray or csr_array, optional
        Rows whose memory order (row-major or column-major) the array should have; operations between different orders
        take five times as long.
    """
    size = math.prod(shape)
    if isinstance(like, np.ndarray) and like.strides[0] < like.strides[-1]:
        return scratch(name, shape[::-1], dtype=dtype).T
    if size > _MOST_KEPT:
        return np.empty(shape, dtype)
    arrays: dict[str, Array] = _kept.__dict__
    if name not in arrays or arrays[name].size < size:
        arrays[name] = np.empty(size)
    return arrays[name].view(dtype)[:size].reshape(shape)


def transposed(x: Any) -> csc_array:
    """xᵀ of CSR rows, without a copy.

    SciPy's own transpose copies views of larger arrays, and checks them again.
    """
    turned = csc_array(x.shape[::-1], dtype=x.dtype)
    turned.data, turned.indices, turned.indptr = x.data, x.indices, x.indptr
    return turned


def matrix_product(left: Array, right: Array) -> Array:
    """left·right of dense arrays with one or two dimensions, for sums that threads compute side by side.

    NumPy's `@` lets other threads run only if the result has more than 500 numbers: blocks with fewer columns would
    wait for each other. `np.dot` always lets them run, but copies arrays that are not contiguous.
    """
    size = (len(left) if left.ndim > 1 else 1) * (right.shape[-1] if right.ndim > 1 else 1)
    if size > _HELD:
        return np.asarray(left @ right)
    if left.flags.forc and right.flags.forc:
        return np.asarray(np.dot(left, right))
    return _product_in_parts(left, right, _HELD // max(1, size) + 1)


def _product_in_parts(left: Array, right: Array, n_parts: int) -> Array:
    """The same as a sum over parts of the rows of `right`, whose products have more than 500 numbers together."""
    length = len(right) // n_parts
    if right.ndim < 2 or length < _FEWEST_IN_PART:
        return np.asarray(left @ right)
    return _sum_of_parts(np.atleast_2d(left), right, length).reshape(*left.shape[:-1], -1)


def row_scores(rows: Array, coef: Array) -> Array:
    """rows·coefᵀ, of shape (m, k); the scores of one vector are contiguous.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    coef : ndarray of shape (k, d)
    """
    m, k = len(rows), len(coef)
    length = _rows_of_tile(rows, k, _FEWEST_SCORED)
    if length is None:
        return matrix_product(coef, rows.T).T
    out = np.empty((k, m), np.result_type(rows, coef))
    whole = m - m % length
    tiles = out[:, :whole].reshape(k, -1, length).swapaxes(0, 1)
    np.matmul(coef, _tiles(rows[:whole], length).swapaxes(1, 2), out=tiles)
    np.matmul(coef, rows[whole:].T, out=out[:, whole:])
    return out.T


def row_sums(right: Array, rows: Array) -> Array:
    """rightᵀ·rows: the sums of the rows with the factors in each column of `right`, of shape (k, d).

    Parameters
    ----------
    right : ndarray of shape (m, k)
    rows : ndarray of shape (m, d)
    """
    length = _rows_of_tile(rows, right.shape[1], _FEWEST_SUMMED)
    return matrix_product(right.T, rows) if length is None else _sum_of_parts(right.T, rows, length)


def _sum_of_parts(left: Array, right: Array, length: int) -> Array:
    """left·right, added from the products of so many rows of `right` at a time, in one call of NumPy."""
    whole = len(right) - len(right) % length
    turned = _tiles(left.T[:whole], length).swapaxes(1, 2)
    total = (turned @ _tiles(right[:whole], length)).sum(axis=0)
    total += left[:, whole:] @ right[whole:]
    return np.asarray(total)


def _tiles(rows: Array, length: int) -> Array:
    """A view of shape (tiles, length, columns)."""
    return rows.reshape(-1, length, rows.shape[1])


def _rows_of_tile(rows: Array, k: int, fewest: int) -> int | None:
    """Number of rows of a tile; None if one product of all rows is faster."""
    m, d = rows.shape
    if not 2 <= k <= _MOST_VECTORS or d < _FEWEST_COLUMNS:
        return None
    step = min(_OUTPUT // k, _MULTIPLICATIONS // (k * d))
    return step if fewest <= step < m else None
