"""An overview of the columns of a table: kind, missing values, distribution, and association with a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from hiperplano.cli.result_tables import make_table
from hiperplano.data.design import Array
from hiperplano.features.columns import Column, kind_label
from hiperplano.features.encoders import CategoricalEncoder, NumericEncoder
from hiperplano.features.target import Target
from hiperplano.messages import translate
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.divergence import information_value
from hiperplano.report.number_format import decimal, percent, significant

_ = translator("terminal")

_BARS, _BLOCKS = 12, " ▁▂▃▄▅▆▇█"
_IV_BINS = 10
_MOST_CATEGORIES = 3


def column_facts(columns: Sequence[Column], frame: Any, target: Target | None) -> list[dict[str, Any]]:
    """Facts about each column; `iv` for two classes, `correlation` for a numeric target.

    Parameters
    ----------
    frame : pandas frame
        Frame with the columns that a model would use.
    """
    return [_facts(column, frame, target) for column in columns]


def _facts(column: Column, frame: Any, target: Target | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": column.name, "kind": column.kind, "missing": column.missing, "why": column.why}
    facts["missing_share"] = column.missing / max(len(frame), 1)
    if not column.used or column.name not in frame:
        return facts
    series = frame[column.name]
    if column.kind in ("numeric", "date"):
        values = NumericEncoder.of(column, series).values(series)
        bins = _number_bins(values)
        known = values[~np.isnan(values)]
        if len(known):
            low, high = np.quantile(known, [0.005, 0.995])
            heights = np.histogram(known, bins=_BARS, range=(low, high) if low < high else None)[0]
            facts |= {"distribution": heights.tolist(), "low": float(known.min()), "high": float(known.max())}
            facts["median"] = float(np.median(known))
    else:
        codes, labels = CategoricalEncoder.of(column, series).categories(series)
        bins = np.where(codes < 0, len(labels), codes)
        counts = np.bincount(np.asarray(codes)[codes >= 0], minlength=len(labels))
        order = np.argsort(-counts, kind="stable")
        facts["distribution"] = counts[order][:_BARS].tolist()
        facts["categories"] = {labels[k]: int(counts[k]) for k in order[:_MOST_CATEGORIES].tolist()}
    return facts | _strength(bins, series, column, target)


def _number_bins(values: Array) -> Array:
    known = values[~np.isnan(values)]
    edges = np.unique(np.quantile(known, np.arange(1, _IV_BINS) / _IV_BINS)) if len(known) else np.empty(0)
    return np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right"))


def _strength(bins: Array, series: Any, column: Column, target: Target | None) -> dict[str, float]:
    if target is None:
        return {}
    if target.codes is not None and len(target.classes) == 2:
        positive = target.codes == list(target.classes).index(target.positive)
        return {"iv": float(information_value(positive, bins, smoothing=0.5))}
    if target.codes is None and column.kind == "numeric":
        x = NumericEncoder.of(column, series).values(series)
        both = ~np.isnan(x)
        if both.sum() > 2 and x[both].std() > 0 and target.values[both].std() > 0:
            return {"correlation": float(np.corrcoef(x[both], target.values[both])[0, 1])}
    return {}


def overview_table(facts: Sequence[dict[str, Any]], target: Target | None) -> Table:
    """One row per column, the strongest first if a target is given."""
    table = make_table(_("Columns"))
    table.add_column(_("column"), overflow="fold")
    table.add_column(_("kind"), no_wrap=True)
    table.add_column(_("missing"), justify="right", no_wrap=True)
    measure = next((name for name in ("iv", "correlation") if any(name in each for each in facts)), None)
    if measure:
        table.add_column("IV" if measure == "iv" else _("correlation"), justify="right", no_wrap=True)
    table.add_column(_("distribution"), no_wrap=True)
    table.add_column(_("values"), overflow="fold")
    shown = sorted(facts, key=lambda each: -abs(each.get(measure, 0.0))) if measure else facts
    for each in shown:
        strength = [decimal(each[measure]).text if measure in each else ""] if measure else []
        used = "distribution" in each
        table.add_row(
            escape(each["name"]),
            translate(kind_label(each["kind"])),
            percent(each["missing_share"]).text if each["missing"] else "0",
            *strength,
            _bars(each.get("distribution", [])),
            escape(_values(each)),
            style=None if used else "dim",
        )
    return table


def _bars(heights: Sequence[int]) -> str:
    tallest = max(heights, default=0)
    return "".join(_BLOCKS[round((len(_BLOCKS) - 1) * height / tallest)] for height in heights) if tallest else ""


def _values(each: dict[str, Any]) -> str:
    if each["kind"] == "date" and "low" in each:
        return translate(each["why"])
    if "low" in each:
        low, middle, high = (significant(each[name]).text for name in ("low", "median", "high"))
        return _("{low} to {high}, median {median}", low=low, high=high, median=middle)
    if "categories" in each:
        total = sum(each["distribution"]) or 1
        return ", ".join(f"{label} ({percent(count / total, 0).text})" for label, count in each["categories"].items())
    return translate(each["why"])
