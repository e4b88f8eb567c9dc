"""A sketch of a column: its distribution, and the target's along it, in one pass and little memory.

Ascending floats have ascending 64-bit keys (their bits, read as integers). A sketch keeps the keys without their last
`level` bits, with the sums of the target for each key; `level` is the smallest number for which at most `limit` keys
differ. It is 0, and the sketch exact, if the column has few distinct values. As it depends only on the values, sketches
of parts can be merged in any order, and rows in memory, in a stream or on a cluster give the same sketch. If one key
still holds many rows with different values, another pass processes these rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.loops.arrays import frozen

LIMIT = 2**12
"""Distinct keys that are kept for a numeric column."""
EXACT = 2**40
"""The limit for categories: all are kept."""


class Sketch(NamedTuple):
    """The distribution of one column.

    Attributes
    ----------
    keys : ndarray of int64 of shape (k,)
        Ascending, without their last `level` bits, or with more bits where another pass refined them. (While sketches
        are merged: in any order, and up to 4·limit.)
    low, high : ndarray of shape (k,)
        The smallest and largest value of each key.
    sums : ndarray of shape (k, m)
        Sums of the target over the rows of each key: weights of the classes, or Σw, Σw·y, Σw·y².
    apart : ndarray of shape (groups + 1, m)
        The same for each group of special codes and, last, for missing values.
    level : ndarray of shape (1,)
    """

    keys: Array
    low: Array
    high: Array
    sums: Array
    apart: Array
    level: Array


Codes = tuple[tuple[float, ...], ...]
"""Groups of special codes."""
Windows = tuple[Array, Array]
"""First and last values of intervals; empty for all values."""
_ALL: Windows = (np.empty(0), np.empty(0))
_COARSE = 0.005  # share of the rows in one key above which it is refined: half of one of a hundred pre-bins
_MOST_PASSES = 5


def sketch_columns(
    design: Design, special: tuple[Codes, ...], limits: tuple[int, ...], n_classes: int, vector: str = ""
) -> list[Sketch]:
    """The sketches of all columns of a design, in one pass unless values are very unevenly distributed.

    Parameters
    ----------
    special : tuple
        Groups of special codes of each column.
    limits : tuple of int
        Number of keys kept for each column.
    n_classes : int
        Number of classes in the vector "code"; 0 for a numeric target in the vector "amount".
    vector : str
        Name of a row vector to sketch instead of columns.
    """

    def one_pass(windows: tuple[Windows, ...]) -> list[Sketch]:
        statistic = ColumnSketches(special, limits, n_classes, windows)
        if vector:
            statistic = VectorSketch(special, limits, n_classes, windows, vector)
        found = _by_column(design.fold(statistic, Merge(limits)))
        return [_canonical(sketch, limit) for sketch, limit in zip(found, limits, strict=True)]

    found = one_pass((_ALL,) * len(limits))
    for _ in range(_MOST_PASSES):
        coarse = [_coarse_keys(sketch, n_classes) for sketch in found]
        if not any(which.any() for which in coarse):
            break
        nowhere = np.array([np.inf]), np.array([-np.inf])
        windows = [
            (sketch.low[which], sketch.high[which]) if which.any() else nowhere
            for sketch, which in zip(found, coarse, strict=True)
        ]
        finer = one_pass(tuple(windows))
        found = [_replaced(*each) for each in zip(found, coarse, finer, strict=True)]
    return found


def _coarse_keys(sketch: Sketch, n_classes: int) -> Array:
    """Which keys hold too many rows with different values."""
    weight = sketch.sums.sum(axis=1) if n_classes else sketch.sums[:, 0]
    return np.asarray((sketch.low < sketch.high) & (weight > _COARSE * weight.sum()))


def _replaced(sketch: Sketch, which: Array, finer: Sketch) -> Sketch:
    """A sketch whose keys `which` are replaced by those of another sketch."""
    if not which.any():
        return sketch
    order = np.argsort(np.concatenate([sketch.low[~which], finer.low]))
    keys, low, high, sums = (
        np.concatenate([old[~which], new])[order] for old, new in zip(sketch[:4], finer[:4], strict=True)
    )
    return Sketch(keys, low, high, sums, sketch.apart, sketch.level)


@dataclass(frozen=True)
class ColumnSketches:
    """Statistic: the sketches of all columns of a block."""

    special: tuple[Codes, ...]
    limits: tuple[int, ...]
    n_classes: int
    windows: tuple[Windows, ...]

    def __call__(self, block: Block) -> Sums:
        made: list[Array] = []
        target = frozen(block.vectors["code" if self.n_classes else "amount"])
        weight = frozen(block.vectors.get("weight", np.empty(0)))
        for values, special, limit, windows in zip(
            self._columns(block), self.special, self.limits, self.windows, strict=True
        ):
            codes = np.array([code for group in special for code in group], dtype=np.float64)
            groups = np.repeat(np.arange(len(special)), [len(group) for group in special])
            from hiperplano.features.binning.prebinning.sketch_loops import sketch_rows  # numba is loaded late

            least = 0 if len(windows[0]) else _least_level(values, codes, limit)
            *found, level = sketch_rows(
                frozen(values), target, weight, codes, groups, len(special), self.n_classes, limit, least, *windows
            )
            made += [*found, np.array([level])]
        return tuple(made)

    def _columns(self, block: Block) -> list[Array]:
        rows = block.dense()
        return [rows[:, column] for column in range(rows.shape[1])]


@dataclass(frozen=True)
class VectorSketch(ColumnSketches):
    """The same for one row vector: a column of a table that is not part of an array."""

    reads_rows = False
    vector: str

    def _columns(self, block: Block) -> list[Array]:
        return [block.vectors[self.vector]]


@dataclass(frozen=True)
class Merge:
    """Combine the sketches of two blocks, column by column."""

    limits: tuple[int, ...]

    def __call__(self, left: Sums, right: Sums) -> Sums:
        made: list[Array] = []
        for one, other, limit in zip(_by_column(left), _by_column(right), self.limits, strict=True):
            from hiperplano.features.binning.prebinning.sketch_loops import merge_sketches

            keys, low, high, sums, level = merge_sketches(*one[:4], one.level[0], *other[:4], other.level[0], limit)
            made += [keys, low, high, sums, one.apart + other.apart, np.array([level])]
        return tuple(made)


def _by_column(sums: Sums) -> list[Sketch]:
    size = len(Sketch._fields)
    return [Sketch(*sums[start : start + size]) for start in range(0, len(sums), size)]


def _canonical(sketch: Sketch, limit: int) -> Sketch:
    """At most `limit` keys, in ascending order."""
    if not len(sketch.keys):
        return sketch
    from hiperplano.features.binning.prebinning.sketch_loops import bits_to_drop

    order = np.argsort(sketch.keys)
    keys = sketch.keys[order]
    drop = bits_to_drop(keys, limit)
    keys >>= drop
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return Sketch(
        keys[starts],
        np.minimum.reduceat(sketch.low[order], starts),
        np.maximum.reduceat(sketch.high[order], starts),
        np.add.reduceat(sketch.sums[order], starts, axis=0),
        sketch.apart,
        sketch.level + drop,
    )


def _least_level(values: Array, special: Array, limit: int) -> int:
    """Number of bits that keys must lose, estimated from some of the values: a lower bound for all values."""
    from hiperplano.features.binning.prebinning.sketch_loops import bits_to_drop, keys_of

    if len(values) <= limit:
        return 0
    # Too few bits do no harm, since a table holds more keys.
    some = np.sort(values[:: max(1, len(values) // (2 * limit))])
    some = some[: np.searchsorted(some, np.nan)]
    if len(special):
        some = some[~np.isin(some, special)]
    return int(bits_to_drop(keys_of(some), limit))
