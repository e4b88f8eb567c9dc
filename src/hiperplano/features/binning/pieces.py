"""Pieces of a column: the pre-bins or categories that bins consist of."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf, isinf, log10
from sys import float_info
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.features.binning.bins import Bins, CategoryBins, NumericBins
from hiperplano.features.binning.prebinning.sketch import Sketch

_SECOND = 1_000_000
_UNITS = (86_400 * _SECOND, 3_600 * _SECOND, 60 * _SECOND, _SECOND, 1)
"""Microseconds of a day, an hour, a minute, a second and a microsecond."""


@dataclass(frozen=True)
class Pieces:
    """Sums of the target over values that stay together.

    Attributes
    ----------
    low, high : ndarray of shape (pieces,)
        The smallest and largest value of each piece, ascending.
    sums : ndarray of shape (pieces, m)
        Weights of the classes in it, or Σw, Σw·y, Σw·y².
    apart : ndarray of shape (groups + 1, m)
        The same sums for special codes and missing values.
    categories : tuple or None
        The category of each piece of a categorical column.
    """

    low: Array
    high: Array
    sums: Array
    apart: Array
    categories: tuple[Any, ...] | None = None

    def totals(self) -> Array:
        """Sums over all rows, of shape (m,)."""
        return np.asarray(self.sums.sum(axis=0) + self.apart.sum(axis=0))

    def count(self, bins: Bins) -> Array:
        """Sums of the target over each bin, of shape (bins, m)."""
        counted = np.zeros((bins.n_bins, self.sums.shape[1]))
        if isinstance(bins, CategoryBins):
            places = bins.places()
            codes = np.array([places.get(each, bins.unseen) for each in self.categories or ()], dtype=np.intp)
        else:
            codes = np.searchsorted(np.asarray(bins.cuts, dtype=np.float64), self.low, side="right")
        np.add.at(counted, codes, self.sums)
        counted[bins.n_regular : bins.missing + 1] += self.apart
        return counted

    def joined(self, ends: tuple[int, ...]) -> Pieces:
        """Merge neighbouring pieces, up to each of the `ends`."""
        starts, last = np.array([0, *ends[:-1]]), np.array(ends) - 1
        return Pieces(self.low[starts], self.high[last], np.add.reduceat(self.sums, starts, axis=0), self.apart)

    def cut_before(self, piece: int, kind: str) -> float:
        """The roundest number between a piece and the previous one."""
        return round_cut(float(self.high[piece - 1]), float(self.low[piece]), kind)


def pieces_of(sketch: Sketch, categories: tuple[Any, ...] | None = None) -> Pieces:
    """The pieces of a sketch, one for each key; `categories` in the order of the sketch's values."""
    return Pieces(sketch.low, sketch.high, sketch.sums, sketch.apart, categories)


def edge_pieces(bins: NumericBins, sums: Array) -> Pieces:
    """The pieces between given cut-offs.

    Parameters
    ----------
    sums : ndarray of shape (bins, m)
        Sums of all bins, including special and missing ones.
    """
    ends = np.array([-np.inf, *bins.cuts, np.inf])
    high = np.append(np.nextafter(ends[1:-1], -np.inf), np.inf)
    return Pieces(ends[:-1], high, sums[: bins.n_regular], sums[bins.n_regular :])


def interval_bins(pieces: Pieces, ends: tuple[int, ...], like: NumericBins) -> NumericBins:
    """Intervals that hold the pieces up to each of the `ends`, with the special codes of `like`."""
    cuts = tuple(pieces.cut_before(end, like.kind) for end in ends[:-1])
    return NumericBins(cuts, like.special, like.special_names, like.kind)


def round_cut(below: float, above: float, kind: str = "numeric") -> float:
    """The number with the fewest digits in (below, above], the one nearest to the middle.

    Between 24 and 31 that is 30 (25 has two digits), between 0.37171 and 0.3723 it is 0.372. For dates it is midnight,
    or else a full hour, minute or second.

    Parameters
    ----------
    below, above : float
        The largest value before the cut and the smallest after it.
    """
    below, above = float(below), float(above)
    if isinf(below):
        return above if not isinf(above) else 0.0
    if isinf(above):
        above = min(below + max(abs(below), 1.0), float_info.max)
        if below == above:
            return inf
    middle = below / 2 + above / 2
    if kind == "date":
        for unit in _UNITS:
            if floor(above / unit) * unit > below:
                return float(min(max(round(middle / unit), floor(below / unit) + 1), floor(above / unit)) * unit)
        return above
    if below < 0 <= above:
        return 0.0
    for power in range(min(ceil(log10(max(abs(below), abs(above)))), 308), -324, -1):
        size = float(f"1e{power}")
        nearest, last = round(middle / size), floor(above / size)
        for multiple in (nearest, last, last + 1):  # 2.4/0.1 is 23.999…
            if below < float(f"{multiple}e{power}") <= above:
                return float(f"{multiple}e{power}")
    return above
