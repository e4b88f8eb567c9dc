"""Result tables for the terminal: columns, measures, coefficients."""

from __future__ import annotations

import re
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
from hiperplano.report.number_format import column, count, decimal, percent, significant
from hiperplano.report.verdict import Judgement

_ = translator("terminal")

_MOST_COLUMNS = 60
_MOST_CLASSES = 6
_MOST_NAMED = 12


def make_table(title: str, **more: Any) -> Table:
    """An empty table with few lines, since a terminal may be narrow."""
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
    for each in columns[:_MOST_COLUMNS]:
        share = percent(each.missing / n_rows).text if each.missing else "0"
        style = None if each.used else ("yellow" if each.kind == "leak" else "dim")
        kind, why = translate(kind_label(each.kind)), translate(each.why)
        table.add_row(escape(each.name), kind, share, escape(why), style=style)
    if len(columns) > _MOST_COLUMNS:
        table.add_row(_("… and {n} more", n=len(columns) - _MOST_COLUMNS), "", "", "")
    return table


def unused_columns_note(columns: Sequence[Column]) -> list[str]:
    """A sentence on the columns that no model uses, if there are any."""
    unused = [
        Message.concatenate("", [each.name, " (", kind_label(each.kind), ")"]) for each in columns if not each.used
    ]
    shown = Message.concatenate(", ", unused[:_MOST_NAMED]) + (", …" if len(unused) > _MOST_NAMED else "")
    return [Message("Columns left out: {names}", names=shown)] if unused else []


def verdict_table(judgements: Sequence[Judgement]) -> Table:
    """The verdict, one aspect per row."""
    table = make_table(_("Verdict"), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    styles = {"good": "green", "bad": "bold red", "plain": ""}
    for each in judgements:
        table.add_row(escape(each.aspect), escape(each.text), style=styles[each.tone])
    return table


def metrics_table(by_part: Mapping[str, Mapping[str, float]], rows: Mapping[str, float]) -> Table:
    """Metrics side by side, one column for each part of the rows.

    Parameters
    ----------
    by_part : mapping of str to mapping
        Metrics of each part of the rows, by name.
    rows : mapping of str to int
        Number of rows of each part.
    """
    table = make_table(_("Performance"))
    table.add_column("")
    for part in by_part:
        table.add_column(part, justify="right")
    table.add_row(_("rows"), *(count(rows[part]).text for part in by_part))
    for name in next(iter(by_part.values())):
        if name not in ("auc_low", "auc_high", "rows"):
            table.add_row(metric_label(name), *(_metric_cell(name, part) for part in by_part.values()))
    return table


def _metric_cell(name: str, part: Mapping[str, float]) -> str:
    text = format_metric(part.get(name, float("nan")))
    if name == "base_rate" and name in part:
        return percent(part[name]).text
    if name == "auc" and "auc_low" in part:
        return f"{text} ({decimal(part['auc_low']).text} – {decimal(part['auc_high']).text})"
    return text


def format_metric(value: float, decimals: int = 4) -> str:
    """Format a number in a table of metrics."""
    return (decimal(value, decimals) if not abs(value) >= 1000 else decimal(value, 0)).text


def coefficients_table(
    found: Coefficients,
    references: Mapping[str, str | None] | None = None,
    most: int | None = None,
    width: int | None = None,
) -> Table:
    """Coefficients, with odds ratios, intervals and p-values if available.

    Parameters
    ----------
    references : mapping of str to str or None
        Reference category of each column; None for a missing value.
    most : int, optional
        Show only this number of coefficients, those with the largest effects.
    width : int, optional
        Width of the terminal. If numbers do not fit, odds ratios, which follow from the coefficients, are omitted.
    """
    table = make_table(_("Coefficients"))
    effect = np.abs(found.effect).max(axis=0)
    kept = np.arange(len(effect)) if most is None else np.sort(np.argsort(-effect, kind="stable")[:most])
    columns, cells = _by_class(found) if len(found.blocks) > 1 else _one_score(found)
    names = [_("intercept"), *(found.names[j] for j in kept.tolist())]
    columns, cells, room = _fitting(columns, cells, names, width, has_odds=found.odds and len(found.blocks) == 1)
    table.add_column("", overflow="fold", min_width=max(len(line) for name in names for line in in_lines(name, room)))
    for heading, texts in zip(columns, zip(*cells, strict=True), strict=True):
        table.add_column(escape(heading), justify="right", no_wrap=True, min_width=max(map(len, [heading, *texts])))
    table.add_row(_("intercept"), *cells[0])
    waiting = dict(references or {})
    for j in kept.tolist():
        name = found.names[j]
        parent = next((each for each in waiting if name.startswith(f"{each} = ")), None)
        if parent is not None:
            reference = waiting.pop(parent)
            shown = _("no value") if reference is None else reference
            table.add_row(_broken(f"{parent} = {shown}", room), _("reference"), style="dim")
        table.add_row(_broken(name, room), *cells[j + 1])
    return table


def _fitting(
    columns: list[str], cells: list[list[str]], names: Sequence[str], width: int | None, has_odds: bool
) -> tuple[list[str], list[list[str]], int]:
    """The columns that fit, and the width left for names.

    Numbers are never truncated. If there is not enough room, odds ratios, which follow from the coefficients, are
    omitted first; then names are wrapped, and then intervals, which the report shows, are omitted.
    """
    longest = max(map(len, names))
    if width is None:
        return columns, cells, longest
    pieces = max(len(piece) for name in names for piece in in_lines(name, 1))
    steps = [(0, longest), (int(has_odds), longest), (int(has_odds), pieces)]
    for n_last, needed in steps:
        kept = len(columns) - n_last
        room = width - sum(_widths(columns, cells)[:kept]) - 2 * kept - 2
        if room >= needed:
            return columns[:kept], [line[:kept] for line in cells], room
    if _("from (95%)") in columns:
        few = [0, columns.index("p")]
        columns, cells = [columns[k] for k in few], [[line[k] for k in few] for line in cells]
    return columns, cells, max(pieces, width - sum(_widths(columns, cells)) - 2 * len(columns) - 2)


def _widths(columns: list[str], cells: list[list[str]]) -> list[int]:
    return [max(map(len, texts)) for texts in zip(columns, *cells, strict=True)]


_BOUNDARY = re.compile(r"(?<=[ _/.:-])|(?<=[a-z0-9])(?=[A-Z])")


def in_lines(name: str, room: int) -> list[str]:
    """A name wrapped to lines of at most `room` characters, between words: at spaces, underscores, capitals.

    A longer word is not broken.
    """
    lines = [""]
    for piece in filter(None, _BOUNDARY.split(name)):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _broken(name: str, room: int) -> str:
    return escape("\n".join(in_lines(name, room)))


def _by_class(found: Coefficients) -> tuple[list[str], list[list[str]]]:
    values = np.column_stack([found.intercept, found.coef])[:_MOST_CLASSES]
    return found.blocks[:_MOST_CLASSES], [[significant(value).text for value in line] for line in values.T.tolist()]


def _one_score(found: Coefficients) -> tuple[list[str], list[list[str]]]:
    """The numbers as the report shows them."""
    shown = {"coef": _("coefficient")}
    columns = found.columns()
    if found.interval() is not None:
        low, high = (name for name in columns if name.startswith(("low ", "high ")))
        shown |= {low: _("from (95%)"), high: _("to (95%)"), "p": "p"}
    shown |= {"odds ratio": _("odds ratio")} if found.odds else {}
    texts = [[number.text for number in column(name, columns[name])] for name in shown]
    if found.odds:
        texts[-1][0] = ""  # the intercept has no odds ratio
    return list(shown.values()), [list(line) for line in zip(*texts, strict=True)]


def coefficients_json(found: Coefficients | None) -> list[dict[str, Any]]:
    """The coefficients as JSON data."""
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
