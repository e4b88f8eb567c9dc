"""Result tables for the terminal: columns, measures, coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from hiperplano.cli.workflow.evaluation import metric_label
from hiperplano.features.columns import Column, kind_label
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.coefficients import Coefficients

_ = translator("terminal")

_MOST_COLUMNS = 60
_MOST_CLASSES = 6
_MOST_NAMED = 12


def make_table(title: str, **more: Any) -> Table:
    """An empty table with as few lines as it needs, since a terminal may be narrow."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1),
        collapse_padding=True,
        pad_edge=False,
        **more,
    )


def columns_table(columns: Sequence[Column], n_rows: int) -> Table:
    """The columns with their kinds."""
    table = make_table(_("Columns"))
    table.add_column(_("column"))
    table.add_column(_("kind"))
    table.add_column(_("missing"), justify="right")
    table.add_column(_("why"), overflow="fold")
    for column in columns[:_MOST_COLUMNS]:
        share = f"{column.missing / n_rows:.1%}" if column.missing else ""
        style = None if column.used else ("yellow" if column.kind == "leak" else "dim")
        kind, why = translate(kind_label(column.kind)), translate(column.why)
        table.add_row(escape(column.name), kind, share, escape(why), style=style)
    if len(columns) > _MOST_COLUMNS:
        table.add_row(_("… and {n} more", n=len(columns) - _MOST_COLUMNS), "", "", "")
    return table


def unused_columns_note(columns: Sequence[Column]) -> list[str]:
    """A sentence on the columns that no model gets to see, where there are any."""
    unused = [
        Message.concatenate("", [column.name, " (", kind_label(column.kind), ")"])
        for column in columns
        if not column.used
    ]
    shown = Message.concatenate(", ", unused[:_MOST_NAMED]) + (", …" if len(unused) > _MOST_NAMED else "")
    return [Message("Columns left out: {names}", names=shown)] if unused else []


def metrics_table(by_part: Mapping[str, Mapping[str, float]], rows: Mapping[str, int]) -> Table:
    """Measures side by side, a column for each part of the rows.

    Parameters
    ----------
    by_part : mapping of str to mapping
        Metrics of each part of the rows, by name.
    rows : mapping of str to int
        Rows of each part.
    """
    table = make_table(_("Performance"))
    table.add_column("")
    for part in by_part:
        table.add_column(part, justify="right")
    table.add_row(_("rows"), *(f"{rows[part]:,}" for part in by_part))
    names = list(next(iter(by_part.values())))
    for name in names:
        table.add_row(metric_label(name), *(format_metric(part.get(name, float("nan"))) for part in by_part.values()))
    return table


def format_metric(value: float, decimals: int = 4) -> str:
    """A number in a table of measures."""
    if np.isnan(value):
        return "–"
    return f"{value:.{decimals}f}" if abs(value) < 1000 else f"{value:,.6g}"


def coefficients_table(found: Coefficients) -> Table:
    """Coefficients, with odds ratios, intervals and p-values where there are any."""
    table = make_table(_("Coefficients"))
    table.add_column("", overflow="fold")
    names = [_("intercept"), *found.names]
    if len(found.blocks) > 1:
        for block in found.blocks[:_MOST_CLASSES]:
            table.add_column(escape(block), justify="right")
        values = np.column_stack([found.intercept, found.coef])[:_MOST_CLASSES]
        for name, cells in zip(names, values.T, strict=True):
            table.add_row(escape(name), *(f"{value:.4g}" for value in cells))
        return table
    columns = found.columns()
    table.add_column(_("coefficient"), justify="right")
    ends = [heading for heading in columns if heading.startswith(("low ", "high "))]
    tested = found.interval() is not None
    if tested:
        table.add_column(_("from (95%)"), justify="right")
        table.add_column(_("to (95%)"), justify="right")
        table.add_column("p", justify="right")
    if found.odds:
        table.add_column(_("odds ratio"), justify="right")
    for j, name in enumerate(names):
        cells = [f"{columns['coef'][j]:.4g}"]
        if tested:
            cells += [_or_dash(columns[end][j], ".4g") for end in ends] + [_p_text(columns["p"][j])]
        if found.odds:
            cells.append("" if j == 0 else _ratio(columns["coef"][j]))
        table.add_row(escape(name), *cells)
    return table


def _or_dash(value: float, form: str) -> str:
    return "–" if np.isnan(value) else format(value, form)


def _p_text(value: float) -> str:
    return "<0.0001" if value < 1e-4 else _or_dash(value, ".4f")


def _ratio(coefficient: float) -> str:
    """exp of a coefficient, with so many digits that one of a column of large numbers does not look like 1."""
    size = abs(coefficient)
    if not 1e-9 < size < 1e-3:
        with np.errstate(over="ignore"):
            return f"{np.exp(coefficient):.4g}"
    return f"{np.exp(coefficient):.{1 - int(np.floor(np.log10(size)))}f}"


def coefficients_json(found: Coefficients | None) -> list[dict[str, Any]]:
    """The same for machines."""
    if found is None:
        return []
    names = ["intercept", *found.names]
    if len(found.blocks) > 1:
        values = np.column_stack([found.intercept, found.coef])
        return [
            {"name": name, "coefficient": float(value), "class": block}
            for block, line in zip(found.blocks, values, strict=True)
            for name, value in zip(names, line, strict=True)
        ]
    columns = {heading.partition(" ")[0]: values for heading, values in found.columns().items()}
    kept = {"coef": "coefficient"} | ({"low": "low", "high": "high", "p": "p"} if found.interval() is not None else {})
    return [{"name": name, **{kept[key]: float(columns[key][j]) for key in kept}} for j, name in enumerate(names)]
