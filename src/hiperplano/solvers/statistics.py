"""Sums over rows that several solvers ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums

_EPS = float(np.finfo(float).eps)
_SAMPLE_ROWS = 256
_SAFE = 2.0**400  # squares of numbers beyond this, or below its inverse, come near the ends of float64
_SPARSE_BELOW = 0.1  # share of stored entries under which a sparse product beats a dense one
_VANISHED = 2.0**-900  # sums of squares below lose digits, or all, to underflow
_CANCELLED = 1 / 16  # a centred sum of squares under this share of the raw one has lost digits
_CANCELLED_SPARSE = 1e-4  # the same where a better reference makes rows dense: refinement costs less before that


class NonFiniteRows(ArithmeticError):
    """Sums over rows met NaN or infinity: the gate had not looked at them."""


@dataclass(frozen=True)
class Reference:
    """Where columns are measured from, and their unit (a power of two).

    Sums of squares about a point near the mean keep the digits that raw sums lose; units keep squares of
    very large and very small numbers representable.
    """

    shift: Array
    unit: Array

    @classmethod
    def origin(cls, n_columns: int) -> Reference:
        return cls(np.zeros(n_columns), np.ones(n_columns))

    def beside(self, other: Reference) -> Reference:
        """For the columns of both."""
        return Reference(np.concatenate([self.shift, other.shift]), np.concatenate([self.unit, other.unit]))

    @classmethod
    def near(cls, values: Array) -> Reference:
        """Of some rows: in each column the value closest to the mean.

        A value that occurs, not the mean itself: so differences are exact for columns that hardly vary, and
        zero for constant ones.
        """
        mean = (values * (1.0 / len(values))).sum(axis=0)  # in this order sums of huge numbers do not overflow
        closest = np.abs(values - mean).argmin(axis=0)
        shift = values[closest, np.arange(len(mean))]
        return cls(shift, power_of_two(np.abs(values - shift).max(axis=0)))

    def plain(self, n_columns: int) -> bool:
        """Whether it changes nothing in the first columns."""
        return not self.shift[:n_columns].any() and bool((self.unit[:n_columns] == 1.0).all())


_LAST = np.finfo(float).maxexp - 1  # of the largest power of two among floats


def power_of_two(size: Array) -> Array:
    """One where squares are safe, otherwise the power of two next to `size`."""
    if size.max(initial=0.0) < _SAFE and size.min(initial=_SAFE, where=size > 0) > 1.0 / _SAFE:
        return np.ones_like(size)
    _, exponent = np.frexp(size)
    extreme = (size > _SAFE) | ((size < 1.0 / _SAFE) & (size > 0))
    return np.ldexp(1.0, np.where(extreme, np.minimum(exponent, _LAST), 0))


def largest(design: Design) -> Array:
    """The size of the largest number in every column."""

    def statistic(block: Block) -> Sums:
        found = abs(block.counted().x).max(axis=0)
        return (np.asarray(found if isinstance(found, np.ndarray) else found.toarray(), dtype=np.float64).ravel(),)

    return design.fold(statistic, lambda a, b: (np.maximum(a[0], b[0]),))[0]


def augmented(block: Block, reference: Reference) -> Array:
    """√w·[1, (x − shift)/unit, (y − shift)/unit] of a block, as a fresh array."""
    d = block.x.shape[1]
    out = np.empty((len(block), 1 + d + block.y.shape[1]))
    out[:, 0] = 1.0
    np.subtract(block.counted().dense(), reference.shift[:d], out=out[:, 1 : d + 1])
    np.subtract(block.y, reference.shift[d:], out=out[:, d + 1 :])
    if (reference.unit != 1.0).any():
        out[:, 1:] /= reference.unit
    if block.weight is not None:
        out *= np.sqrt(block.weight)[:, None]
    return out


def centred_scores(block: Block, mean: Array, coef: Array) -> Array:
    """(x − mean)·coef of a block, for coefficients of shape (d,) or (d, k)."""
    if isinstance(block.x, np.ndarray):
        return np.asarray(np.subtract(block.x, mean) @ coef)
    return np.asarray(block.x @ coef - mean @ coef)


def centred_product(block: Block, mean: Array, right: Array) -> Array:
    """(x − mean)ᵀ·right of a block."""
    if isinstance(block.x, np.ndarray):
        return np.asarray(np.subtract(block.x, mean).T @ right)
    return np.asarray(block.x.T @ right - mean * right.sum())


def _sparse_product(block: Block, reference: Reference) -> Array:
    """The same matrix times itself, for CSR rows about the origin, in the time of the stored entries."""
    weight = block.weights
    d = block.x.shape[1]
    small = np.column_stack([np.ones(len(block)), (block.y - reference.shift[d:]) / reference.unit[d:]])
    out = np.empty((1 + d + block.y.shape[1],) * 2)
    weighted = block.x.multiply(weight[:, None]).tocsr()
    edges = np.r_[0, d + 1 : len(out)]
    out[1 : d + 1, 1 : d + 1] = (block.x.T @ weighted).toarray()
    cross = weighted.T @ small
    out[1 : d + 1, edges] = cross
    out[np.ix_(edges, np.arange(1, d + 1))] = cross.T
    out[np.ix_(edges, edges)] = small.T @ (small * weight[:, None])
    return out


@dataclass(frozen=True)
class Moments:
    """Weighted second moments of [1, x, y] about a reference: additive over any sets of rows.

    Attributes
    ----------
    raw : ndarray of shape (..., 1+d+t, 1+d+t)
        Leading axes, if any, are groups of rows.
    n_targets : int
    reference : Reference
    """

    raw: Array
    n_targets: int
    reference: Reference

    @property
    def total(self) -> float:
        return float(self.raw[0, 0])

    @property
    def mean(self) -> Array:
        """Means of [x, y], in units and from the origin of the data."""
        return np.asarray(self.reference.shift + self.reference.unit * (self.raw[0, 1:] / self.raw[0, 0]))

    def scatter(self, centred: bool) -> Array:
        """Σ w·v·vᵀ of [x, y] in units of the reference; about the mean if `centred`."""
        inner = self.raw[1:, 1:]
        if not centred:
            return inner.copy()
        around = self.raw[0, 1:]
        scatter = inner - np.outer(around, around / self.raw[0, 0])
        # A column that is constant up to rounding must have exactly no variance: up to that of the sums, and of
        # the numbers as they were written down.
        level = self.reference.shift / self.reference.unit + around / self.raw[0, 0]
        with np.errstate(over="ignore"):
            summed, written = 4 * _EPS * inner.diagonal(), self.raw[0, 0] * np.square(4 * _EPS * level)
        constant = scatter.diagonal() <= np.maximum(summed, written)
        scatter[constant, :] = 0.0
        scatter[:, constant] = 0.0
        return scatter

    def group(self, raw: Array) -> Moments:
        """The moments of one group, or of a sum of groups."""
        return Moments(raw, self.n_targets, self.reference)


def moments(design: Design, *, centred: bool, groups: Array | None = None, n_groups: int = 1) -> Moments:
    """Second moments of all rows in one pass, or two where the first shows that it lost digits.

    Parameters
    ----------
    centred : bool
        Whether the moments are wanted about the mean; about the origin otherwise.
    groups : ndarray of shape (n,), optional
        A number from 0 to `n_groups` − 1 for each row; −1 leaves the row out.

    Raises
    ------
    NonFiniteRows
        For NaN and infinity in rows that have a weight.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the sums tell
        first = _sampled_reference(design, centred)
        raw = _gather(design, first, groups, n_groups)
        second = _better_reference(design, first, raw, centred)
        if second is not None:
            first, raw = second, _gather(design, second, groups, n_groups)
    return Moments(raw if groups is not None else raw[0], design.n_targets, first)


def _is_sparse(design: Design) -> bool:
    return design.is_sparse and design.density < _SPARSE_BELOW


def _sampled_reference(design: Design, centred: bool) -> Reference:
    step = max(1, design.n_rows // _SAMPLE_ROWS)
    rows: slice | Array = slice(None, None, step)
    if design.weight is not None and not design.weight.all():
        rows = np.flatnonzero(design.weight)[::step]
    if _is_sparse(design):  # any other point would make the rows dense
        return Reference.origin(design.n_columns).beside(_reference(design.y[rows], centred))
    sample = design.take(rows)
    sample = sample if isinstance(sample, np.ndarray) else sample.toarray()
    return _reference(np.column_stack([sample, design.y[rows]]).astype(np.float64, copy=False), centred)


def _reference(values: Array, centred: bool) -> Reference:
    if centred:
        return Reference.near(values)
    return Reference(np.zeros(values.shape[1]), power_of_two(np.abs(values).max(axis=0)))


def _gather(design: Design, reference: Reference, groups: Array | None, n_groups: int) -> Array:
    sparse = _is_sparse(design) and reference.plain(design.n_columns) and groups is None

    def statistic(block: Block) -> Sums:
        if sparse:
            return (_sparse_product(block.counted(), reference)[None],)
        rows = augmented(block, reference)
        if groups is None:
            return ((rows.T @ rows)[None],)
        out = np.zeros((n_groups, rows.shape[1], rows.shape[1]))
        here = groups[block.rows]
        for group in np.unique(here[here >= 0]):
            part = rows[here == group]
            out[group] = part.T @ part
        return (out,)

    (raw,) = design.fold(statistic)
    return raw


def _better_reference(design: Design, used: Reference, raw: Array, centred: bool) -> Reference | None:
    """None if the first pass was accurate; otherwise where to measure from in a second."""
    raw = raw.sum(axis=0)
    squares = raw.diagonal()[1:]
    lost = ~np.isfinite(squares) | ((squares < _VANISHED) & (used.unit == 1.0) & (used.shift == 0))
    if not np.isfinite(raw).all() or lost.any():
        low, high = _extremes(design)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise NonFiniteRows
        if not np.isfinite(raw).all() or (np.maximum(-low, high)[lost] > 0).any():
            shift = low / 2 + high / 2 if centred else np.zeros_like(low)
            return Reference(shift, power_of_two(np.maximum(np.abs(low - shift), np.abs(high - shift))))
        return None
    if not centred or raw[0, 0] <= 0:
        return None
    drift = raw[0, 1:] / raw[0, 0]
    left = squares - raw[0, 0] * drift**2
    if (left < (_CANCELLED_SPARSE if _is_sparse(design) else _CANCELLED) * squares).any():
        return Reference(used.shift + used.unit * drift, used.unit)
    return None


def _extremes(design: Design) -> tuple[Array, Array]:
    """Smallest and largest value of every column of [x, y]."""

    def statistic(block: Block) -> Sums:
        values = np.column_stack([block.counted().dense(), block.y])
        return -values.min(axis=0), values.max(axis=0)

    low, high = design.fold(statistic, lambda a, b: (np.maximum(a[0], b[0]), np.maximum(a[1], b[1])))
    return -low, high
