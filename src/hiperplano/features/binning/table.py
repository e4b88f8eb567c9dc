"""The table of a fitted binning: one row for each bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from scipy.special import ndtri

from hiperplano.data.design import Array
from hiperplano.features.binning.evidence import information, rate_interval, weight_of_evidence
from hiperplano.messages import Message


@dataclass(frozen=True, repr=False)
class BinTable:
    """Bins with their counts and rates.

    Attributes
    ----------
    title : str
        Heading of the table.
    labels : list of str
        Names of the bins.
    columns : mapping of str to ndarray of shape (bins,)
        For two classes: `count`, `share`, `nonevents`, `events`, `event_rate` with its Wilson interval `low`, `high`,
        `woe`, `iv`, and `ks`, the distance of the two cumulated shares at the end of the bin. For more classes:
        `count`, `share`, and the rate and WoE of each class against the others. For a numeric target: `count`, `share`,
        `mean` with its interval `low`, `high`, and `sd`. Counts are sums of weights.
    totals : mapping of str to float
        Totals of all bins: `count` and, for classes, `iv` (the sum) and `ks` (the largest).

    Examples
    --------
    >>> from hiperplano import OptimalBinning
    >>> table = OptimalBinning(min_bin_size=1).fit([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1]).table()
    >>> table.labels
    ['(-inf, 3)', '[3, inf)', 'missing']
    >>> table["events"]
    array([0., 3., 0.])
    """

    title: str
    labels: list[str]
    columns: Mapping[str, Array]
    totals: Mapping[str, float]

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.labels)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame, one row for each bin.

        Returns
        -------
        pandas.DataFrame
            The labels are its index.
        """
        import pandas as pd

        return pd.DataFrame(dict(self.columns), index=pd.Index([str(label) for label in self.labels], name="bin"))

    def to_polars(self) -> Any:
        """The table as a polars DataFrame, with a column `bin`.

        Returns
        -------
        polars.DataFrame
            One row for each bin.
        """
        import polars as pl

        return pl.DataFrame({"bin": [str(label) for label in self.labels], **self.columns})

    def _cells(self) -> list[list[str]]:
        body = [[str(label) for label in self.labels], *(_texts(name, each) for name, each in self.columns.items())]
        foot = [Message("total"), *(_total(name, self.totals) for name in self.columns)]
        headed = [[name, *cells, last] for name, cells, last in zip(["bin", *self.columns], body, foot, strict=True)]
        return [list(row) for row in zip(*headed, strict=True)]

    def __str__(self) -> str:
        rows = self._cells()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = []
        for row in rows:
            cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
        width = max(len(self.title), *map(len, lines))
        return "\n".join([self.title, "=" * width, *lines[:-1], "-" * width, lines[-1]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        marked = [("th", head), *(("td", row) for row in body)]
        rows = "".join(
            f"<tr><th>{escape(row[0])}</th>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in row[1:])}</tr>"
            for tag, row in marked
        )
        return f"<table><caption>{escape(self.title)}</caption>{rows}</table>"


def binary_table(title: str, labels: list[str], sums: Array, smoothing: float) -> BinTable:
    """Table for two classes.

    Parameters
    ----------
    sums : ndarray of shape (bins, 2)
        Weights of non-events and events.
    """
    nonevents, events = sums[:, 0], sums[:, 1]
    count, shares = sums.sum(axis=1), np.cumsum(sums / sums.sum(axis=0), axis=0)
    low, high = rate_interval(events, count)
    columns = {
        "count": count,
        "share": count / count.sum(),
        "nonevents": nonevents,
        "events": events,
        "event_rate": _ratio(events, count),
        "low": low,
        "high": high,
        "woe": weight_of_evidence(nonevents, events, smoothing),
        "iv": information(nonevents, events, smoothing),
        "ks": np.abs(shares[:, 0] - shares[:, 1]),
    }
    summed = {name: float(columns[name].sum()) for name in ("count", "share", "nonevents", "events", "iv")}
    totals = summed | {"event_rate": float(events.sum() / count.sum()), "ks": float(columns["ks"].max())}
    return BinTable(title, labels, columns, totals)


def class_table(title: str, labels: list[str], sums: Array, smoothing: float, classes: Sequence[Any]) -> BinTable:
    """Table for more than two classes, each against the others.

    Parameters
    ----------
    sums : ndarray of shape (bins, classes)
        Weights of the classes.
    """
    count = sums.sum(axis=1)
    columns = {"count": count, "share": count / count.sum()}
    totals = {"count": float(count.sum()), "share": 1.0}
    rest = count[:, None] - sums
    woe, terms = weight_of_evidence(rest, sums, smoothing), information(rest, sums, smoothing)
    for k, label in enumerate(classes):
        columns |= {f"rate {label}": _ratio(sums[:, k], count), f"woe {label}": woe[:, k], f"iv {label}": terms[:, k]}
        totals |= {f"rate {label}": float(sums[:, k].sum() / count.sum()), f"iv {label}": float(terms[:, k].sum())}
    return BinTable(title, labels, columns, totals)


def mean_table(title: str, labels: list[str], sums: Array, center: float) -> BinTable:
    """Table for a numeric target.

    Parameters
    ----------
    sums : ndarray of shape (bins, 3)
        Σw, Σw·(y − center) and Σw·(y − center)².
    """
    count, mean = sums[:, 0], _ratio(sums[:, 1], sums[:, 0])
    variance = np.maximum(sums[:, 2] - count * mean**2, 0.0) / np.maximum(count - 1, np.finfo(float).tiny)
    sd = np.where(count > 1, np.sqrt(np.where(count > 1, variance, 0.0)), np.nan)
    half = float(ndtri(0.975)) * sd / np.sqrt(np.maximum(count, 1.0))
    columns = {
        "count": count,
        "share": count / count.sum(),
        "mean": np.where(count > 0, mean + center, np.nan),
        "low": mean + center - half,
        "high": mean + center + half,
        "sd": sd,
    }
    totals = {"count": float(count.sum()), "share": 1.0, "mean": float(sums[:, 1].sum() / count.sum() + center)}
    return BinTable(title, labels, columns, totals)


def _ratio(part: Array, whole: Array) -> Array:
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def _texts(name: str, values: Array) -> list[str]:
    return [_text(name, value) for value in values.tolist()]


def _total(name: str, totals: Mapping[str, float]) -> str:
    return _text(name, totals[name]) if name in totals else ""


def _text(name: str, value: float) -> str:
    if np.isnan(value):
        return "–"
    if name in ("count", "events", "nonevents"):
        return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"
    if name == "share":
        return f"{value:.1%}"
    return f"{value:.4f}" if name not in ("mean", "sd", "low", "high") or abs(value) < 10 else f"{value:,.6g}"
