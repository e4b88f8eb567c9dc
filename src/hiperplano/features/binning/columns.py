"""Columns as numbers for binning, and the meaning of these numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter
from hiperplano.features.binning.bins import Bins, CategoryBins, special_groups
from hiperplano.features.binning.prebinning.sketch import EXACT, LIMIT, Sketch
from hiperplano.features.binning.reading import KINDS, as_numbers, column_kind, factorise


@dataclass(frozen=True)
class Plan:
    """The meaning of the numbers of a column.

    Attributes
    ----------
    kind : str
        "numeric", "date" or "categorical".
    special, special_names : tuple
        Groups of special codes as in the bins.
    categories : tuple or None
        Categories that the numbers 0, 1, 2, … stand for; None if numbers stand for themselves.
    """

    kind: str
    special: tuple[tuple[Any, ...], ...] = ()
    special_names: tuple[str, ...] = ()
    categories: tuple[Any, ...] | None = None

    @property
    def limit(self) -> int:
        """Number of distinct values that a sketch keeps."""
        return EXACT if self.kind == "categorical" else LIMIT

    @property
    def special_numbers(self) -> tuple[tuple[float, ...], ...]:
        """The special codes in the units of the column's numbers."""
        if self.categories is None:
            return self.special
        place = {category: float(number) for number, category in enumerate(self.categories)}
        return tuple(tuple(place[code] for code in group if code in place) for group in self.special)

    def categories_in(self, sketch: Sketch) -> tuple[Any, ...] | None:
        """The categories of a sketch's values, in their order."""
        if self.kind != "categorical":
            return None
        if self.categories is not None:
            return tuple(self.categories[int(number)] for number in sketch.low)
        return tuple(int(number) if number.is_integer() else number for number in sketch.low.tolist())


def plan_for(kind: str, special_codes: Any, categories: tuple[Any, ...] | None = None) -> Plan:
    """The plan of a column of a known kind."""
    return Plan(kind, *special_groups(special_codes, kind), categories)


def plan_of_numbers(wanted: str, kind: str, special_codes: Any, categories: tuple[Any, ...] | None) -> Plan:
    """The plan of a column that was already converted to numbers.

    Parameters
    ----------
    wanted : str
        "auto" or one of `KINDS`.
    kind : str
        Kind of the column by its type.
    categories : tuple or None
        Categories that its numbers stand for.
    """
    check_kind(wanted)
    if categories is not None and wanted not in ("auto", "categorical"):
        raise InvalidParameter(
            "kind={kind!r} of a column of texts ({value!r}, …), which can only be categories. Leave it 'auto'.",
            kind=wanted,
            value=categories[0] if categories else "",
        )
    return plan_for(kind if wanted == "auto" else wanted, special_codes, categories)


def numbered(bins: Bins, categories: tuple[Any, ...] | None) -> Bins:
    """Bins of categories as bins of the numbers that stand for them; bins of numbers are unchanged."""
    if categories is None or not isinstance(bins, CategoryBins):
        return bins
    place = {category: float(number) for number, category in enumerate(categories)}
    groups, special = (
        tuple(tuple(place[value] for value in group if value in place) for group in each)
        for each in (bins.groups, bins.special)
    )
    return replace(bins, groups=groups, special=special)


def read_column(column: Any, kind: str, special_codes: Any, name: Any = None) -> tuple[Array, Plan]:
    """The numbers of a column, with NaN for missing values, and their meaning.

    Parameters
    ----------
    column : array or column of a table
    kind : str
        "auto" or one of `KINDS`.
    special_codes : None, value, sequence or mapping
        As in `special_groups`.
    name : str, optional
        For messages.

    Returns
    -------
    values : ndarray of float32 or float64 of shape (n,)
    plan : Plan
    """
    check_kind(kind)
    found = column_kind(column) if kind == "auto" else kind
    if found != "categorical":
        return as_numbers(column, name), plan_for(found, special_codes)
    codes, values = factorise(column)
    ordered = in_order(values)
    place = {value: number for number, value in enumerate(ordered)}
    numbers = np.array([*(place[value] for value in values), np.nan])
    return numbers[codes], plan_for(found, special_codes, tuple(ordered))


def in_order(categories: list[Any]) -> list[Any]:
    """Categories in the order of their numbers, even if they have several types."""
    return sorted(categories, key=lambda value: (type(value).__name__, str(value)))


def check_kind(kind: Any) -> None:
    """Raise an error for an unknown kind of column."""
    if kind not in ("auto", *KINDS):
        raise InvalidParameter(
            "kind={kind!r}; a column is 'auto', 'numeric', 'date' or 'categorical'. Choose one of them.", kind=kind
        )
