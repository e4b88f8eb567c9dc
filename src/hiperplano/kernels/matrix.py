"""Gram matrices, by blocks of rows in threads: as a whole, row by row, or as a product without forming the matrix."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from hiperplano.data.block import Array
from hiperplano.data.loops.mirror import mirror
from hiperplano.data.parallel.threads import in_threads
from hiperplano.errors import InvalidData
from hiperplano.linalg.memory import require_bytes
from hiperplano.linalg.tiles.product import cuts, symmetric_product
from hiperplano.messages import Message

if TYPE_CHECKING:
    from hiperplano.kernels.algebra import Kernel, Prepared

_SAMPLED = 25  # sampled rows that determine the centre
_CELLS = 2**17  # entries of a block, which should stay in a core's cache while it is filled and used
_MOST_DENSE = 2**23  # most entries of sparse rows that are made dense
# Number of columns, or share of entries, for which a sparse product takes longer than a dense one.
_FEW_COLUMNS, _DENSE = 256, 0.1
_WIDTH = 2048  # columns of a block; with more columns it would have too few rows


class KernelMatrix:
    """k(x, z) for every row x of X and z of Z, computed on demand.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or csr_array of shape (n, d)
    Z : ndarray or csr_array of shape (m, d), optional
        X if None: the matrix is then symmetric.
    dtype : dtype, optional
        Precision of the computation, float32 or float64; that of the rows if None.
    centre : ndarray of shape (d,), optional
        Origin for differences; by default the median of some rows of Z, which is robust to outliers. The origin of
        sparse rows is 0.
    """

    def __init__(self, kernel: Kernel, X: Any, Z: Any = None, dtype: Any = None, centre: Array | None = None) -> None:
        self.kernel, self.symmetric = kernel, Z is None
        self.dtype = np.dtype(dtype or _float_type(X))
        X = rows_of(X, self.dtype)
        Z = X if Z is None else rows_of(Z, self.dtype)
        if not self.symmetric and not (issparse(X) or issparse(Z)) and np.may_share_memory(X, Z):
            Z = Z.copy()  # NumPy multiplies a matrix with itself by another routine, with other last bits
        if issparse(X) or issparse(Z):
            centre = np.zeros(X.shape[1])
        self.centre = _middle(Z[:: 1 + len(Z) // _SAMPLED]).astype(np.float64) if centre is None else centre
        self.left = kernel.prepare(X, self.centre)
        self.right = self.left if self.symmetric else kernel.prepare(Z, self.centre)
        self.shape = (X.shape[0], Z.shape[0])
        self._rows = X

    @cached_property
    def diagonal(self) -> Array:
        """k(x, x) of every row of X, in float64."""
        return np.asarray(self.kernel.diagonal(self._rows), dtype=np.float64)

    def rows(self, which: slice | Array, columns: slice | Array = slice(None), out: Array | None = None) -> Array:
        """Some rows, or some columns of them.

        Parameters
        ----------
        which, columns : slice or ndarray of int
        out : ndarray, optional
            Output array, C-contiguous or not, instead of a new one.
        """
        x, z = cut(self.left, which), cut(self.right, columns)
        if out is None:
            shape = tuple(_count(part, n) for part, n in zip((which, columns), self.shape, strict=True))
            out = np.empty(shape, self.dtype)
        step = max(1, _CELLS // max(1, out.shape[1]))
        for start in range(0, len(out), step):
            block = slice(start, start + step)
            self.kernel.fill(cut(x, block), z, out[block])
        return out

    def dense(self, out: Array | None = None) -> Array:
        """The whole matrix; exactly symmetric if X and Z are the same."""
        n, m = self.shape
        out = np.empty(self.shape, self.dtype) if out is None else out
        if self.symmetric:
            self._fill_symmetric(out)
            return out
        step = max(1, _CELLS // max(1, m))

        def fill(start: int) -> None:
            rows = slice(start, min(start + step, n))
            self.rows(rows, out=out[rows])

        in_threads(fill, range(0, n, step), n * m)
        return out

    def _fill_symmetric(self, out: Array) -> None:
        """Fill blocks on and above the diagonal, each mirrored while it is in the cache."""
        n = len(out)
        step = int(np.sqrt(_CELLS))
        if n <= step and out.dtype == self.dtype:
            self.kernel.fill(self.left, self.right, out)
            mirror(out, (0, n), (0, n))
            np.fill_diagonal(out, self.diagonal)
            return

        def fill(start: int) -> None:
            rows = slice(start, min(start + step, n))
            for other in range(start, n, step):
                columns = slice(other, min(other + step, n))
                block = out[rows, columns]
                if out.dtype == self.dtype:
                    self.rows(rows, columns, out=block)
                else:
                    block[...] = self.rows(rows, columns)
                mirror(out, (rows.start, rows.stop), (columns.start, columns.stop))

        in_threads(fill, range(0, n, step), n * n)
        np.fill_diagonal(out, self.diagonal)

    def part(self, rows: slice | Array = slice(None), columns: slice | Array = slice(None)) -> KernelMatrix:
        """The matrix of some rows and columns, which does not count as symmetric."""
        found = KernelMatrix.__new__(KernelMatrix)
        found.kernel, found.symmetric, found.dtype, found.centre = self.kernel, False, self.dtype, self.centre
        found.left, found.right = cut(self.left, rows), cut(self.right, columns)
        found.shape = (_count(rows, self.shape[0]), _count(columns, self.shape[1]))
        return found

    def dot(self, right: Array) -> Array:
        """The matrix times `right`, of shape (m,) or (m, k), without forming it."""
        n, m = self.shape
        if self.symmetric:
            parts = cuts(n)
            return symmetric_product(parts, lambda _, j, rows: self.rows(rows, parts[j]), right)
        found = np.empty((n, *right.shape[1:]), dtype=np.result_type(self.dtype, right.dtype))
        width = max(1, min(m, _WIDTH))
        step = max(1, _CELLS // width)

        def product(start: int) -> None:
            rows = slice(start, min(start + step, n))
            found[rows] = 0.0
            for first in range(0, m, width):
                columns = slice(first, first + width)
                found[rows] += self.rows(rows, columns) @ right[columns]

        in_threads(product, range(0, n, step), n * m)
        return found


def gram(kernel: Kernel, X: Any, Z: Any = None, *, dtype: Any = None, out: Array | None = None) -> Array:
    """The Gram matrix k(x, z) of the rows of X and Z, by blocks in threads.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array-like or sparse matrix of shape (n, d)
        Rows.
    Z : array-like or sparse matrix of shape (m, d), optional
        Other rows; those of X if None.
    dtype : dtype, optional
        Precision of the computation, float32 or float64; by default that of the rows.
    out : ndarray of shape (n, m), optional
        Output array, instead of a new one.

    Returns
    -------
    ndarray of shape (n, m)
        The matrix; exactly symmetric without Z.

    Examples
    --------
    >>> from hiperplano.kernels import Linear, gram
    >>> gram(Linear() + 1.0, [[1.0], [2.0]])
    array([[2., 3.],
           [3., 5.]])
    """
    matrix = KernelMatrix(kernel, X, Z, dtype if dtype is not None or out is None else out.dtype)
    if out is not None and out.shape != matrix.shape:
        raise InvalidData(
            "out has shape {shape}; the Gram matrix has shape {needed}. Pass an array of that shape.",
            shape=out.shape,
            needed=matrix.shape,
        )
    if out is None:
        require_bytes(
            float(matrix.dtype.itemsize) * matrix.shape[0] * matrix.shape[1],
            "gram",
            Message("the Gram matrix of {n} and {m} rows", n=matrix.shape[0], m=matrix.shape[1]),
            Message("Pass fewer rows at a time, or an array that may take it as `out`; models need no Gram matrix."),
        )
    return matrix.dense(out)


def cut(prepared: Prepared, which: slice | Array) -> Prepared:
    """The same for some rows."""
    return tuple(cut(part, which) if isinstance(part, tuple) else _rows(part, which) for part in prepared)


def _rows(part: Any, which: slice | Array) -> Any:
    """Some rows of an array; all of a sparse one without a copy."""
    every = issparse(part) and isinstance(which, slice) and which.indices(part.shape[0]) == (0, part.shape[0], 1)
    return part if every else part[which]


def rows_of(X: Any, dtype: Any) -> Any:
    """Rows as a two-dimensional array or a CSR array of floats."""
    if issparse(X):
        rows = csr_array(X, dtype=dtype)
        if rows.indices.dtype != np.int32 and rows.nnz < 2**31:  # required by scikit-learn's distances
            rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return rows
    rows = np.asarray(X, dtype=dtype)
    if rows.ndim != 2:
        raise InvalidData(
            "Rows of shape {shape}; a kernel takes two-dimensional arrays, (rows, columns), or two single rows. "
            "Pass X.reshape(-1, 1) for a single column.",
            shape=rows.shape,
        )
    return rows


def _middle(rows: Array) -> Array:
    """The median of every column; the upper one of two."""
    place = len(rows) // 2
    return np.partition(rows, place, axis=0)[place]


def _float_type(X: Any) -> Any:
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64


def _count(which: slice | Array, n: int) -> int:
    return len(range(*which.indices(n))) if isinstance(which, slice) else len(which)


def dense_if_small(x: Any) -> Any:
    """Sparse rows as an array if that is small and BLAS is faster: for few columns, or many nonzero entries."""
    if not issparse(x) or x.shape[0] * x.shape[1] > _MOST_DENSE:
        return x
    filled = x.nnz > _DENSE * x.shape[0] * x.shape[1]
    return x.toarray() if filled or x.shape[1] <= _FEW_COLUMNS else x
