"""Exact medians of columns that are read in passes, found sixteen bits at a time.

Ascending floats have ascending keys: their bits, with the sign bit flipped. A pass counts the next sixteen bits of
those keys that share the known bits of the median. Counts of parts can be added in any order. Two passes give all bits
of a float32, four those of a float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.data.stream.read_ahead import read_ahead
from hiperplano.features.scanning.cells import numbers_of
from hiperplano.features.scanning.learning.tally import NumberTally
from hiperplano.features.scanning.walking import Walk

_STEP = 16
_AHEAD = 2


@dataclass
class _Middle:
    """One of the one or two values in the middle of a column.

    Attributes
    ----------
    rank : int
        Its rank among the values whose keys begin with the bits known so far.
    prefix : int
        These bits.
    known : int
        Number of known bits.
    """

    rank: int
    prefix: int = 0
    known: int = 0
    counts: Array | None = None

    def add(self, keys: Array, width: int) -> None:
        """Count the next bits of keys with the same prefix."""
        if self.known:
            keys = keys[keys >> (width - self.known) == self.prefix]
        following = (keys >> (width - self.known - _STEP)).astype(np.int64) & (2**_STEP - 1)
        counts = np.bincount(following, minlength=2**_STEP)
        self.counts = counts if self.counts is None else self.counts + counts

    def step(self) -> None:
        """Determine the next bits from the counts."""
        assert self.counts is not None
        below = np.cumsum(self.counts)
        following = int(np.searchsorted(below, self.rank, side="right"))
        self.rank -= int(below[following] - self.counts[following])
        self.prefix, self.known, self.counts = (self.prefix << _STEP) | following, self.known + _STEP, None


def find_medians(walk: Walk, tallies: Sequence[NumberTally]) -> None:
    """Set the medians of the statistics, in two or four passes over these columns alone."""
    single = all(tally.single for tally in tallies)
    width = 32 if single else 64
    middles = [_middles(tally.n_rows - tally.n_gaps) for tally in tallies]
    names = [tally.column.name for tally in tallies]
    for _pass in range(width // _STEP):
        for number, table in enumerate(walk.tables):
            with read_ahead(walk.chunks(number, names), _AHEAD) as chunks:
                for chunk in chunks:
                    _count(chunk, table.name, tallies, middles, width)
        for each in (middle for pair in middles for middle in pair):
            each.step()
    for tally, pair in zip(tallies, middles, strict=True):
        tally.median = float(np.mean([_value(middle.prefix, width) for middle in pair]))


def _middles(n: int) -> list[_Middle]:
    return [_Middle(rank) for rank in sorted({(n - 1) // 2, n // 2})]


def _count(
    chunk: pa.Table, name: str, tallies: Sequence[NumberTally], middles: list[list[_Middle]], width: int
) -> None:
    def count(place: int) -> None:
        values = numbers_of(chunk, tallies[place].column, name)
        keys = _keys(values[~np.isnan(values)], width)
        for middle in middles[place]:
            middle.add(keys, width)

    in_threads(count, range(len(tallies)), chunk.num_rows * len(tallies))


def _keys(values: Array, width: int) -> Array:
    """Integers in the order of the floats."""
    whole, own = _types(width)
    bits = np.add(values, 0.0, dtype=own).view(whole)  # −0 becomes 0
    sign = whole.type(1 << (width - 1))
    return np.asarray(np.where(bits & sign, ~bits, bits | sign))


def _value(key: int, width: int) -> float:
    whole, own = _types(width)
    sign = 1 << (width - 1)
    bits = key ^ sign if key & sign else ~key & (2**width - 1)
    return float(np.array(bits, dtype=whole).view(own))


def _types(width: int) -> tuple[np.dtype[Any], np.dtype[Any]]:
    return np.dtype(f"uint{width}"), np.dtype(f"float{width}")
