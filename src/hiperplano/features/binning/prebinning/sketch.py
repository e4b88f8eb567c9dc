"""A sketch of a column: its distribution, and the target's along it, in one pass and little memory.

Floats in ascending order have ascending 64-bit keys (their bits, read as integers). A sketch keeps the keys without
their last `level` bits, with the sums of the target for each; `level` is the smallest for which at most `limit` keys
differ. It is 0, and the sketch exact, where the column has so few values. Since that is a property of the values alone,
sketches of parts can be merged in any order, and rows in memory, in a stream or on a cluster give the same sketch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Block, Sums
from hiperplano.features.binning.prebinning.sketch_loops import starts_of_runs, sum_classes, sum_moments

LIMIT = 2**13
"""Different keys that are kept of a column of numbers."""
EXACT = 2**62
"""The limit for categories: all are kept."""


class Sketch(NamedTuple):
    """The distribution of one column.

    Attributes
    ----------
    keys : ndarray of int64 of shape (k,)
        Ascending, without their last `level` bits.
    low, high : ndarray of shape (k,)
        The smallest and largest value of each key.
    sums : ndarray of shape (k, m)
        Sums of the target over the rows of each key: weights of the classes, or Σw, Σw·y, Σw·y².
    apart : ndarray of shape (groups + 1, m)
        The same of each group of special codes and, last, of missing values.
    level : ndarray of shape (1,)
    """

    keys: Array
    low: Array
    high: Array
    sums: Array
    apart: Array
    level: Array


@dataclass(frozen=True)
class ColumnSketches:
    """The statistic: the sketches of all columns of a block, one after the other.

    Attributes
    ----------
    special : tuple of tuples of tuples of float
        For each column its groups of special codes.
    limits : tuple of int
        For each column how many keys are kept.
    n_classes : int
        Of the vector "code"; 0 for a target of numbers in the vector "amount".
    """

    special: tuple[tuple[tuple[float, ...], ...], ...]
    limits: tuple[int, ...]
    n_classes: int

    def __call__(self, block: Block) -> Sums:
        made: list[Array] = []
        rows = block.dense()
        for column, (special, limit) in enumerate(zip(self.special, self.limits, strict=True)):
            made += self._sketch(np.asarray(rows[:, column], dtype=np.float64), block, special, limit)
        return tuple(made)

    def _sketch(self, values: Array, block: Block, special: tuple[tuple[float, ...], ...], limit: int) -> Sketch:
        target = block.vectors["code" if self.n_classes else "amount"]
        weight = block.vectors.get("weight", np.empty(0))
        groups = np.isnan(values) * (len(special) + 1)
        for number, codes in enumerate(special):
            groups[np.isin(values, codes)] = number + 1
        apart = np.zeros((len(special) + 1, self.n_classes or 3))
        if groups.any():
            chosen = np.flatnonzero(groups)
            order = chosen[np.argsort(groups[chosen], kind="stable")]
            found = self._sums(order, groups[order], values, target, weight)[2]
            apart[np.unique(groups[chosen]) - 1] = found
            regular = np.flatnonzero(groups == 0)
        else:
            regular = None
        return _sorted_sketch(self, values, target, weight, regular, apart, limit)

    def _sums(self, order: Array, keys: Array, values: Array, target: Array, weight: Array) -> tuple[Array, ...]:
        runs = 0 if not len(keys) else 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
        low, high, sums = np.empty(runs), np.empty(runs), np.zeros((runs, self.n_classes or 3))
        loop = sum_classes if self.n_classes else sum_moments
        loop(order, keys, values, target, weight, low, high, sums)
        return low, high, sums


def _sorted_sketch(
    statistic: ColumnSketches,
    values: Array,
    target: Array,
    weight: Array,
    regular: Array | None,
    apart: Array,
    limit: int,
) -> Sketch:
    """The sketch of the rows `regular`, or of all."""
    keys = float_keys(values if regular is None else values[regular])
    order = np.argsort(keys)
    keys = keys[order]
    level = _level_for(keys, 0, limit)
    keys >>= level
    order = order if regular is None else regular[order]
    low, high, sums = statistic._sums(order, keys, values, target, weight)
    return Sketch(keys[starts_of_runs(keys)] if len(keys) else keys, low, high, sums, apart, np.array([level]))


@dataclass(frozen=True)
class Merge:
    """Combine the sketches of two blocks, column by column."""

    limits: tuple[int, ...]

    def __call__(self, left: Sums, right: Sums) -> Sums:
        made: list[Array] = []
        for one, other, limit in zip(sketches(left), sketches(right), self.limits, strict=True):
            made += _merged(one, other, limit)
        return tuple(made)


def sketches(sums: Sums) -> list[Sketch]:
    """What a fold returned, by column."""
    size = len(Sketch._fields)
    return [Sketch(*sums[start : start + size]) for start in range(0, len(sums), size)]


def _merged(one: Sketch, other: Sketch, limit: int) -> Sketch:
    level = int(max(one.level[0], other.level[0]))
    keys = np.concatenate([one.keys >> (level - one.level[0]), other.keys >> (level - other.level[0])])
    order = np.argsort(keys, kind="stable")  # two sorted runs: one merge
    keys = keys[order]
    finer = _level_for(keys, 0, limit)
    keys >>= finer
    low, high, sums = (np.concatenate(pair)[order] for pair in zip(one[1:4], other[1:4], strict=True))
    starts = starts_of_runs(keys) if len(keys) else np.empty(0, dtype=np.intp)
    return Sketch(
        keys[starts],
        np.minimum.reduceat(low, starts) if len(starts) else low,
        np.maximum.reduceat(high, starts) if len(starts) else high,
        np.add.reduceat(sums, starts, axis=0) if len(starts) else sums,
        one.apart + other.apart,
        np.array([level + finer]),
    )


def float_keys(values: Array) -> Array:
    """64-bit integers in the order of the floats; equal for 0.0 and −0.0."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _level_for(keys: Array, level: int, limit: int) -> int:
    """The smallest number of last bits without which at most `limit` of the sorted keys differ."""
    if len(keys) <= limit:
        return level
    differing = (keys[1:] ^ keys[:-1]).view(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):  # ones in all places below the first differing bit
        differing |= differing >> np.uint64(shift)
    lengths = np.bitwise_count(differing)
    more = np.cumsum(np.bincount(lengths, minlength=65)[::-1])[
        ::-1
    ]  # more[b]: neighbours that differ in b bits or more
    return int(np.argmax(np.append(more[1:], 0) + 1 <= limit))
