"""One check of every number: NaN, infinity, and columns whose squares float64 could not hold are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.block import Array, Block
from hiperplano.data.design import Design, Sums, maximum
from hiperplano.errors import InvalidData, InvalidTarget
from hiperplano.messages import Message

LARGEST, SMALLEST = 1e100, 1e-100
"""Sizes of columns and targets with which every solver can compute: their products and squares are ordinary floats."""


def refuse_nonfinite(design: Design, names: Any = None) -> None:
    """An error that names the first NaN or infinity in the rows, if there is one.

    Parameters
    ----------
    names : sequence of str, optional
        Of the columns, for designs that do not know them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        (squares,) = design.fold(_ColumnSquares())
    if not np.isfinite(squares).all():
        _refuse_first_nonfinite(design, design.names if names is None else names)


def refuse_out_of_range(design: Design) -> None:
    """An error for NaN and infinity, and for columns and targets of numbers beyond 1e100 or all below 1e-100."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        (squares,) = design.fold(_ColumnSquares())
        # A sum of squares within these bounds has its largest term within those of the numbers.
        ordinary = (squares >= design.n_rows * SMALLEST**2) & (squares <= LARGEST**2)
        doubtful = np.flatnonzero(~ordinary)
        if not len(doubtful):
            return
        if not np.isfinite(squares).all():
            _refuse_first_nonfinite(design, design.names)
        (sizes,) = design.fold(_LargestOf(doubtful), maximum)
    wrong = np.flatnonzero((sizes > LARGEST) | ((sizes < SMALLEST) & (sizes > 0)))
    if len(wrong):
        where, size = _name(design.names, int(doubtful[wrong[0]])), float(sizes[wrong[0]])
        raise InvalidData(
            "Column {where} holds numbers of size {size:.1e}; the largest of a column must lie between "
            "{low:g} and {high:g}, so that its squares are ordinary numbers. Use another unit "
            "for it, or look for a wrong entry.",
            where=where,
            size=size,
            low=SMALLEST,
            high=LARGEST,
        )


def refuse_target_out_of_range(y: Array) -> None:
    """The same for a target, of shape (n,) or (n, targets), that is known to be finite."""
    sizes = np.abs(y).max(axis=0, initial=0.0)
    wrong = (sizes > LARGEST) | ((sizes < SMALLEST) & (sizes > 0))
    if wrong.any():
        raise InvalidTarget(
            "y holds numbers of size {size:.1e}; the largest of a target must lie between {low:g} and "
            "{high:g}. Use another unit for it, or look for a wrong entry.",
            size=float(np.max(sizes, where=wrong, initial=0.0)),
            low=SMALLEST,
            high=LARGEST,
        )


@dataclass(frozen=True)
class _ColumnSquares:
    """Σ x² of every column: finite if all its numbers are, and not too large."""

    stays_sparse = True

    def __call__(self, block: Block) -> Sums:
        return (block.column_squares(),)


@dataclass(frozen=True)
class _LargestOf:
    """The largest size of a number in some columns."""

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
    """True for the first row of the block that holds NaN or infinity."""
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
