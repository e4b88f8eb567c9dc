"""Tables returned by the scorecard: named columns that can be printed or converted to a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from hiperplano.messages import Message
from hiperplano.stats.summary import column_text


@dataclass(frozen=True, repr=False)
class Table:
    """Columns of one length, by name.

    Attributes
    ----------
    title : str
        Heading.
    columns : mapping of str to sequence
        Text or numbers.
    notes : tuple of str
        Caveats for the interpretation of the numbers.
    shares : tuple of str
        Columns that are shown as percentages.

    Examples
    --------
    >>> from hiperplano.scorecard import Table
    >>> print(Table("Rates", {"bin": ["low", "high"], "rate": [0.5, 0.015]}, shares=("rate",)))
    Rates
    ============
    bin     rate
    low   50.00%
    high   1.50%
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    notes: tuple[str, ...] = field(default=())
    shares: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dicts, for JSON.

        Returns
        -------
        list of dict
            Plain Python values.
        """
        plain = {name: np.asarray(values, dtype=object).tolist() for name, values in self.columns.items()}
        return [{name: _plain(values[i]) for name, values in plain.items()} for i in range(len(self))]

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            Its columns are those of the table.
        """
        import pandas as pd

        return pd.DataFrame({name: _frame_column(values) for name, values in self.columns.items()})

    def to_polars(self) -> Any:
        """The table as a polars DataFrame.

        Returns
        -------
        polars.DataFrame
            Its columns are those of the table.
        """
        import polars as pl

        return pl.DataFrame({name: _frame_column(values) for name, values in self.columns.items()})

    def cells(self) -> list[list[str]]:
        """The rows as text.

        Returns
        -------
        list of list of str
            One list for each row.
        """
        columns = [_texts(name, values, name in self.shares) for name, values in self.columns.items()]
        return [list(row) for row in zip(*columns, strict=True)]

    def headings(self) -> list[str]:
        """The names of the columns in words, which can be translated.

        Returns
        -------
        list of str
            One for each column.
        """
        known = _words()
        return [known.get(name, name) for name in self.columns]

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        bool
            True for numbers.
        """
        return _is_numeric(self.columns[name])

    def __str__(self) -> str:
        headings, rows = list(self.columns), self.cells()
        left = [not _is_numeric(values) for values in self.columns.values()]
        widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
        lines = [self.title, "=" * max(len(self.title), sum(widths) + 2 * len(widths) - 2)]
        for row in [headings, *rows]:
            cells = [
                cell.ljust(width) if is_left else cell.rjust(width)
                for cell, width, is_left in zip(row, widths, left, strict=True)
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.cells())
        notes = "".join(f"<p><em>Note: {escape(note)}</em></p>" for note in self.notes)
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}"
        )


def _is_numeric(values: Sequence[Any]) -> bool:
    return np.asarray(values).dtype.kind in "iuf"


def _frame_column(values: Sequence[Any]) -> Any:
    return np.asarray(values) if _is_numeric(values) else [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """A plain Python value; text loses its message template."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, str) else value


def _texts(name: str, values: Sequence[Any], shares: bool) -> list[str]:
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        return [str(value) for value in values]
    if name in ("p", "coefficient"):  # values of any magnitude
        return column_text(name, array)
    finite = array[np.isfinite(array)]
    form = ",.0f" if (finite == np.rint(finite)).all() else ".4f" if np.abs(finite).max() < 100 else ",.2f"
    return [_or_dash(value, ".2%" if shares else form) for value in array.tolist()]


def _or_dash(value: float, form: str) -> str:
    return "–" if np.isnan(value) else format(value, form)


def _words() -> dict[str, Message]:
    """Names of columns as words."""
    return {
        "variable": Message("variable"),
        "bin": Message("bin"),
        "next_bin": Message("next bin"),
        "segment": Message("segment"),
        "count": Message("rows"),
        "rows": Message("rows"),
        "share": Message("share"),
        "event_rate": Message("event rate"),
        "next_event_rate": Message("event rate of the next"),
        "event_rate_now": Message("event rate now"),
        "marginal_event_rate": Message("marginal event rate"),
        "woe": Message("WoE"),
        "coef": Message("coefficient"),
        "coefficient": Message("coefficient"),
        "column": Message("column"),
        "term": Message("term"),
        "points": Message("points"),
        "step": Message("step"),
        "action": Message("action"),
        "test": Message("test"),
        "statistic": Message("statistic"),
        "aic": Message("AIC"),
        "bic": Message("BIC"),
        "variables": Message("variables"),
        "score": Message("score"),
        "approval_rate": Message("approved"),
        "events_avoided": Message("events avoided"),
        "profit": Message("profit"),
        "development": Message("at development"),
        "now": Message("now"),
        "psi": Message("PSI"),
        "by_chance_up_to": Message("by chance up to"),
        "judgement": Message("judgement"),
        "measure": Message("measure"),
        "expected": Message("expected"),
        "observed": Message("observed"),
        "low 95%": Message("low 95%"),
        "high 95%": Message("high 95%"),
        "value": Message("value"),
        "lost_to_best": Message("lost against the best bin"),
        "lost_to_average": Message("lost against the average"),
    }
