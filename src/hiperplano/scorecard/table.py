"""Tables that the scorecard returns: named columns that print, and become a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

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

    Examples
    --------
    >>> from hiperplano.scorecard import Table
    >>> print(Table("Odds", {"bin": ["low", "high"], "odds": [50.0, 1.5]}))
    Odds
    ==========
    bin   odds
    low     50
    high   1.5
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    notes: tuple[str, ...] = field(default=())

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
        columns = [_texts(name, values) for name, values in self.columns.items()]
        return [list(row) for row in zip(*columns, strict=True)]

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
    """A value of Python's own: text loses the template that it remembers."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, str) else value


def _texts(name: str, values: Sequence[Any]) -> list[str]:
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return [str(value) for value in array.tolist()]
    return column_text(name, array) if array.dtype.kind == "f" else [str(value) for value in values]
