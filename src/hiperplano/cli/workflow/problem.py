"""A file and a target → rows to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from hiperplano.cli import options
from hiperplano.cli.workflow.model_registry import TASKS
from hiperplano.errors import InvalidFile, InvalidParameter
from hiperplano.features.columns import Column
from hiperplano.features.kinds import infer_kinds
from hiperplano.features.target import Target, read_target
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator
from hiperplano.tables.reading import Source, no_such_column, read_table, to_frame

_ = translator("terminal")


@dataclass(frozen=True)
class TableOptions:
    """The user's options about a table."""

    kind: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    order: Sequence[str] | None = None
    missing: Sequence[str] | None = None
    separator: str | None = None
    decimal: str | None = None
    task: str | None = None
    positive: str | None = None


@dataclass(frozen=True)
class Problem:
    """Rows with a target.

    Attributes
    ----------
    frame : pandas frame
        Without the target, and without rows whose target is missing.
    notes : list of str
        What a person should know of how the table was read.
    """

    source: Source
    columns: list[Column]
    frame: Any
    target: Target
    notes: list[str] = field(default_factory=list)


def read_problem(path: Path, target: str, choices: TableOptions, *, leaks: bool = True, step: Any = None) -> Problem:
    """Read a file, infer the kinds of its columns, and split off the target.

    Parameters
    ----------
    target : str
        Name of its column.
    leaks : bool
        Whether to suspect columns that tell the target.
    step : callable, optional
        Is told what is being done.
    """
    step = step or (lambda text="": None)
    if choices.task is not None:
        options.one_of("--task", choices.task, TASKS)
    kinds = options.pairs("--kind", list(choices.kind or []))
    orders = {name: value.split(",") for name, value in options.pairs("--order", list(choices.order or [])).items()}
    missing = _numbers(options.pairs("--missing", list(choices.missing or [])))
    dropped = list(choices.drop or [])
    if target in dropped:
        raise InvalidParameter(_("--drop names the target {name!r}; it is needed. Drop another.", name=target))
    step(_("reading {file}", file=path.name))
    table, source = read_table(path, separator=choices.separator, decimal=choices.decimal, drop=dropped)
    if target not in table.column_names:
        raise InvalidFile(no_such_column(path, target, table.column_names))
    if table.num_columns < 2:
        raise InvalidFile(
            _("{file}: the target is the only column; there is nothing to learn from. Give more columns.", file=path)
        )
    notes = list(source.reading_notes)
    table, left_out = with_target(table, target)
    notes += [left_out] if left_out else []
    step(_("looking at the columns"))
    found = read_target(path, target, table.column(target), choices.task, choices.positive)
    columns = infer_kinds(table, target, chosen=kinds, orders=orders, missing=missing, leaks=leaks)
    used = [column.name for column in columns if column.used]
    return Problem(source, columns, to_frame(table.select(used)), found, notes)


def with_target(table: pa.Table, target: str) -> tuple[pa.Table, str]:
    """The rows that have a target, and a sentence on those that have none.

    Returns
    -------
    table : pyarrow Table
    note : str
        Empty where no row was left out.
    """
    n = table.column(target).null_count
    if not n:
        return table, ""
    said = Message(
        "{n} of {all} rows have no value in {name} and were left out.", n=f"{n:,}", all=f"{len(table):,}", name=target
    )
    return table.filter(table.column(target).is_valid()), said


def _numbers(given: dict[str, str]) -> dict[str, tuple[float, ...]]:
    try:
        return {name: tuple(float(each) for each in value.split(",") if each) for name, value in given.items()}
    except ValueError as problem:
        raise InvalidParameter(_("--missing needs numbers ({why}); as income=999.", why=problem)) from problem
