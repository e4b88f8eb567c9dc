"""Result tables for the terminal: columns, measures, coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from hiperplano.cli.workflow.evaluation import metric_label
from hiperplano.data.design import Array
from hiperplano.errors import NotAvailable
from hiperplano.features.columns import Column, kind_label
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator

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


@dataclass(frozen=True)
class Coefficients:
    """Coefficients in the units of the table.

    Attributes
    ----------
    names : list of str
        The intercept first.
    blocks : list of str
        What each row of `values` speaks for; one empty text where there is one row.
    values : ndarray of shape (blocks, names)
    low, high, p : ndarray of the same shape, or None
    odds : bool
        Whether exp of a coefficient is an odds ratio.
    """

    names: list[str]
    blocks: list[str]
    values: Array
    low: Array | None = None
    high: Array | None = None
    p: Array | None = None
    odds: bool = False


def read_coefficients(linear: Any, scaler: Any, names: Sequence[str], positive: Any = None) -> Coefficients | None:
    """The coefficients of a model, for the class that is looked for; None for a model without any.

    Parameters
    ----------
    scaler : StandardScaler or None
        What stands before it: coefficients are given in the units of the table.
    names : sequence of str
        Of the columns.
    positive : object, optional
        Of two classes the one that is looked for.
    """
    if not hasattr(linear, "coef_"):
        return None
    coef, intercept = np.atleast_2d(np.asarray(linear.coef_)), np.atleast_1d(np.asarray(linear.intercept_))
    if scaler is not None:
        coef = coef / scaler.scale_
        intercept = intercept - coef @ scaler.mean_
    intercept = np.broadcast_to(intercept, (len(coef),))
    values = np.column_stack([intercept, coef])
    classes = getattr(linear, "classes_", None)
    turned = classes is not None and len(classes) == 2 and positive == classes.tolist()[0]
    blocks = [""] if len(coef) == 1 else [str(label) for label in np.asarray(classes).tolist()]
    odds = hasattr(linear, "predict_log_proba") and hasattr(linear, "fit_intercept")
    all_names = [_("intercept"), *names]
    spread = _spread(linear, values.shape) if scaler is None else None
    low, high, p = spread if spread is not None else (None, None, None)
    if turned:
        values, low, high = -values, None if high is None else -high, None if low is None else -low
    return Coefficients(all_names, blocks, values, low, high, p, odds)


def _spread(linear: Any, shape: tuple[int, ...]) -> tuple[Array, Array, Array] | None:
    """Ends of the 95% intervals and p-values, where the model has them."""
    if not hasattr(linear, "summary") or shape[0] != 1:
        return None
    try:
        table = linear.summary()
    except NotAvailable:
        return None
    if table.low.shape != shape[1:] or np.isnan(table.low).all():
        return None
    return table.low[None], table.high[None], table.p[None]


def coefficients_table(found: Coefficients) -> Table:
    """Coefficients, with odds ratios, intervals and p-values where there are any."""
    table = make_table(_("Coefficients"))
    table.add_column("", overflow="fold")
    if len(found.blocks) > 1:
        for block in found.blocks[:_MOST_CLASSES]:
            table.add_column(escape(block), justify="right")
        for j, name in enumerate(found.names):
            table.add_row(escape(name), *(f"{value:.4g}" for value in found.values[:_MOST_CLASSES, j]))
        return table
    table.add_column(_("coefficient"), justify="right")
    if found.low is not None:
        table.add_column(_("from (95%)"), justify="right")
        table.add_column(_("to (95%)"), justify="right")
        table.add_column("p", justify="right")
    if found.odds:
        table.add_column(_("odds ratio"), justify="right")
    for j, name in enumerate(found.names):
        cells = [f"{found.values[0, j]:.4g}"]
        if found.low is not None and found.high is not None and found.p is not None:
            p = found.p[0, j]
            cells += [f"{found.low[0, j]:.4g}", f"{found.high[0, j]:.4g}", "<0.0001" if p < 1e-4 else f"{p:.4f}"]
        if found.odds:
            with np.errstate(over="ignore"):
                cells.append("" if j == 0 else _ratio(found.values[0, j]))
        table.add_row(escape(name), *cells)
    return table


def _ratio(coefficient: float) -> str:
    """exp of a coefficient, with so many digits that one of a column of large numbers does not look like 1."""
    size = abs(coefficient)
    if not 1e-9 < size < 1e-3:
        return f"{np.exp(coefficient):.4g}"
    return f"{np.exp(coefficient):.{1 - int(np.floor(np.log10(size)))}f}"


def coefficients_json(found: Coefficients | None) -> list[dict[str, Any]]:
    """The same for machines."""
    if found is None:
        return []
    facts = []
    for i, block in enumerate(found.blocks):
        for j, name in enumerate(found.names):
            fact: dict[str, Any] = {"name": name if j else "intercept", "coefficient": float(found.values[i, j])}
            if block:
                fact["class"] = block
            if found.low is not None and found.high is not None and found.p is not None:
                fact |= {"low": float(found.low[i, j]), "high": float(found.high[i, j]), "p": float(found.p[i, j])}
            facts.append(fact)
    return facts
