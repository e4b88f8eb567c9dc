"""From a file and a target to training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hiperplano.cli import options
from hiperplano.cli.workflow.model_registry import TASKS
from hiperplano.errors import InvalidFile, InvalidParameter
from hiperplano.features.columns import Column
from hiperplano.features.kinds import infer_kinds, perhaps_categories, without_codes
from hiperplano.features.special_codes import ALL, without_given
from hiperplano.features.target import Target, read_target
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator
from hiperplano.tables.reading import Source, no_such_column, read_table, to_frame

_ = translator("terminal")

_MOST_NAMED = 6


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The user's options about a table."""

    kind: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    only: Sequence[str] | None = None
    order: Sequence[str] | None = None
    missing: Sequence[str] | None = None
    separator: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    task: str | None = None
    positive: str | None = None

    def read(self, path: Path, keep: Sequence[str] = ()) -> tuple[pa.Table, Source]:
        """Read the table without unwanted columns; those in `keep` are always read."""
        only = [*(self.only or []), *keep] if self.only else []
        return read_table(
            path,
            separator=self.separator,
            decimal=self.decimal,
            sheet=self.sheet,
            drop=list(self.drop or []),
            only=only,
        )

    def kinds(
        self, table: pa.Table, target: str | None, leaks: bool, keep_codes: bool = False
    ) -> tuple[pa.Table, list[Column]]:
        """The table without codes for missing values, and its columns.

        Parameters
        ----------
        keep_codes : bool
            Whether guessed codes stay in the table.
        """
        missing = {name: _values(text) for name, text in options.pairs("--missing", list(self.missing or [])).items()}
        _refuse_unknown("--missing", missing, table.column_names)
        table, codes = without_given(table, missing, target)
        chosen = options.pairs("--kind", list(self.kind or []))
        orders = {name: value.split(",") for name, value in options.pairs("--order", list(self.order or [])).items()}
        codes = {name: values for name, values in codes.items() if name != target}
        columns = infer_kinds(table, target, chosen=chosen, orders=orders, missing=codes, leaks=leaks)
        return (table if keep_codes else without_codes(table, columns)), columns


@dataclass(frozen=True)
class Problem:
    """Rows with a target.

    Attributes
    ----------
    frame : pandas frame
        Frame without the target and without rows whose target is missing. Its index holds the row numbers of the file,
        from 1.
    extra : pandas frame
        Columns for weights or splits, which no model uses.
    notes : list of str
        Notes for the user on how the table was read.
    """

    source: Source
    columns: list[Column]
    frame: Any
    target: Target
    extra: Any = None
    notes: list[str] = field(default_factory=list)


def read_problem(
    path: Path,
    target: str,
    choices: TableOptions,
    *,
    leaks: bool = True,
    keep_codes: bool = False,
    aside: Sequence[str] = (),
    step: Any = None,
) -> Problem:
    """Read a file, infer the kinds of its columns, and split off the target.

    Parameters
    ----------
    target : str
        Name of the target column.
    leaks : bool
        Whether to check for columns that reveal the target.
    keep_codes : bool
        Whether codes for missing values stay in the frame, for binning, where each has its own bin.
    aside : sequence of str
        Columns for weights or splits, which the model does not use.
    step : callable, optional
        Called with a description of each step.
    """
    step = step or (lambda text="": None)
    if choices.task is not None:
        options.one_of("--task", choices.task, TASKS)
    if target in (choices.drop or []):
        raise InvalidParameter(_("--drop names the target {name!r}; it is needed. Drop another.", name=target))
    step(_("reading {file}", file=path.name))
    table, source = choices.read(path, [target, *aside])
    for name in (target, *aside):
        if name not in table.column_names:
            raise InvalidFile(no_such_column(path, name, table.column_names))
    if table.num_columns < 2 + len(aside):
        raise InvalidFile(
            _("{file}: the target is the only column; there is nothing to learn from. Give more columns.", file=path)
        )
    notes = list(source.reading_notes)
    step(_("looking at the columns"))
    extra = to_frame(table.select(list(aside)))
    table, columns = choices.kinds(table.drop_columns(list(aside)), target, leaks, keep_codes)
    there = table.column(target).is_valid().to_numpy()
    numbers = np.flatnonzero(there)
    table, left_out = with_target(table, target)
    notes += [left_out] if left_out else []
    found = read_target(path, target, table.column(target), choices.task, choices.positive)
    if not keep_codes:
        notes += _codes_note(columns, choices)
    notes += _category_note(perhaps_categories(table, columns))
    frame = to_frame(table.select([column.name for column in columns if column.used]))
    frame.index = numbers + 1
    return Problem(source, columns, frame, found, extra.iloc[numbers], notes)


def _codes_note(columns: list[Column], choices: TableOptions) -> list[str]:
    """A note on values that were assumed to be codes for missing values."""
    told = options.pairs("--missing", list(choices.missing or []))
    guessed = [each for each in columns if each.used and each.codes and each.name not in told and ALL not in told]
    if not guessed:
        return []
    named = [f"{each.name} ({', '.join(f'{code:g}' for code in each.codes)})" for each in guessed[:_MOST_NAMED]]
    return [
        Message(
            "Far from all other numbers, and so taken as missing values: {codes}. If they are amounts, give --missing "
            "{option}",
            codes=", ".join(named) + (" …" if len(guessed) > _MOST_NAMED else ""),
            option=_typed(f"{guessed[0].name}="),
        )
    ]


def _typed(text: str) -> str:
    """Quoted for a shell if it has spaces."""
    return text if all(sign.isalnum() or sign in "_=-.,:" for sign in text) else f"'{text}'"


def _category_note(names: list[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
    return [
        Message(
            "Few whole numbers from 1 on, taken as amounts: {names}. If they are codes of categories, give --kind "
            "{option}.",
            names=shown,
            option=_typed(f"{names[0]}=nominal"),
        )
    ]


def with_target(table: pa.Table, target: str) -> tuple[pa.Table, str]:
    """The rows with a target, and a sentence on those without.

    Returns
    -------
    table : pyarrow Table
    note : str
        Empty if no row was dropped.
    """
    n = table.column(target).null_count
    if not n:
        return table, ""
    said = Message("{n:,} of {all:,} rows have no value in {name} and were left out.", n=n, all=len(table), name=target)
    return table.filter(table.column(target).is_valid()), said


def _values(text: str) -> list[str]:
    return [value.strip() for value in text.split(",") if value.strip()]


def _refuse_unknown(option: str, given: dict[str, list[str]], names: list[str]) -> None:
    for name in given:
        if name != ALL and name not in names:
            raise InvalidParameter(
                _("{option}: no column {name!r}; {hint}", option=option, name=name, hint=hint(name, names))
            )


def hint(name: str, names: list[str]) -> str:
    """Column names similar to one that does not exist."""
    near = get_close_matches(name, names, 3, 0.6)
    if near:
        return _("did you mean {names}?", names=", ".join(map(repr, near)))
    return _("the columns are {names}.", names=", ".join(map(repr, names[:8])))
