"""Means and lengths of columns without a copy of them, whatever their size and offset."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.statistics import largest, power_of_two

_EPS = float(np.finfo(float).eps)


class Spread(NamedTuple):
    """Of every column: where it lies and how far it spreads.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Zeros without intercept.
    drift : ndarray of shape (d,)
        What rounding took from `mean`.
    length : ndarray of shape (d,)
        √Σ w·(x − mean)²; 0 for a column that does not vary.
    offset : float
        Digits that products with centred rows lose: 1, or for sparse rows, which are never shifted, the largest
        distance of a mean from 0 in units of the column's spread.
    total : float
        Sum of the weights.
    """

    mean: Array
    drift: Array
    length: Array
    offset: float
    total: float


def column_spread(design: Design, centred: bool) -> Spread:
    """Three passes: sizes, then means, then distances from them, so that no digits cancel."""
    unit = power_of_two(largest(design))
    mean, total = np.zeros(design.n_columns), design.total_weight
    if centred:
        share = np.ldexp(1.0, np.frexp(total)[1])  # a weighted mean is representable where a weighted sum is not
        (sums,) = design.fold(lambda block: (block.weights / share @ block.counted().x / unit,))
        mean = unit * (sums / (total / share))
    deviations, squares, stored = design.fold(lambda block: _about(block, mean, unit))
    if design.is_sparse:  # entries that are not stored are zeros
        missing = np.where(stored[1] == design.n_rows, 0.0, total - stored[0])
        deviations -= missing * (mean / unit)
        squares += missing * np.square(mean / unit)
    drift = deviations / total if centred else np.zeros_like(mean)
    squares = squares - total * np.square(drift)
    rounding = total * np.square(4 * _EPS * mean / unit)
    length = unit * np.sqrt(np.where(squares > rounding, squares, 0.0))
    far = np.abs(mean) * np.sqrt(total) / np.where(length > 0, length, np.inf)
    offset = max(1.0, float(far.max())) if design.is_sparse else 1.0
    return Spread(mean, unit * drift, length, offset, total)


def _about(block: Block, mean: Array, unit: Array) -> Sums:
    """Weighted sums of (x − mean)/unit and of its squares, over stored entries; their weight and number."""
    block, weight = block.counted(), block.weights
    if isinstance(block.x, np.ndarray):
        apart = np.subtract(block.x, mean) / unit
        return weight @ apart, weight @ np.square(apart), np.zeros((2, len(mean)))
    where, rows = block.x.indices, np.repeat(weight, np.diff(block.x.indptr))
    apart = (block.x.data - mean[where]) / unit[where]

    def by_column(values: Array) -> Array:
        return np.bincount(where, values, len(mean)).astype(np.float64, copy=False)

    present = np.stack([by_column(rows), by_column(np.ones(len(where)))])
    return by_column(rows * apart), by_column(rows * np.square(apart)), present
