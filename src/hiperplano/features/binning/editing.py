"""Manual changes of fitted bins: merge, or split between pre-bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiperplano.errors import InvalidParameter
from hiperplano.features.binning.bins import Bins, CategoryBins, NumericBins, date_text, number_text
from hiperplano.features.binning.pieces import Pieces
from hiperplano.features.binning.reading import as_numbers


def merged(bins: Bins, chosen: Sequence[int]) -> Bins:
    """Merge some bins: neighbouring intervals, or any groups of categories.

    Parameters
    ----------
    chosen : sequence of int
        Numbers of two or more bins.
    """
    numbers = sorted({int(each) for each in chosen})
    if len(numbers) < 2 or numbers[0] < 0 or numbers[-1] >= bins.n_regular:
        raise InvalidParameter(
            "bins {chosen} cannot be merged; two or more of 0 … {last} are needed (bins of special codes and missing "
            "values stay apart). Choose from them.",
            chosen=numbers,
            last=bins.n_regular - 1,
        )
    if isinstance(bins, CategoryBins):
        together = tuple(value for number in numbers for value in bins.groups[number])
        kept = [group for number, group in enumerate(bins.groups) if number not in numbers[1:]]
        kept[numbers[0]] = together
        return replace(bins, groups=tuple(kept))
    if numbers != list(range(numbers[0], numbers[-1] + 1)):
        raise InvalidParameter(
            "bins {chosen} are not neighbours; intervals can be merged only with those beside them. Name all bins "
            "between {first} and {last}.",
            chosen=numbers,
            first=numbers[0],
            last=numbers[-1],
        )
    return replace(bins, cuts=bins.cuts[: numbers[0]] + bins.cuts[numbers[-1] :])


def split(bins: Bins, pieces: Pieces, at: Any) -> Bins:
    """Split one bin into two.

    Parameters
    ----------
    pieces : Pieces
        The pre-bins; an interval can be split only between two of them.
    at : number, date or sequence of categories
        The new cut-off; or the categories to move to a new group.
    """
    return _split_group(bins, at) if isinstance(bins, CategoryBins) else _split_interval(bins, pieces, at)


def _split_interval(bins: NumericBins, pieces: Pieces, at: Any) -> NumericBins:
    cut = float(as_numbers(np.array([at], dtype=object))[0])
    after = int(np.searchsorted(pieces.low, cut))
    counted = 0 < after < len(pieces.low) and pieces.high[after - 1] < cut
    if cut in bins.cuts or not counted:
        possible = [pieces.cut_before(piece, bins.kind) for piece in range(1, len(pieces.low))]
        free = sorted(set(possible) - set(bins.cuts), key=lambda each: abs(each - cut))[:5]
        text = date_text if bins.kind == "date" else number_text
        raise InvalidParameter(
            "{cut} is no place to split: rows were counted between pre-bins only. Take one of {free}, or fit again "
            "with cuts.",
            cut=text(cut),
            free=", ".join(text(each) for each in sorted(free)) or "–",
        )
    return replace(bins, cuts=tuple(sorted((*bins.cuts, cut))))


def _split_group(bins: CategoryBins, categories: Any) -> CategoryBins:
    listed = list(categories) if isinstance(categories, list | tuple | set | np.ndarray) else [categories]
    places = bins.places()
    numbers = {places.get(value, -1) for value in listed}
    number = next(iter(numbers)) if len(numbers) == 1 else -1
    if not 0 <= number < bins.n_regular or len(set(listed)) == len(bins.groups[number]):
        raise InvalidParameter(
            "{categories} cannot leave their group: they must be some, but not all, categories of one group. See "
            "bins_.groups.",
            categories=listed,
        )
    rest = tuple(value for value in bins.groups[number] if value not in set(listed))
    left = tuple(value for value in bins.groups[number] if value in set(listed))
    return replace(bins, groups=(*bins.groups[:number], rest, left, *bins.groups[number + 1 :]))
