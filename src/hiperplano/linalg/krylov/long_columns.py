"""A preconditioner for X·Xᵀ of sparse rows with few long columns and many short ones, such as those of words.

A few long columns make X·Xᵀ nearly singular: the short ones, which must tell the rows apart, hardly show. Products of
the long columns are therefore factored, and only those of the short ones are taken as diagonal.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hiperplano.data.block import transposed
from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows

_SINGULAR = 4.0  # rows for each column that counts, above which X·Xᵀ is nearly singular
_LONG = 200  # columns to factor; with a quarter as many, twice as many steps were needed
_MOST_NUMBERS = 2**24  # in a dense copy of the long columns
_APART = 2.0  # least square of a long column, as a multiple of the other squares of a row and the penalty
_STRONG = 0.5  # least penalty, as a share of the mean square of the other columns in a row, for which none are factored
_LEFT = 2.0  # most rows for each of the other columns that counts
# With more rows: least stored numbers of a row, least columns for each row, largest penalty (a share as above). On 30
# tables of words, the time was 0.05 to 1.03 of that of steps for columns of unit length; on others often twice.
_FILLED, _WIDE, _WEAK = 24, 1.5, 2e-3
# Nanoseconds of a step: a call, a stored number; with long columns factored also a row, and a solve.
_CALL, _ENTRY, _ROW, _SOLVE = 6e4, 1.6, 22.0, 9e4
_LEAST = 1e-3  # least sum of squares of the short columns in a row, as a share of the mean


def columns_that_count(squares: Array) -> float:
    """The number of equally long columns with the same sums of squares and of fourth powers."""
    return float(np.sum(squares)) ** 2 / (float(np.sum(np.square(squares))) or 1.0)


def nearly_singular(rows: CentredRows) -> bool:
    """Whether few columns make up most of the length of the rows."""
    return rows.is_sparse and len(rows.root) > _SINGULAR * columns_that_count(np.square(rows.length))


def long_columns(rows: CentredRows, alpha: float) -> Array:
    """Numbers of the columns that `LongColumns` should factor; none if that is of no use.

    A strong penalty makes most short columns alike: steps for columns of unit length are few then. They are also better
    where short columns do not tell the rows apart, unless these are long and the penalty is weak.
    """
    squares, n = np.square(rows.length), len(rows.root)
    many = min(_LONG, n // 2, _MOST_NUMBERS // n)
    if not nearly_singular(rows) or not 0 < many < len(squares):
        return np.empty(0, dtype=np.intp)
    order = np.argpartition(-squares, many)
    rest = squares[order[many:]]
    left = float(rest.sum()) / n  # mean square of the other columns in a row
    apart = n < _LEFT * columns_that_count(rest)
    weak = rows.x.nnz >= _FILLED * n and len(squares) >= _WIDE * n and 0.0 < alpha <= _WEAK * left
    if alpha >= _STRONG * left or not (apart or weak):
        return order[:0]
    return order[:many][squares[order[:many]] > _APART * (left + alpha)]


def step_with_long_columns(rows: CentredRows) -> float:
    """Cost of a step with long columns factored, as a multiple of one without."""
    return 1.0 + (_ROW * len(rows.root) + _SOLVE) / (_CALL + _ENTRY * rows.x.nnz)


class LongColumns:
    """(L·Lᵀ + D)⁻¹ for the long columns L, and a diagonal D of squares of the short ones and the penalty.

    Parameters
    ----------
    rows : CentredRows
        Sparse rows; L is not centred.
    which : ndarray of int
        The long columns.
    alpha : float
        Penalty.

    Attributes
    ----------
    smallest : float
        A lower bound for the eigenvalues of L·Lᵀ + D.
    """

    def __init__(self, rows: CentredRows, which: Array, alpha: float) -> None:
        self._long = rows.x[:, which]
        self._turned = transposed(self._long)
        dense = self._long.toarray()
        left = np.maximum(rows.stored_squares - np.einsum("ij,ij->i", dense, dense), 0.0)
        left += alpha
        self._inverse = 1.0 / np.maximum(left, _LEAST * (float(left.mean()) or 1.0))
        self.smallest = 1.0 / float(self._inverse.max())
        dense *= np.sqrt(self._inverse)[:, None]
        matrix = dense.T @ dense
        matrix.flat[:: len(matrix) + 1] += 1.0
        self._factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, residual: Array) -> Array:
        """The product with a residual of shape (n,)."""
        first = self._inverse * residual
        shares = cho_solve(self._factor, self._turned @ first, check_finite=False)
        return np.asarray(first - self._inverse * (self._long @ shares))
