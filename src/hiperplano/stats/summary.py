"""The summary table of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message

_MOST_NAMED = 6


@dataclass(frozen=True, repr=False)
class Summary:
    """Coefficients with their uncertainty, and goodness of fit.

    Attributes
    ----------
    title : str
        Heading of the table: model, rows, kind of standard errors.
    names : list of str
        The intercept, if any, comes first and is named `intercept`.
    coef, se, statistic, p, low, high : ndarray of shape (k,) or (blocks, k)
        Coefficients, standard errors, coefficient over standard error, two-sided p-values, and the ends of the
        confidence interval. Values that are not valid for a fit are NaN, with an explanation in `notes`.
    stats : mapping
        Numbers about the whole fit, by name.
    level : float
        Level of the confidence intervals.
    statistic_name : str
        "t" or "z".
    covariance : ndarray of shape (k, k) or (blocks, k, k)
        Covariance of the coefficients.
    blocks : list of str
        Names of targets or classes if there is more than one; empty otherwise.
    notes : tuple of str
        Caveats for the interpretation of the numbers.

    Examples
    --------
    >>> from hiperplano import LinearRegression
    >>> found = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 4.0, 6.0]).summary()
    >>> print(found)
    LinearRegression: 4 rows, classical standard errors
    =============================================================
               coef       se       t       p    low 95%  high 95%
    intercept   1.1  0.26458   4.158  0.0533  -0.038375    2.2384
    x0          1.6  0.14142  11.314  0.0077    0.99151    2.2085
    -------------------------------------------------------------
    r2 = 0.984615  adj_r2 = 0.976923  f = 128  f_p = 0.00772212
    sigma = 0.316228  loglik = 0.31571  aic = 5.36858
    bic = 3.52746  n = 4  df = 2
    >>> print(found.names[1], found.coef[1].round(2), found.p[1].round(4))
    x0 1.6 0.0077
    """

    title: str
    names: list[str]
    coef: Array
    se: Array
    statistic: Array
    p: Array
    low: Array
    high: Array
    stats: Mapping[str, Any]
    level: float
    statistic_name: str
    covariance: Array
    blocks: list[str] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, Array]:
        """The numeric columns of the table, by heading.

        Returns
        -------
        dict of str to ndarray
            One array for each column of the table.
        """
        percent = f"{100 * self.level:g}%"
        return {
            "coef": self.coef,
            "se": self.se,
            self.statistic_name: self.statistic,
            "p": self.p,
            f"low {percent}": self.low,
            f"high {percent}": self.high,
        }

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame, one row for each coefficient.

        Returns
        -------
        pandas.DataFrame
            Columns as in `columns`.
        """
        import pandas as pd

        table = self._flat()
        index = [table.pop(key) for key in ("block", "name") if key in table]
        return pd.DataFrame(table, index=pd.MultiIndex.from_arrays(index) if len(index) > 1 else pd.Index(index[0]))

    def to_polars(self) -> Any:
        """The table as a polars DataFrame, with a column `name`.

        Returns
        -------
        polars.DataFrame
            Columns as in `columns`.
        """
        import polars as pl

        return pl.DataFrame(self._flat())

    def _flat(self) -> dict[str, Any]:
        table: dict[str, Any] = {}
        if self.blocks:
            table["block"] = list(np.repeat(self.blocks, len(self.names)))
        table["name"] = self.names * max(1, len(self.blocks))
        keys = {f"low {100 * self.level:g}%": "low", f"high {100 * self.level:g}%": "high"}
        return table | {keys.get(key, key): np.ravel(values) for key, values in self.columns().items()}

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows as text."""
        columns = {key: column_text(key, values) for key, values in self.columns().items()}
        rows = []
        for i in range(max(1, len(self.blocks))):
            if self.blocks:
                rows.append([f"[{self.blocks[i]}]"] + [""] * len(columns))
            first = i * len(self.names)
            for j, name in enumerate(self.names):
                rows.append([name] + [texts[first + j] for texts in columns.values()])
        return ["", *columns], rows

    def _facts(self) -> list[tuple[str, str]]:
        return [(key, fact(value)) for key, value in self.stats.items()]

    def __str__(self) -> str:
        headings, rows = self._cells()
        widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
        lines = [self.title, "=" * max(len(self.title), sum(widths) + 2 * len(widths) - 2)]
        for row in [headings, *rows]:
            cells = [row[0].ljust(widths[0])] + [
                cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
            ]
            lines.append("  ".join(cells).rstrip())
        lines += ["-" * len(lines[1]), *_paragraph([f"{key} = {value}" for key, value in self._facts()], len(lines[1]))]
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headings, rows = self._cells()
        head = "".join(f"<th>{escape(cell)}</th>" for cell in headings)
        body = "".join(
            f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
            for row in rows
        )
        facts = ", ".join(f"{escape(key)} = {escape(value)}" for key, value in self._facts())
        notes = "".join(f"<p><em>Note: {escape(note)}</em></p>" for note in self.notes)
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table><p>{facts}</p>{notes}"
        )


def column_text(heading: str, values: Array) -> list[str]:
    """The numbers of a column as text in one style, with powers of ten only if some number needs them."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    powers = bool(sizes.max(initial=1.0) >= 1e7 or sizes.min(initial=1.0) < 1e-4)
    return [_text(heading, value, powers) for value in np.ravel(values).tolist()]


def _text(heading: str, value: float, powers: bool) -> str:
    if np.isnan(value):
        return "–"
    if heading == "p":
        return "<0.0001" if value < 1e-4 else f"{value:.4f}"
    if heading in ("t", "z") and abs(value) < 1e4:
        return f"{value:.3f}"
    if powers:
        return f"{value:.4e}" if value else "0"
    return f"{value:.0f}" if 1e4 <= abs(value) < np.inf else f"{value:.5g}"


def fact(value: Any) -> str:
    """A number, or several, as text: integers with all their digits, a missing one as a dash."""
    return ", ".join(_number(one) for one in np.atleast_1d(value).tolist())


def _number(value: Any) -> str:
    if isinstance(value, str):
        return value
    if np.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def _paragraph(parts: list[str], width: int) -> list[str]:
    """Join with two spaces, in lines of at most `width`."""
    lines = [""]
    for part in parts:
        joined = f"{lines[-1]}  {part}" if lines[-1] else part
        if len(joined) > max(width, 60) and lines[-1]:
            lines.append(part)
        else:
            lines[-1] = joined
    return lines


def coefficient_names(model: Any, fit_intercept: bool) -> list[str]:
    """Names of the columns, the intercept first; `x0`, `x1`, … if the rows came without names."""
    names = getattr(model, "feature_names_in_", None)
    columns = [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]
    return (["intercept"] if fit_intercept else []) + columns


def undetermined_note(names: list[str]) -> list[Message]:
    """A note on coefficients that the rows do not determine; empty if there are none."""
    if not names:
        return []
    shown = ", ".join(map(repr, names[:_MOST_NAMED])) + (" …" if len(names) > _MOST_NAMED else "")
    return [
        Message(
            "the rows do not determine the coefficients of {names}, since some columns are linear combinations of "
            "others or do not vary. The minimum-norm coefficients were taken; these have no standard errors, all "
            "others do. To get a standard error for every column, drop one column of each linear relation.",
            names=shown,
        )
    ]


def target_names(model: Any, n_targets: int) -> list[str]:
    """Names of the targets' columns; `target 0`, `target 1`, … by default."""
    names = getattr(model, "_target_names_", None)
    return [f"target {k}" for k in range(n_targets)] if names is None else list(names)


def library_and_name(model: Any) -> str:
    """Name of a model in messages, with its library, since other libraries have models of the same names."""
    return f"{type(model).__module__.partition('.')[0]}'s {type(model).__name__}"
