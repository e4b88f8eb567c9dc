"""The kind of each column of a table, inferred with a reason; the user can override it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.data.parallel.threads import in_threads
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.features.columns import KINDS, Column, kind_label
from hiperplano.features.leaks import leakage_reason
from hiperplano.features.ordinal import ordinal_order
from hiperplano.features.special_codes import emptied, special_codes
from hiperplano.messages import Message

_SAMPLE = 5_000  # rows that are enough to detect a column that reveals the target
_MOST_CATEGORIES = 1_000
_FEW_ROWS = 100  # in smaller tables, all values of an ordinary column may differ
_MOST_LIKE_CODES = 9
_ID = re.compile(
    r"(^|[_\W])(id|key|uuid|folio|documento|c[eé]dula|nit|dni|rut|ruc|cuit|cuil|curp|rfc|cpf|ssn)([_\W]|$)|(Id|ID)$",
    re.IGNORECASE,
)


def infer_kinds(
    table: pa.Table,
    target: str | None = None,
    *,
    chosen: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    missing: Mapping[str, Sequence[float | str]] | None = None,
    leaks: bool = True,
) -> list[Column]:
    """The kind of each column except the target.

    Parameters
    ----------
    table : pyarrow Table
        Table as returned by `read_table`.
    chosen : mapping, optional
        Kinds chosen by the user, by column.
    orders : mapping, optional
        Values of ordered columns from low to high.
    missing : mapping, optional
        Codes for missing values by column, instead of guessed ones; they are already removed from the table.
    leaks : bool, default=True
        Whether to check for columns that reveal the target.
    """
    chosen, orders, missing = dict(chosen or {}), dict(orders or {}), dict(missing or {})
    _check_given(table, target, {"--kind": chosen, "--order": orders, "--missing": missing})
    rows = np.unique(np.linspace(0, table.num_rows - 1, min(table.num_rows, _SAMPLE)).astype(np.int64))
    sample = table.take(pa.array(rows)) if len(rows) < table.num_rows else table
    known = sample.column(target) if target is not None and leaks else None

    def guess(name: str) -> Column:
        column = _guess(name, table.column(name), missing.get(name))
        if name in orders or name in chosen:
            return _with_given_kind(column, table.column(name), chosen.get(name, "ordered"), orders.get(name))
        numbers = tuple(code for code in column.codes if not isinstance(code, str))
        reason = leakage_reason(sample.column(name), known, numbers) if known is not None and column.used else ""
        return Column(name, "leak", reason, column.missing, codes=column.codes) if reason else column

    names = [name for name in table.column_names if name != target]
    return in_threads(guess, names, table.num_rows * len(names))


def without_codes(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """The table with codes for missing values removed."""
    for column in columns:
        if column.codes and column.name in table.column_names:
            place = table.column_names.index(column.name)
            table = table.set_column(place, column.name, emptied(table.column(place), column.codes))
    return table


def perhaps_categories(table: pa.Table, columns: Sequence[Column]) -> list[str]:
    """Numeric columns with a few integers from 1 on, which may be codes of categories."""
    return [each.name for each in columns if each.kind == "numeric" and _like_codes(table.column(each.name))]


def _like_codes(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_integer(column.type) or len(column) < _FEW_ROWS:
        return False
    values = sorted(value for value in pc.unique(column).to_pylist() if value is not None)
    return 3 <= len(values) <= _MOST_LIKE_CODES and values[0] == 1 and values[-1] <= _MOST_LIKE_CODES


def _guess(name: str, column: pa.ChunkedArray, codes: Sequence[float | str] | None) -> Column:
    n, missing = len(column), column.null_count
    if codes:
        return replace(_guess(name, column, ()), codes=tuple(codes))
    if missing == n:
        return Column(name, "empty", Message("all {n:,} cells are empty", n=n), missing)
    if pa.types.is_timestamp(column.type):
        low, high = (str(value.as_py().date()) for value in pc.min_max(column).values())
        if low == high and not missing:
            return Column(name, "constant", Message("{value} in all rows", value=low), missing)
        return Column(name, "date", Message("dates from {low} to {high}", low=low, high=high), missing)
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        return _guess_text(name, column, missing)
    return _guess_number(name, column, missing, codes)


def _guess_text(name: str, column: pa.ChunkedArray, missing: int) -> Column:
    n = len(column) - missing
    values = tuple(value for value in pc.unique(column).to_pylist() if value is not None)
    count = len(values)
    if count == 1 and not missing:
        return Column(name, "constant", Message("{value} in all rows", value=repr(values[0])), missing)
    if count > 0.9 * n and n >= _FEW_ROWS:
        return Column(name, "identifier", Message("{k:,} different texts in {n:,} rows", k=count, n=n), missing)
    if count > _MOST_CATEGORIES:
        why = Message(
            "{k:,} different texts, more than {most:,}: too many for categories (--kind {name}=nominal keeps the "
            "frequent ones)",
            k=count,
            most=_MOST_CATEGORIES,
            name=name,
        )
        return Column(name, "identifier", why, missing)
    in_order = column.chunk(0).dictionary.to_pylist() if _has_order(column) else ordinal_order(values)
    if in_order:
        return Column(name, "ordered", _joined(in_order, " < "), missing, order=tuple(in_order))
    return Column(name, "nominal", Message("{k} values: {values}", k=count, values=_joined(values, ", ")), missing)


def _has_order(column: pa.ChunkedArray) -> bool:
    return pa.types.is_dictionary(column.type) and bool(column.type.ordered)


def _guess_number(name: str, column: pa.ChunkedArray, missing: int, given: Sequence[float | str] | None) -> Column:
    low, high = (float(value.as_py()) for value in pc.min_max(column).values())
    if not (np.isfinite(low) and np.isfinite(high)):
        row = pc.index(pc.is_inf(column.cast(pa.float64())), True).as_py()
        if row >= 0:
            raise InvalidData(
                "column {name!r} holds infinity (row {row}); numbers must be finite. Empty that cell, or leave the "
                "column out with --drop {name}.",
                name=name,
                row=row + 1,
            )
    if low == high:
        if missing:
            return Column(name, "nominal", Message("{value} or nothing", value=Message.number(low, "g")), missing)
        return Column(name, "constant", Message("{value} in all rows", value=Message.number(low, "g")), missing)
    whole = pa.types.is_integer(column.type)
    if whole and _is_identifier(name, column, low, high):
        return Column(name, "identifier", Message("whole numbers, each in one row"), missing)
    codes, why_codes = ((), "") if given is not None else special_codes(column, low, high)
    if codes:
        rest = emptied(column, codes)
        missing = rest.null_count
        low, high = (float(value.as_py()) for value in pc.min_max(rest).values())
    if whole:
        why = Message("whole numbers from {low} to {high}", low=_shown(low, high, low), high=_shown(low, high, high))
    else:
        ends = {"low": Message.number(low, _spec(low)), "high": Message.number(high, _spec(high))}
        why = Message("numbers from {low} to {high}", **ends)
    return Column(name, "numeric", Message.concatenate("; ", filter(None, [why, why_codes])), missing, codes=codes)


def _shown(low: float, high: float, value: float) -> Message:
    """A number with thousands separators, unless it may be a year."""
    return Message.number(value, ".0f" if 1000 <= low <= high < 3000 else _spec(value))


def _spec(value: float) -> str:
    """Number format: all digits before the point, unless there are very many.

    Six significant digits for small numbers.
    """
    return ",.0f" if 1e4 <= abs(value) < 1e15 else ",.6g"


def _is_identifier(name: str, column: pa.ChunkedArray, low: float, high: float) -> bool:
    """Whether numbers identify rows or clients: each occurs once, and the name says so or they are close together."""
    n = len(column) - column.null_count
    if n < _FEW_ROWS or not (_ID.search(name) or high - low < 1.5 * n):
        return False
    head = column.slice(0, 1000).drop_null()
    return len(pc.unique(head)) == len(head) and len(pc.unique(column.drop_null())) == n


def _joined(values: Sequence[str], sign: str, most: int = 5) -> str:
    shown = sign.join(values[:most])
    return shown if len(values) <= most else f"{shown}{sign}…"


def _check_given(table: pa.Table, target: str | None, choices: Mapping[str, Mapping[str, Any]]) -> None:
    for option, choice in choices.items():
        for name in choice:
            if name not in table.column_names or name == target:
                names = [each for each in table.column_names if each != target]
                near = get_close_matches(name, names, 3, 0.6)
                raise InvalidParameter(
                    "{option}: no column {name!r}; {hint}",
                    option=option,
                    name=name,
                    hint=Message("did you mean {names}?", names=", ".join(map(repr, near)))
                    if near
                    else Message("the columns are {names}.", names=_joined(list(map(repr, names)), ", ", 8)),
                )
    for name, kind in choices["--kind"].items():
        if kind not in KINDS:
            raise InvalidParameter(
                "column {name!r}: {kind!r} is not a kind; the kinds are {kinds}. Choose one of them.",
                name=name,
                kind=kind,
                kinds=", ".join(KINDS),
            )


def _with_given_kind(column: Column, values: pa.ChunkedArray, kind: str, order: Sequence[str] | None) -> Column:
    text = pa.types.is_dictionary(values.type) or pa.types.is_string(values.type)
    if (kind == "numeric" and text) or (kind == "date" and not pa.types.is_timestamp(values.type)):
        example = repr(values.drop_null().slice(0, 1).to_pylist()[0]) if column.missing < len(values) else "—"
        raise InvalidParameter(
            "column {name!r} cannot be {kind}: it holds {example}. Correct the file, or choose nominal.",
            name=column.name,
            kind=kind_label(kind),
            example=example,
        )
    in_order = tuple(order or ())
    if in_order:
        _refuse_unordered(column.name, values, in_order)
    if kind == "ordered" and not in_order:
        if text:
            seen = sorted(pc.unique(values.drop_null()).to_pylist())
            in_order = ordinal_order(seen) or tuple(seen)
        else:
            return replace(column, kind="numeric", why=Message("chosen: ordered numbers stay numbers"))
    return Column(column.name, kind, Message("chosen"), column.missing, order=in_order, codes=column.codes)


def _refuse_unordered(name: str, values: pa.ChunkedArray, order: Sequence[str]) -> None:
    """Raise an error if a value is missing from an order."""
    counts = {str(each["values"]): each["counts"] for each in pc.value_counts(values.drop_null()).to_pylist()}
    left = [value for value in counts if value not in order]
    if left:
        raise InvalidParameter(
            "--order {name}: the column also holds {values} ({n:,} rows), which have no place in the order "
            "{order}. Name every value from low to high; --missing {name}={first} leaves one out.",
            name=name,
            values=_joined(list(map(repr, left)), ", "),
            n=sum(counts[value] for value in left),
            order=_joined(list(order), " < "),
            first=left[0],
        )
