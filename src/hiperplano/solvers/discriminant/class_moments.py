"""Sums over the rows of each class: weights, means and scatter, in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.statistics import power_of_two

EPS = float(np.finfo(float).eps)
_SAMPLE_ROWS = 256
_SAMPLE_ROWS_OF_A_CLASS = 16
_CLOSE = 1 / 4  # share of the sample's scatter that must be inside classes for them to share a point
_CANCELLED = 1 / 16  # a centred sum of squares under this share of the raw one has lost digits


@dataclass(frozen=True)
class ClassMoments:
    """Weighted moments of every class about a point near its mean.

    Classes that lie close together may share the point. For those far apart each has its own: measured from a common
    one, the scatter inside them would be a small difference of large numbers.

    Attributes
    ----------
    weight : ndarray of shape (classes,)
        Total weight of each class.
    shift : ndarray of shape (classes, d)
        Where the rows of a class are measured from.
    unit : ndarray of shape (d,)
        Powers of two in which columns are measured.
    sums : ndarray of shape (classes, d)
        Σ w·(x − shift)/unit.
    squares : ndarray of shape (d, d) or (classes, d, d)
        Σ w·v·vᵀ with v = (x − shift)/unit, of all rows together or of each class.
    """

    weight: Array
    shift: Array
    unit: Array
    sums: Array
    squares: Array

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @property
    def means(self) -> Array:
        """Of shape (classes, d), in the units of the data."""
        return np.asarray(self.shift + self.unit * (self.sums / self.weight[:, None]))

    def scatter(self) -> Array:
        """Σ w·(x − mean)(x − mean)ᵀ in `unit`, all classes together or each by itself.

        A column that does not vary inside a class but for rounding has exactly no scatter there.
        """
        drift = self.sums / np.sqrt(self.weight)[:, None]
        if self.squares.ndim == 2:
            within = self.squares - drift.T @ drift
            _empty_constants(within, self.total, np.abs(self.means).max(axis=0) / self.unit)
            return within
        within = self.squares - drift[:, :, None] * drift[:, None, :]
        for one, weight, mean in zip(within, self.weight, self.means, strict=True):
            _empty_constants(one, float(weight), np.abs(mean) / self.unit)
        return within

    @property
    def lost_digits(self) -> bool:
        """Whether the points measured from were too far from the means."""
        raw = np.einsum("...jj->...j", self.squares)
        moved = self.sums**2 / self.weight[:, None]
        left = raw - (moved if self.squares.ndim == 3 else moved.sum(axis=0))
        return not np.isfinite(self.squares).all() or bool((left < _CANCELLED * raw).any())


def _empty_constants(scatter: Array, weight: float, size: Array) -> None:
    """Zero rows and columns whose spread is below the rounding of the numbers themselves."""
    constant = scatter.diagonal() <= weight * (4 * EPS * size) ** 2
    scatter[constant, :] = 0.0
    scatter[:, constant] = 0.0


def class_moments(design: Design, codes: Array, n_classes: int, *, separate: bool) -> ClassMoments:
    """Moments of all classes in one pass, or two where the first shows that it lost digits.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        The number of its class for each row.
    separate : bool
        Scatter for each class by itself, not only for all together.
    """
    shift, unit = _sampled_points(design, codes, n_classes)
    first = _gather(design, codes, shift, unit, separate)
    if not first.lost_digits:
        return first
    if not np.isfinite(first.squares).all() or not np.isfinite(first.sums).all():
        unit = power_of_two(_largest_deviation(design, codes, shift))
        first = _gather(design, codes, shift, unit, separate)
    return _gather(design, codes, first.means, unit, separate)


def class_weights(codes: Array, weight: Array | None, n_classes: int) -> Array:
    """The total weight of each class."""
    return np.bincount(codes, weights=weight, minlength=n_classes).astype(float)


def deviations(block: Block, codes: Array, points: Array) -> Array:
    """x − points[class of x], as a fresh array; a single point serves all classes."""
    rows = block.counted().dense()
    if len(points) == 1:
        return np.asarray(np.subtract(rows, points[0], dtype=np.float64))
    out = points[codes]
    np.subtract(rows, out, out=out)
    return out


def _gather(design: Design, codes: Array, shift: Array, unit: Array, separate: bool) -> ClassMoments:
    n_classes = len(shift)
    points = shift[:1] if (shift == shift[0]).all() else shift

    def statistic(block: Block) -> Sums:
        here = codes[block.rows]
        return _each(block, here, shift, unit) if separate else _together(block, here, n_classes, points, unit)

    with np.errstate(over="ignore", invalid="ignore"):
        sums, squares = design.fold(statistic)
    return ClassMoments(class_weights(codes, design.weight, n_classes), shift, unit, sums, squares)


def _together(block: Block, codes: Array, n_classes: int, points: Array, unit: Array) -> Sums:
    """Sums of each class, squares of all rows."""
    rows = deviations(block, codes, points)
    if (unit != 1.0).any():
        rows /= unit
    share = np.ones(len(codes)) if block.weight is None else block.weight
    member = csr_array((share, (codes, np.arange(len(codes)))), shape=(n_classes, len(codes)))
    sums = np.asarray(member @ rows)
    if block.weight is not None:
        rows *= np.sqrt(block.weight)[:, None]
    return sums, rows.T @ rows


def _each(block: Block, codes: Array, shift: Array, unit: Array) -> Sums:
    """Sums and squares of each class: rows are brought together by class first."""
    n_classes, d = shift.shape
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes))])
    order = np.argsort(codes, kind="stable")
    rows = block.counted().dense()[order].astype(np.float64, copy=False)
    weight = np.ones(len(codes)) if block.weight is None else block.weight[order]
    sums, squares = np.zeros((n_classes, d)), np.zeros((n_classes, d, d))
    for k in np.flatnonzero(np.diff(starts)):
        here = slice(starts[k], starts[k + 1])
        part = rows[here]
        part -= shift[k]
        if (unit != 1.0).any():
            part /= unit
        sums[k] = weight[here] @ part
        if block.weight is not None:
            part *= np.sqrt(weight[here])[:, None]
        squares[k] = part.T @ part
    return sums, squares


def _sampled_points(design: Design, codes: Array, n_classes: int) -> tuple[Array, Array]:
    """Where rows of each class are measured from, and units for the columns.

    The value closest to the mean of some rows, in each column: values that occur, so that differences are exact for
    columns that hardly vary, and zero for constant ones. One point for all classes where they lie close together, since
    it costs less to subtract.
    """
    wanted = max(_SAMPLE_ROWS, _SAMPLE_ROWS_OF_A_CLASS * n_classes)
    rows = np.arange(0, design.n_rows, max(1, design.n_rows // wanted))
    counting = np.ones(1, dtype=bool) if design.weight is None else design.weight > 0
    rows = rows[np.broadcast_to(counting, design.n_rows)[rows]]
    absent = np.setdiff1d(np.arange(n_classes), codes[rows])
    if len(absent):
        some = (np.flatnonzero((codes == k) & counting)[:_SAMPLE_ROWS_OF_A_CLASS] for k in absent)
        rows = np.concatenate([rows, *some])
    sample = design.take(rows)
    values = np.asarray(sample if isinstance(sample, np.ndarray) else sample.toarray(), dtype=np.float64)
    own = [values[codes[rows] == k] for k in range(n_classes)]
    shift = np.stack([_closest_to_mean(some) for some in own])
    inside = np.concatenate([some - point for some, point in zip(own, shift, strict=True)])
    common = _closest_to_mean(values)
    spread = np.abs(inside).max(axis=0)
    with np.errstate(over="ignore"):  # squares that overflow are not close
        apart, within = (np.square(part).sum(axis=0) for part in (values - common, inside))
    if (within >= _CLOSE * apart).all() and np.isfinite(apart).all():
        shift = np.broadcast_to(common, shift.shape)
    return shift, power_of_two(spread)


def _closest_to_mean(values: Array) -> Array:
    """In each column; a value, not the mean itself."""
    mean = (values * (1.0 / len(values))).sum(axis=0)  # in this order sums of huge numbers do not overflow
    return np.asarray(values[np.abs(values - mean).argmin(axis=0), np.arange(values.shape[1])])


def _largest_deviation(design: Design, codes: Array, shift: Array) -> Array:
    def statistic(block: Block) -> Sums:
        return (np.abs(deviations(block, codes[block.rows], shift)).max(axis=0),)

    (largest,) = design.fold(statistic, lambda a, b: (np.maximum(a[0], b[0]),))
    return largest
