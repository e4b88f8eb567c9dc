"""Checks for NaN, infinity, and columns whose squares overflow or underflow."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Sums, maximum
from hiperplano.errors import InvalidData, InvalidTarget
from hiperplano.messages import Message

LARGEST, SMALLEST = 1e100, 1e-100
"""Largest and smallest magnitudes of columns and targets, whose products and squares neither overflow nor underflow."""
MOST_WEIGHT = 1e50


def refuse_nonfinite(design: Design, names: Any = None) -> None:
    """Raise an error that names the first NaN or infinity in the rows, if there is one.

    Parameters
    ----------
    names : sequence of str, optional
        Names of the columns, for designs without names.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        (squares,) = design.fold(_ColumnSquares())
    if not np.isfinite(squares).all():
        _refuse_first_nonfinite(design, design.names if names is None else names)


def refuse_out_of_range(design: Design, smallest: float = SMALLEST) -> None:
    """Raise an error for NaN, infinity, and columns or targets out of range.

    These have numbers above 1e100, or all numbers below `smallest`.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if design.is_sparse and design.fold(_AreOrdinary(smallest), _all)[0][0]:
            return  # there may be far more columns than stored numbers
        (squares,) = design.fold(_ColumnSquares())
        # If a sum of squares is within these bounds, its largest term is within those of single numbers.
        least, most = design.n_rows * smallest**2, LARGEST**2
        if squares.min(initial=most) >= least and squares.max(initial=least) <= most:
            return
        if not np.isfinite(squares).all():
            _refuse_first_nonfinite(design, design.names)
        doubtful = np.flatnonzero((squares < least) | (squares > most))
        (sizes,) = design.fold(_LargestOf(doubtful), maximum)
    wrong = np.flatnonzero((sizes > LARGEST) | ((sizes < smallest) & (sizes > 0)))
    if len(wrong):
        where, size = _name(design.names, int(doubtful[wrong[0]])), float(sizes[wrong[0]])
        raise InvalidData(
            "Column {where} holds numbers of size {size:.1e}; the largest of a column must lie between "
            "{low:g} and {high:g}, so that its squares are ordinary numbers. Use another unit "
            "for it, or look for a wrong entry.",
            where=where,
            size=size,
            low=smallest,
            high=LARGEST,
        )


def refuse_target_out_of_range(y: Array) -> None:
    """The same for targets, of shape (n, targets), that are known to be finite."""
    sizes = np.abs(y).max(axis=0, initial=0.0)
    wrong = [size for size in sizes.tolist() if size > LARGEST or 0 < size < SMALLEST]
    if wrong:
        raise InvalidTarget(
            "y holds numbers of size {size:.1e}; the largest of a target must lie between {low:g} and "
            "{high:g}. Use another unit for it, or look for a wrong entry.",
            size=max(wrong),
            low=SMALLEST,
            high=LARGEST,
        )


def numeric_target(design: Design) -> Design:
    """Rows that are not in memory, with a float64 target; an error if it does not consist of finite numbers."""
    bad, sizes, other = design.fold(_TargetSizes(), _either)
    if bad[0]:
        found = design.gather(design.map(_first_bad_target))
        number = int(found.row_numbers()[0])
        raise InvalidTarget(
            "Input y contains {value!r} (first in row {row}); a target must be made of finite numbers. Drop those "
            "rows, or take a classifier if they are classes.",
            value=found.collect(found.vector("y")).tolist()[0][0],
            row=design.row_label(number),
        )
    refuse_target_out_of_range(sizes[None])
    return design.with_vectors(y=design.map(_FloatTarget())) if other[0] else design


def refuse_weights(design: Design) -> None:
    """Raise an error for invalid weights of rows that are not in memory: not finite, negative or out of range."""
    bad, some = design.fold(_WeightSigns(), _any)
    if bad[0]:
        found = design.gather(design.map(_first_bad_weight))
        raise InvalidData(
            "sample_weight holds {weight:g} (row {row}); weights must be 0, or lie between {low:g} and {high:g}. Use 0 "
            "for rows that should not count, and divide the others by their mean.",
            weight=float(found.collect(found.vector("weight"))[0]),
            row=design.row_label(int(found.row_numbers()[0])),
            low=1 / MOST_WEIGHT,
            high=MOST_WEIGHT,
        )
    if not some[0]:
        raise InvalidData(
            "Sample weights must contain at least one non-zero number; all {n_rows} are 0. Give a "
            "positive weight to the rows that should count.",
            n_rows=design.n_rows,
        )


def _as_floats(y: Array) -> Array:
    """Targets as float64, with NaN for values that are not numbers."""
    if y.dtype.kind in "mMUS":
        return np.full(y.shape, np.nan)
    if y.dtype.kind != "O":
        return np.asarray(y, dtype=np.float64)
    out = np.full(y.shape, np.nan)
    for place, value in np.ndenumerate(y):
        with suppress(TypeError, ValueError):
            out[place] = np.nan if isinstance(value, str) else float(value)
    return out


@dataclass(frozen=True)
class _TargetSizes:
    """Whether a target holds invalid numbers, its largest magnitudes, and whether it has another type."""

    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        y = _as_floats(block.y)
        bad = np.array([not np.isfinite(y).all()])
        return bad, np.abs(y).max(axis=0, initial=0.0), np.array([block.y.dtype != np.float64])


def _either(left: Sums, right: Sums) -> Sums:
    return left[0] | right[0], np.maximum(left[1], right[1]), left[2] | right[2]


def _first_bad_target(block: Block) -> Array:
    out = np.zeros(len(block), dtype=bool)
    out[np.flatnonzero(~np.isfinite(_as_floats(block.y)).all(axis=1))[:1]] = True
    return out


@dataclass(frozen=True)
class _FloatTarget:
    reads_rows = False

    def __call__(self, block: Block) -> Array:
        return _as_floats(block.y)


@dataclass(frozen=True)
class _WeightSigns:
    """Whether some weight is invalid, and whether some weight is nonzero."""

    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        return np.array([_bad_weights(block.weights).any()]), np.array([block.weights.any()])


def _any(left: Sums, right: Sums) -> Sums:
    return tuple(a | b for a, b in zip(left, right, strict=True))


def _bad_weights(weight: Array) -> Array:
    return ~((weight == 0) | ((weight >= 1 / MOST_WEIGHT) & (weight <= MOST_WEIGHT)))


def _first_bad_weight(block: Block) -> Array:
    out = np.zeros(len(block), dtype=bool)
    out[np.flatnonzero(_bad_weights(block.weights))[:1]] = True
    return out


@dataclass(frozen=True)
class _AreOrdinary:
    """Whether all stored numbers except zeros are between `smallest` and `LARGEST` in magnitude."""

    stays_sparse = True
    smallest: float

    def __call__(self, block: Block) -> Sums:
        sizes = np.abs(block.entries())
        if not sizes.size:
            return (np.array([True]),)
        small, large = float(sizes.min()), float(sizes.max())  # NaN if there is one
        return (np.array([large <= LARGEST and (small >= self.smallest or self._but_zeros(sizes))]),)

    def _but_zeros(self, sizes: Array) -> bool:
        return bool(((sizes >= self.smallest) | (sizes == 0)).all())


def _all(left: Sums, right: Sums) -> Sums:
    return tuple(a & b for a, b in zip(left, right, strict=True))


@dataclass(frozen=True)
class _ColumnSquares:
    """Σ x² of every column, which is finite if all its numbers are finite and not too large."""

    stays_sparse = True

    def __call__(self, block: Block) -> Sums:
        return (block.column_squares(),)


@dataclass(frozen=True)
class _LargestOf:
    """The largest magnitude in some columns."""

    stays_sparse = True
    columns: Array

    def __call__(self, block: Block) -> Sums:
        return (block.column_sizes()[self.columns],)


def _refuse_first_nonfinite(design: Design, names: Any) -> None:
    found = design.gather(design.map(_first_nonfinite_row))
    for number, x in zip(found.row_numbers().tolist(), found.collect(found.map(Block.dense)), strict=True):
        bad = np.flatnonzero(~np.isfinite(x))
        if len(bad):
            raise InvalidData(
                "Input X contains {kind} (first in row {row}, column {column}); every number must be "
                "finite. Drop those rows, or fill them first, for example with sklearn.impute.SimpleImputer.",
                kind=Message("NaN") if np.isnan(x[bad[0]]) else Message("infinity"),
                row=design.row_label(number),
                column=_name(names, int(bad[0])),
            )


def _first_nonfinite_row(block: Block) -> Array:
    """True for the first row of the block with NaN or infinity."""
    finite = np.isfinite(block.x.data if block.is_sparse else block.x)
    if block.is_sparse:
        bad = np.flatnonzero(~finite)
        first = np.searchsorted(block.x.indptr, bad[:1], side="right") - 1
    else:
        first = np.flatnonzero(~finite.all(axis=1))[:1]
    out = np.zeros(len(block), dtype=bool)
    out[first] = True
    return out


def _name(names: Any, column: int) -> Any:
    return column if names is None else repr(str(names[column]))
