"""Sums over rows that several solvers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from hiperplano.data.block import matrix_product, row_sums, scratch
from hiperplano.data.design import Array, Block, Design, Sums, maximum
from hiperplano.data.finite import LARGEST, MOST_WEIGHT, SMALLEST
from hiperplano.data.in_memory import InMemory

_EPS = float(np.finfo(float).eps)
_SAMPLE_ROWS = 256
# Up to this number of products of columns, summing all rows takes no longer than drawing and examining a sample.
_SAMPLE_PRODUCTS = 2**20
_PER_ROW = 8  # fixed cost of a row, in columns
SPARSE_PRODUCTS = 0.1  # share of stored entries below which a sparse product is faster than a dense one
# The square of that share for XᵀX of d columns is 0.1² + 2.5/d: a sparse product takes about 3 ns for each pair of
# numbers in a row, a dense one 5 ns for each number, to make rows dense, and 0.03 ns for each pair.
_SPARSE_PAIRS = 2.5
_CANCELLED = 1 / 16  # a centred sum of squares below this share of the raw one has lost digits
_NEAR = 1 / 2  # the same for means more than a standard deviation from 0, where another shift would save a bit
_CANCELLED_SPARSE = 1e-4  # the same where another shift would make columns dense; until then refinement costs less
_MOST_SHIFTED = 3.0  # most columns of sparse rows that are shifted alone, times the density; then dense rows are faster


class NonFiniteRows(ArithmeticError):
    """Sums over rows that were not validated contain NaN, infinity or numbers out of range (1e±100)."""


@dataclass(frozen=True)
class Moments:
    """Weighted second moments of [1, x − shift, y − shift], which are additive over sets of rows.

    Attributes
    ----------
    raw : ndarray of shape (..., 1+d+t, 1+d+t)
        Leading axes, if any, are groups of rows.
    shift : ndarray of shape (d+t,)
        A point near the mean; sums of squares about it keep digits that sums about 0 would lose.
    """

    raw: Array
    n_targets: int
    shift: Array

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.raw[0, 0])

    @property
    def mean(self) -> Array:
        """Means of [x, y]."""
        return np.asarray(self.shift + self.raw[0, 1:] / self.raw[0, 0])

    def scatter(self, centred: bool) -> Array:
        """Σ w·v·vᵀ of v = [x, y]; about the mean if `centred`, otherwise about `shift`."""
        inner = self.raw[1:, 1:]
        if not centred:
            return inner.copy()
        around, total = self.raw[0, 1:], self.raw[0, 0]
        mean = around / total
        scatter = np.multiply.outer(around, mean)
        np.subtract(inner, scatter, out=scatter)
        # A column that is constant up to rounding must have a variance of exactly zero. Rounding errors come from the
        # sums and from the input values.
        mean += self.shift
        written = (total * (4 * _EPS) ** 2) * np.square(mean)
        constant = scatter.diagonal() <= np.maximum(4 * _EPS * inner.diagonal(), written)
        if constant.any():
            scatter[constant, :] = 0.0
            scatter[:, constant] = 0.0
        return scatter

    def group(self, raw: Array) -> Moments:
        """The moments of one group, or of a union of groups."""
        return Moments(raw, self.n_targets, self.shift)


def moments(design: Design, *, centred: bool, n_groups: int = 0) -> Moments:
    """Second moments of all rows, in one pass, or in two if the first one lost digits.

    Parameters
    ----------
    centred : bool
        Whether moments about the mean are needed, or about the origin.
    n_groups : int, default=0
        If not 0, moments of each group of rows: the row vector "fold" holds numbers from 0 to `n_groups` − 1, and −1
        for rows of no group.

    Raises
    ------
    NonFiniteRows
        For NaN and infinity, and for columns beyond 1e±100.
    """
    d = design.n_columns
    sparse = design.is_sparse and sparse_products_pay(design.density, d)
    # Rows may not be validated yet; the sums reveal NaN and infinity.
    with np.errstate(over="ignore", invalid="ignore"):
        shift, share = np.zeros(d + design.n_targets), _CANCELLED_SPARSE if sparse else _CANCELLED
        if centred and not sparse and _few_products(design):
            shift[d:], share = _target_mean(design), _NEAR
        elif centred:
            shift = sampled_shift(design, sparse)
        (raw,) = design.fold(MomentSums(shift, sparse, n_groups))
        together = raw.sum(axis=0) if n_groups else raw
        refuse_out_of_range(design, together.diagonal()[1 : d + 1], shift[:d])
        lost = _lost(together, share)
        if centred and lost.any():
            mean = shift + together[0, 1:] / together[0, 0]
            sparse = sparse and n_groups == 0 and bool(design.density * np.count_nonzero(lost[:d]) <= _MOST_SHIFTED)
            shift = np.concatenate([np.where(lost[:d], mean[:d], 0.0), mean[d:]]) if sparse else mean
            (raw,) = design.fold(MomentSums(shift, sparse, n_groups))
    return Moments(raw, design.n_targets, shift)


def sparse_products_pay(density: float, n_columns: int) -> bool:
    """Whether XᵀX of sparse rows takes less time from the stored numbers than from dense copies of the rows."""
    return density**2 < SPARSE_PRODUCTS**2 + _SPARSE_PAIRS / max(1, n_columns)


def _few_products(design: Design) -> bool:
    """Whether summing the products of all rows locates the columns as fast as a sample would."""
    if not isinstance(design, InMemory) or _uses_exact_mean(design):
        return False
    return design.n_rows * (_PER_ROW + design.n_columns) ** 2 <= _SAMPLE_PRODUCTS


def _uses_exact_mean(design: Design) -> bool:
    """Whether there are so few rows that their exact mean is used.

    This does not hold with weights, since rows of weight 0 might be far off.
    """
    return design.n_rows <= _SAMPLE_ROWS and not design.has_weight


def _target_mean(design: Design) -> Array:
    """The unweighted mean of each target, which is accurate enough for a shift."""
    y = design.collect(design.vector("y"))
    return np.asarray(y.sum(axis=0) / len(y))


def sampled_shift(design: Design, sparse: bool) -> Array:
    """For each column of [x, y], the sampled value closest to the sample mean; for few rows, the mean itself.

    A value that occurs in the column gives differences of exactly zero for constant columns. Any shift other than 0
    would make sparse rows dense and copy dense rows. If all means are within a standard deviation of 0, a shift would
    not save a single bit, so 0 is used. For few rows this test takes longer than a copy.
    """
    sample, d = design.some_rows(_SAMPLE_ROWS), design.n_columns
    values = sample.collect(sample.vector("y") if sparse else sample.map(_rows_and_targets))
    mean = values.sum(axis=0) / len(values)
    if _uses_exact_mean(design) and not sparse:
        mean[:d] = mean[:d].astype(design.dtype)  # products in float32 need the shift in that precision
        return np.asarray(mean)
    apart = values - mean
    near = sparse or (np.square(mean) * len(values) <= np.einsum("ij,ij->j", apart, apart))[:d].all()
    moved = slice(d, None) if near and not sparse else slice(None)  # columns of `values` with a nonzero shift
    closest = np.abs(apart[:, moved]).argmin(axis=0)
    shift = values[:, moved][closest, np.arange(len(closest))]
    return np.concatenate([np.zeros(d), shift]) if near else shift


def _rows_and_targets(block: Block) -> Array:
    return np.concatenate([block.dense(), block.y], axis=1, dtype=np.float64)


def refuse_out_of_range(design: Design, squares: Array, offset: Array | None = None) -> None:
    """Raise `NonFiniteRows` if validation would reject the rows.

    Parameters
    ----------
    squares : ndarray of shape (d,)
        Weighted sums of squares of every column about `offset`.
    offset : ndarray of shape (d,), optional
        Zeros by default.
    """
    most = MOST_WEIGHT if design.has_weight else 1.0  # factor by which weights may have multiplied or divided a square
    least = 4 * design.n_rows * SMALLEST**2 * most
    offset = np.zeros(1) if offset is None else np.abs(offset)
    small = squares.max(initial=0.0) <= LARGEST**2 / most and offset.max(initial=0.0) <= LARGEST  # also False for NaN
    if small and (squares.min(initial=least) >= least or ((squares >= least) | (offset >= SMALLEST)).all()):
        return
    if not np.isfinite(squares).all():
        raise NonFiniteRows
    sizes = largest(design)  # columns of zeros are valid
    if ((sizes > LARGEST) | ((sizes < SMALLEST) & (sizes > 0))).any():
        raise NonFiniteRows


def digits_lost(raw: Array, share: float = _CANCELLED) -> bool:
    """Whether centring cancels nearly all of a sum of squares."""
    return bool(_lost(raw, share).any())


def _lost(raw: Array, share: float) -> Array:
    """Whether centring cancels nearly all of the sum of squares of each column."""
    if raw[0, 0] <= 0:
        return np.zeros(len(raw) - 1, dtype=bool)
    taken = np.square(raw[0, 1:])
    taken /= raw[0, 0]
    return np.asarray(taken > (1 - share) * raw.diagonal()[1:])


@dataclass(frozen=True)
class MomentSums:
    """Σ w·v·vᵀ of v = [1, x − shift, y − shift], for all rows or by group; products in `dtype`, sums in float64."""

    sums_squares = True
    shift: Array
    sparse: bool
    n_groups: int
    dtype: type = np.float64

    @property
    def stays_sparse(self) -> bool:
        """Whether products use only the stored entries of sparse rows."""
        return self.sparse and not self.n_groups

    def _need_no_copy(self, block: Block) -> bool:
        """Whether rows can be multiplied without a copy. Weights, a shift or another precision require one."""
        return block.weight is None and block.x.dtype == self.dtype and not self.shift[: block.n_columns].any()

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        if self.stays_sparse:
            return (_products_of_entries(block, self.shift),)
        if not self.n_groups and self._need_no_copy(block):
            return (_products_about_origin(block, self.shift[block.n_columns :], self.dtype),)
        rows = augmented(block, self.shift, self.dtype)
        if not self.n_groups:
            return (matrix_product(rows.T, rows).astype(np.float64, copy=False),)
        group = block.vectors["fold"]
        out = xp.zeros((self.n_groups, rows.shape[1], rows.shape[1]))
        for number in np.unique(group[group >= 0]):
            part = rows[group == number]
            out[number] = matrix_product(part.T, part)
        return (out,)


def augmented(block: Block, shift: Array, dtype: type = np.float64) -> Array:
    """√w·[1, x − shift, y − shift] of a block, as a temporary array."""
    d, xp, x = block.n_columns, block.xp, block.dense()
    out = scratch("augmented", (len(block), 1 + len(shift)), block.x, dtype)
    out[:, 0] = 1.0
    xp.subtract(block.y, shift[d:], out=out[:, d + 1 :], casting="same_kind")
    if shift[:d].any():
        xp.subtract(x, shift[:d].astype(dtype), out=out[:, 1 : d + 1])
        return block.weighted_root(out)
    if block.weight is None:
        out[:, 1 : d + 1] = x
        return out
    root: Array = np.sqrt(block.weight).astype(dtype)[:, None]
    xp.multiply(x, root, out=out[:, 1 : d + 1])  # one pass instead of two
    out[:, :1] *= root
    out[:, d + 1 :] *= root
    return out


def _products_of_entries(block: Block, shift: Array) -> Array:
    """Σ w·v·vᵀ of v = [1, x − shift, y − shift] of sparse rows, from their stored entries.

    Only a few columns of x may be shifted; these alone become dense.
    """
    d = block.n_columns
    moved = np.flatnonzero(shift[:d])
    pick = np.zeros((d, len(moved)))
    pick[moved, np.arange(len(moved))] = 1.0
    dense = np.column_stack([np.ones(len(block)), block.dot(pick) - shift[moved], block.y - shift[d:]])
    weighted, places = block.weighted(dense), np.concatenate([[0], 1 + moved, np.arange(d + 1, 1 + len(shift))])
    out = np.empty((1 + len(shift), 1 + len(shift)))
    of_rows = slice(1, d + 1)
    out[of_rows, of_rows] = block.weighted_products(block.weights)
    cross = block.transpose_dot(weighted)
    out[of_rows, places], out[places, of_rows] = cross, cross.T
    out[np.ix_(places, places)] = matrix_product(dense.T, weighted)
    return out


def _products_about_origin(block: Block, target_shift: Array, dtype: type) -> Array:
    """The same for dense rows without weights, of which only the targets are shifted, without a copy of the rows."""
    d, rows = block.n_columns, block.dense()
    small: Array = np.ones((len(block), 1 + len(target_shift)), dtype)
    np.subtract(block.y, target_shift, out=small[:, 1:], casting="same_kind")
    products, cross, ends = matrix_product(rows.T, rows), row_sums(small, rows), matrix_product(small.T, small)
    out = np.empty((d + len(ends), d + len(ends)))
    of_rows, of_targets = slice(1, d + 1), slice(d + 1, None)
    out[0, 0], out[of_rows, of_rows], out[of_targets, of_targets] = ends[0, 0], products, ends[1:, 1:]
    out[0, of_rows] = out[of_rows, 0] = cross[0]
    out[0, of_targets] = out[of_targets, 0] = ends[0, 1:]
    out[of_rows, of_targets], out[of_targets, of_rows] = cross[1:].T, cross[1:]
    return out


def largest(design: Design) -> Array:
    """The largest absolute value in every column."""
    return design.fold(_largest, maximum)[0]


def _largest(block: Block) -> Sums:
    return (block.column_sizes(),)


def centred_scores(block: Block, mean: Array, coef: Array) -> Array:
    """(x − mean)·coef of a block, for coefficients of shape (d,) or (d, k)."""
    if block.is_sparse:
        return np.asarray(block.dot(coef) - mean @ coef)
    return matrix_product(block.xp.subtract(block.x, mean), coef)


def centred_product(block: Block, mean: Array, right: Array) -> Array:
    """(x − mean)ᵀ·right of a block, for `right` of shape (m,) or (m, k)."""
    if block.is_sparse:
        return np.asarray(block.transpose_dot(right) - np.multiply.outer(mean, right.sum(axis=0)))
    return matrix_product(block.xp.subtract(block.x, mean).T, right)


def align_rows(values: Array, design: Design, n_rows: int) -> Array:
    """Values for the rows of the input table, from those of a design.

    Rows that were dropped because of weight 0 get NaN.

    Parameters
    ----------
    values : ndarray of shape (rows of the design, ...)
    n_rows : int
        Number of rows of the table.

    Returns
    -------
    ndarray of shape (n_rows, ...)
    """
    if len(values) == n_rows:
        return values
    out = np.full((n_rows, *values.shape[1:]), np.nan)
    out[design.row_numbers()] = values
    return out


def count_rows(X: Any) -> int:
    """Number of rows of a table, matrix, list or design."""
    return int(X.n_rows if isinstance(X, Design) else _num_samples(X))


def without_level(design: Design) -> tuple[Design, float]:
    """The design with centred targets, and their mean.

    The intercept absorbs the mean of a target; without it, more digits are left for what the coefficients explain.
    """
    ((total, weighted),) = design.fold(_LevelSums())
    level = float(weighted / total)
    return design.with_vectors(y=design.map(_AboveLevel(level))), level


@dataclass(frozen=True)
class _LevelSums:
    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        return (np.array([block.weights.sum(), block.weights @ block.y[:, 0]]),)


@dataclass(frozen=True)
class _AboveLevel:
    reads_rows = False
    level: float

    def __call__(self, block: Block) -> Array:
        return np.asarray(block.y[:, 0] - self.level)
