"""Sums over the rows of each class: weights, means and scatter, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from hiperplano.data.block import matrix_product
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.statistics import refuse_out_of_range

EPS = float(np.finfo(float).eps)
_SAMPLE_ROWS = 256
_SAMPLE_ROWS_OF_A_CLASS = 16
_SAMPLE_CELLS = 2**15  # up to this number of values, summing all rows takes no longer than drawing a sample
_CLOSE = 1 / 4  # least share of the sample's scatter within classes for which all classes use one shift
_FEW_CLASSES = 16  # up to this number of classes, a dense product with the rows is faster than a sparse one
_CANCELLED = 1 / 16  # a centred sum of squares below this share of the raw one has lost digits


@dataclass(frozen=True)
class ClassMoments:
    """Weighted moments of every class about a point near its mean.

    Classes that are close together may share the point. Otherwise each class has its own point: about a common point,
    the scatter within a class would be a small difference of large numbers.

    Attributes
    ----------
    shift : ndarray of shape (classes, d)
        The point of each class.
    weight : ndarray of shape (classes,)
        Total weight of each class.
    sums : ndarray of shape (classes, d)
        Σ w·(x − shift).
    squares : ndarray of shape (d, d) or (classes, d, d)
        Σ w·v·vᵀ with v = x − shift, of all rows together or of each class.
    """

    shift: Array
    weight: Array
    sums: Array
    squares: Array

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def means(self) -> Array:
        """Of shape (classes, d)."""
        return np.asarray(self.shift + self.sums / self.weight[:, None])

    @cached_property
    def scatter(self) -> Array:
        """Σ w·(x − mean)(x − mean)ᵀ, of all classes together or of each class.

        A column that is constant within a class up to rounding has exactly zero scatter there.
        """
        drift = self.sums / np.sqrt(self.weight)[:, None]
        if self.squares.ndim == 2:
            within = self.squares - drift.T @ drift
        else:
            within = self.squares - drift[:, :, None] * drift[:, None, :]
        vary = np.einsum("...jj->...j", within) > self._rounding
        if not vary.all():
            within = np.where(vary[..., :, None] & vary[..., None, :], within, 0.0)
        return np.asarray(within)

    @cached_property
    def _rounding(self) -> Array:
        """Sums of squares that rounding of the input values alone can cause."""
        size = np.abs(self.means)
        if self.squares.ndim == 2:
            return np.asarray(self.total * (4 * EPS * size.max(axis=0)) ** 2)
        return np.asarray(self.weight[:, None] * (4 * EPS * size) ** 2)

    @property
    def lost_digits(self) -> bool:
        """Whether the points were so far from the means that digits were lost."""
        raw = np.einsum("...jj->...j", self.squares)
        moved = self.sums**2 / self.weight[:, None]
        lost = (moved if self.squares.ndim == 3 else moved.sum(axis=0)) > (1 - _CANCELLED) * raw
        return bool(lost.any() and (lost & (raw > self._rounding)).any())


def class_moments(design: Design, n_classes: int, *, separate: bool) -> ClassMoments:
    """Moments of all classes, in one pass, or in two if the first one lost digits.

    Parameters
    ----------
    design : Design
        With a row vector "code", the number of the class of each row.
    separate : bool
        Whether to compute the scatter of each class, not only the pooled one.

    Raises
    ------
    NonFiniteRows
        For NaN and infinity, and for columns beyond 1e±100.
    """
    # Rows may not be validated yet; the sums reveal NaN and infinity.
    with np.errstate(over="ignore", invalid="ignore"):
        first = _moments_about(design, _sampled_points(design, n_classes, separate), separate)
        squares = np.einsum("...jj->...j", first.squares)
        total = squares.sum(axis=0) if separate else squares
        refuse_out_of_range(design, total, np.abs(first.shift).max(axis=0))
        return _moments_about(design, first.means, separate) if first.lost_digits else first


def shows_all_numbers(design: Design) -> bool:
    """Whether `class_moments` is always computed for rows of this shape, so that it reveals NaN."""
    return design.n_rows > design.n_columns


def class_sums(block: Block, n_classes: int, values: Array) -> Array:
    """Σ w·values over the rows of each class, for `values` of shape (m,) or (m, k)."""
    code = block.vectors["code"]
    if n_classes <= _FEW_CLASSES:
        return matrix_product(block.weighted(_members(code, n_classes).T).T, values)
    member = csr_array((block.weights, code, np.arange(len(block) + 1)), shape=(len(block), n_classes))
    return np.asarray(member.T @ values)


def _members(codes: Array, n_classes: int) -> Array:
    """Class membership as 0 and 1, of shape (classes, rows)."""
    return (codes == np.arange(n_classes)[:, None]).astype(np.float64)


def deviations(block: Block, points: Array) -> Array:
    """x − points[class of x], as a new float64 array; a single point serves all classes."""
    if len(points) == 1:
        return np.asarray(np.subtract(block.dense(), points[0], dtype=np.float64))
    out = points[block.vectors["code"]]
    np.subtract(block.dense(), out, out=out)
    return out


def weighted_deviations(block: Block, points: Array, scale: Array | float = 1.0) -> Array:
    """√weight·scale·(x − points[class of x]), as a new float64 array."""
    rows = deviations(block, points)
    rows *= scale
    if block.weight is not None:
        rows *= block.xp.sqrt(block.weight)[:, None]
    return rows


def _weights(block: Block, n_classes: int) -> Array:
    return np.bincount(block.vectors["code"], block.weight, n_classes).astype(np.float64, copy=False)


@dataclass(frozen=True)
class _PooledMoments:
    """Weights and sums of each class, and pooled squares; `points` holds one point for all classes, or one for each."""

    n_classes: int
    points: Array

    def __call__(self, block: Block) -> Sums:
        rows = deviations(block, self.points)
        sums = class_sums(block, self.n_classes, rows)
        if block.weight is not None:
            rows *= block.xp.sqrt(block.weight)[:, None]
        return _weights(block, self.n_classes), sums, matrix_product(rows.T, rows)


@dataclass(frozen=True)
class _SeparateMoments:
    """Weights, sums and squares of each class. Rows are first grouped by class."""

    points: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        n_classes, d = self.points.shape
        codes = block.vectors["code"]
        # NumPy sorts 16-bit integers by counting, in a tenth of the time.
        block = block.take(xp.argsort(codes.astype(np.uint16) if n_classes <= 2**16 else codes, stable=True))
        ends = xp.searchsorted(block.vectors["code"], xp.arange(n_classes + 1))
        rows, weight = xp.asarray(block.dense(), dtype=xp.float64), block.weights
        sums, squares = xp.zeros((n_classes, d)), xp.zeros((n_classes, d, d))
        for k, (start, end) in enumerate(pairwise(ends.tolist())):
            if start == end:
                continue
            here = slice(start, end)
            part = rows[here]
            part -= self.points[k]
            sums[k] = matrix_product(weight[here], part)
            if block.weight is not None:
                part *= xp.sqrt(weight[here])[:, None]
            squares[k] = matrix_product(part.T, part)
        return _weights(block, n_classes), sums, squares


@dataclass(frozen=True)
class _FirstRows:
    """The first row of each of some classes, and whether it exists."""

    codes: Array

    def __call__(self, block: Block) -> Sums:
        match = block.vectors["code"] == self.codes[:, None]
        return match.any(axis=1), block.take(match.argmax(axis=1)).dense()


def _earlier(left: Sums, right: Sums) -> Sums:
    return left[0] | right[0], np.where(left[0][:, None], left[1], right[1])


def _moments_about(design: Design, shift: Array, separate: bool) -> ClassMoments:
    if separate:
        return ClassMoments(shift, *design.fold(_SeparateMoments(shift)))
    points = shift[:1] if (shift == shift[0]).all() else shift
    return ClassMoments(shift, *design.fold(_PooledMoments(len(shift), points)))


def _sampled_points(design: Design, n_classes: int, separate: bool) -> Array:
    """Points about which the rows of each class are summed: means of sampled rows, as dense vectors.

    For few rows in memory, the means of all rows. For many rows, classes that are close together and summed together
    share one point, which is cheaper to subtract. The point of a class that is not in the sample is its first row.
    """
    size = max(_SAMPLE_ROWS, _SAMPLE_ROWS_OF_A_CLASS * n_classes)
    if isinstance(design, InMemory) and design.n_rows * design.n_columns <= _SAMPLE_CELLS:
        size = design.n_rows
    sample = design.some_rows(size)
    codes, rows = sample.collect(sample.vector("code")), sample.dense()
    absent = np.flatnonzero(np.bincount(codes, minlength=n_classes) == 0)
    if len(absent):
        rows = np.concatenate([rows, design.fold(_FirstRows(absent), _earlier)[1]])
        codes = np.concatenate([codes, absent])
    members = _members(codes, n_classes)
    points = np.asarray(members @ rows / members.sum(axis=1)[:, None])
    if separate or size >= design.n_rows:
        return points
    common = rows.mean(axis=0)
    within, apart = (np.square(rows - each).sum(axis=0) for each in (points[codes], common))
    return np.broadcast_to(common, points.shape) if (within >= _CLOSE * apart).all() else points
