"""Bins of one column: the bin of a value, and the names of bins.

Every value has one bin, numbered 0, 1, 2, …: first the intervals of numbers or groups of categories, then one for each
group of special codes, then one for missing values and, of categories, a last one for those never seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.arrays import frozen
from hiperplano.features.binning.reading import as_numbers, factorise, is_missing
from hiperplano.messages import Message

_MOST_SHOWN = 6


@dataclass(frozen=True)
class NumericBins:
    """Intervals [cuts[i−1], cuts[i]) of numbers or dates.

    Infinite numbers belong to the outer intervals; −0.0 is 0.0.

    Attributes
    ----------
    cuts : tuple of float
        Ascending and finite; k − 1 of them for k intervals. Dates are microseconds since 1970 (UTC).
    special : tuple of tuples of float
        Codes that are not quantities; each group has its own bin.
    special_names : tuple of str
        Names of those groups; empty if they have none.
    kind : str
        "numeric" or "date".
    """

    cuts: tuple[float, ...]
    special: tuple[tuple[float, ...], ...] = ()
    special_names: tuple[str, ...] = ()
    kind: str = "numeric"

    @property
    def n_regular(self) -> int:
        """Number of intervals; their bins are 0 … n_regular − 1."""
        return len(self.cuts) + 1

    @property
    def n_bins(self) -> int:
        """All bins: intervals, special ones, and the one for missing values."""
        return self.n_regular + len(self.special) + 1

    @property
    def missing(self) -> int:
        """Number of the bin of missing values."""
        return self.n_regular + len(self.special)

    def assign(self, column: Any, name: Any = None) -> Array:
        """The bin of each value.

        Parameters
        ----------
        column : array or column of a table
            Column of numbers or dates.
        name : str, optional
            Name of the column, for messages.

        Returns
        -------
        ndarray of int of shape (n,)
        """
        from hiperplano.features.binning.lookup_loops import assign_bins  # numba is imported on demand

        values = as_numbers(column, name)
        codes = np.empty(len(values), dtype=np.intp)
        assign_bins(frozen(values), *self.loop_arrays(), codes)
        return codes

    def loop_arrays(self) -> tuple[Array, Array, Array, int]:
        """Arrays for compiled loops: cut-offs, special codes, their bins, and the bin of missing values."""
        codes = np.array([code for group in self.special for code in group], dtype=np.float64)
        sizes = [len(group) for group in self.special]
        bins = np.repeat(np.arange(self.n_regular, self.missing), sizes)
        return np.array(self.cuts, dtype=np.float64), codes, bins, self.missing

    def intervals(self) -> list[tuple[float, float]]:
        """The ends (low, high) of the intervals; the outer ones reach to infinity."""
        ends = [-np.inf, *self.cuts, np.inf]
        return list(pairwise(ends))

    def labels(self) -> list[str]:
        """Names of all bins, in their order."""
        shown = [self._shown(cut) for cut in self.cuts]
        ends = ["-inf", *shown, "inf"]
        names = [f"{'(' if i == 0 else '['}{low}, {high})" for i, (low, high) in enumerate(pairwise(ends))]
        specials = [[self._shown(code) for code in group] for group in self.special]
        return [*names, *_special_labels(specials, self.special_names), Message("missing")]

    def _shown(self, number: float) -> str:
        return date_text(number) if self.kind == "date" else number_text(number)


@dataclass(frozen=True)
class CategoryBins:
    """Groups of categories.

    Attributes
    ----------
    groups : tuple of tuples
        The categories of each group: text, numbers, or any other hashable values. 1, 1.0 and True are one category.
    special : tuple of tuples
        Codes for the reason of a missing category; each group has its own bin.
    special_names : tuple of str
        Names of those groups; empty if they have none.
    """

    groups: tuple[tuple[Any, ...], ...]
    special: tuple[tuple[Any, ...], ...] = ()
    special_names: tuple[str, ...] = ()
    kind: str = "categorical"

    @property
    def n_regular(self) -> int:
        """Number of groups; their bins are 0 … n_regular − 1."""
        return len(self.groups)

    @property
    def n_bins(self) -> int:
        """All bins: groups, special ones, and those for missing values and for categories never seen."""
        return self.n_regular + len(self.special) + 2

    @property
    def missing(self) -> int:
        """Number of the bin of missing values."""
        return self.n_regular + len(self.special)

    @property
    def unseen(self) -> int:
        """Number of the bin of categories that the fit did not see."""
        return self.missing + 1

    def assign(self, column: Any, name: Any = None) -> Array:
        """The bin of each value.

        Parameters
        ----------
        column : array or column of a table
            Column of values that can be compared for equality.
        name : str, optional
            Name of the column, for messages.

        Returns
        -------
        ndarray of int of shape (n,)
        """
        codes, values = factorise(column)
        place = self.places()
        return np.array([*(place.get(value, self.unseen) for value in values), self.missing], dtype=np.intp)[codes]

    def places(self) -> dict[Any, int]:
        """The bin of every category and special code."""
        return {value: number for number, group in enumerate(self.groups + self.special) for value in group}

    def labels(self) -> list[str]:
        """Names of all bins, in their order."""
        names = [_listed([repr(value) for value in group]) for group in self.groups]
        specials = [[repr(value) for value in group] for group in self.special]
        return [*names, *_special_labels(specials, self.special_names), Message("missing"), Message("unseen")]


Bins = NumericBins | CategoryBins


def special_groups(codes: Any, kind: str) -> tuple[tuple[tuple[Any, ...], ...], tuple[str, ...]]:
    """Groups of special codes with their names.

    Parameters
    ----------
    codes : None, value, sequence or mapping
        Values of a sequence share one bin; a mapping from a name to a value or a sequence gives each name a bin.
    kind : str
        Kind of the column. Codes of numeric and date columns are stored as numbers, even if they are given as text.
        Codes that cannot occur in the column are ignored, so that all columns of a table can share a list.
    """
    if codes is None:
        return (), ()
    named = dict(codes) if hasattr(codes, "items") else {"": codes}
    groups = []
    for group in named.values():
        listed = list(group) if isinstance(group, list | tuple | set | frozenset | np.ndarray) else [group]
        listed = [value for value in listed if not is_missing(value)]  # missing values have their own bin
        groups.append(tuple(listed) if kind == "categorical" else _code_numbers(listed, kind))
    names = tuple(str(name) for name in named) if hasattr(codes, "items") else ()
    kept = [place for place, group in enumerate(groups) if group]
    return tuple(groups[place] for place in kept), tuple(names[place] for place in kept) if names else ()


def _code_numbers(codes: list[Any], kind: str) -> tuple[float, ...]:
    numbers = [_code_number(code, kind) for code in codes]
    return tuple(number for number in numbers if number == number)


def _code_number(code: Any, kind: str) -> float:
    """The number of a code in a column; NaN if it cannot occur there."""
    if isinstance(code, str):
        code = _read_code(code)
    if code is None or isinstance(code, date | np.datetime64) != (kind == "date"):
        return np.nan
    return float(as_numbers(np.array([code], dtype=object))[0])


def _read_code(text: str) -> float | np.datetime64 | None:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return np.datetime64(text, "us")
    except ValueError:
        return None


def number_text(number: float) -> str:
    """A number with the fewest digits that identify it: 25, 0.1, 1e+20."""
    short = format(number, ".15g")
    return short if float(short) == number else repr(float(number))


def date_text(microseconds: float) -> str:
    """A date, with its time unless that is midnight."""
    moment = np.datetime64(int(microseconds), "us")
    day = moment.astype("datetime64[D]")
    return str(day if day == moment else moment.astype("datetime64[s]") if microseconds % 1e6 == 0 else moment)


def _special_labels(groups: list[list[str]], names: tuple[str, ...]) -> list[str]:
    if names:
        return [Message("special: {codes}", codes=name) for name in names]
    return [Message("special: {codes}", codes=_listed(group)) for group in groups]


def _listed(values: list[str]) -> str:
    shown = ", ".join(values[:_MOST_SHOWN])
    if len(values) <= _MOST_SHOWN:
        return shown
    return Message("{shown} and {n} more", shown=shown, n=len(values) - _MOST_SHOWN)
