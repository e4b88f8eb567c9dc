"""Codes for missing values, such as −9 or 999: one rule, applied before anything else reads a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.errors import InvalidParameter
from hiperplano.messages import Message

ALL = "*"
"""Stands for every column except the target."""
_NINES = tuple(10**k - 1 for k in range(1, 9))  # 9, 99, 999, …
_FAMILY = {value for nines in _NINES for value in (nines, nines - 1, nines - 2, nines - 3)} | {77, 88, 777, 888}
_BELOW = {-value for value in _FAMILY} | {-1}
_ABOVE = {value for value in _FAMILY if value > 90}
_MOST_CODES = 4
_FREQUENT = 100  # rows with a value far from all others that make it a code, however many other rows there are


def without_given(
    table: pa.Table, given: Mapping[str, Sequence[str]], target: str | None
) -> tuple[pa.Table, dict[str, tuple[float | str, ...]]]:
    """The table without the values that the user declared missing, and these values by column.

    Parameters
    ----------
    given : mapping of str to sequence of str
        Values by column, or by `ALL`; an empty sequence means that no value is guessed.
    """
    found: dict[str, tuple[float | str, ...]] = {}
    for place, name in enumerate(table.column_names):
        texts = given.get(name, () if name == target else given.get(ALL))
        if texts is None or (name == target and name not in given):
            continue
        column = table.column(name)
        codes = _as_values(name, column, texts, strict=name in given)
        found[name] = codes
        if codes:
            table = table.set_column(place, name, emptied(column, codes))
    return table, found


def _as_values(name: str, column: pa.ChunkedArray, texts: Sequence[str], strict: bool) -> tuple[float | str, ...]:
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        return tuple(texts)
    codes = []
    for text in texts:
        try:
            codes.append(float(text))
        except ValueError as problem:
            if strict:
                raise InvalidParameter(
                    "--missing {name}: the column holds numbers, and {text!r} is none.", name=name, text=text
                ) from problem
    return tuple(codes)


def emptied(column: pa.ChunkedArray, codes: Sequence[float | str]) -> pa.ChunkedArray:
    """A column without some of its values."""
    if pa.types.is_dictionary(column.type):
        texts = column.cast(pa.string())
        return pc.if_else(pc.is_in(texts, pa.array(list(codes), pa.string())), None, texts).dictionary_encode()
    kind = pa.string() if pa.types.is_string(column.type) else pa.float64()
    there = pc.is_in(column.cast(kind), pa.array(list(codes), kind))
    return pc.if_else(there, pa.scalar(None, column.type), column)


def special_codes(column: pa.ChunkedArray, low: float, high: float) -> tuple[tuple[float, ...], str]:
    """Codes of a numeric column with the range `low` to `high`: far from all others, frequent, and with typical digits.

    Below the range, numbers such as −9, −8, −7 if all others are 0 or more; above it, such as 997, 998, 999 far beyond
    the rest.

    Returns
    -------
    codes : tuple of float
    why : str
        Empty if there are none.
    """
    found: list[float] = []
    reasons = []
    for usual, at_top in ((_BELOW, False), (_ABOVE, True)):
        if (high if at_top else low) not in usual:
            continue
        codes, count, next_one = _codes_at_one_end(column, usual, at_top)
        if codes:
            found += codes
            reasons.append(
                Message(
                    "{value} ({n:,} rows, next {next}) taken as missing",
                    value=", ".join(f"{code:g}" for code in codes),
                    n=count,
                    next=Message.number(next_one, "g"),
                )
            )
    return tuple(found), Message.concatenate("; ", reasons)


def _codes_at_one_end(column: pa.ChunkedArray, usual: set[int], at_top: bool) -> tuple[list[float], int, float]:
    nothing: tuple[list[float], int, float] = ([], 0, 0.0)
    n = len(column) - column.null_count
    values = column.cast(pa.float64())
    outer = values.filter(pc.greater(values, 90.0) if at_top else pc.less(values, 0.0))
    codes = sorted(code for code in pc.unique(outer).to_pylist() if code in usual)
    rest = values.filter(pc.invert(pc.is_in(values, pa.array(codes, pa.float64()))))
    inner_low, inner_high = (float(each.as_py() or 0.0) for each in pc.min_max(rest).values())
    count = n - (len(rest) - rest.null_count)
    lonely = len(codes) > 1 and -1.0 in codes and len(codes) == 2 and min(codes) == -2.0
    if not codes or len(codes) > _MOST_CODES or lonely or not max(5, min(0.002 * n, _FREQUENT)) <= count <= 0.9 * n:
        return nothing
    if not inner_low < inner_high:
        return nothing
    apart = codes[0] - inner_high > 2 * (inner_high - min(inner_low, 0.0)) if at_top else inner_low >= 0
    return (codes, count, inner_high if at_top else inner_low) if apart else nothing
