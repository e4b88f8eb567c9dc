"""Tables of a scorecard at the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table as RichTable

from hiperplano.cli.result_tables import make_table
from hiperplano.messages import translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.number_format import written
from hiperplano.scorecard.table import Table

_ = translator("terminal")

_MOST_ROWS = 200


def terminal_table(table: Table, leave_out: Sequence[str] = ()) -> RichTable:
    """A table of the scorecard for a terminal, in the current language.

    The name of a variable is shown once.

    Parameters
    ----------
    leave_out : sequence of str
        Columns to omit at a terminal.
    """
    shown = make_table(escape(translate(table.title)))
    texts = dict(zip(table.columns, zip(*table.cells(), strict=True), strict=True)) if len(table) else {}
    columns = []
    for name, heading in zip(table.columns, table.headings(), strict=True):
        if name in leave_out:
            continue
        numeric = table.is_numeric(name)
        shown.add_column(escape(translate(heading)), justify="right" if numeric else "left", overflow="fold")
        cells = (
            [written(text) for text in texts.get(name, ())] if numeric else [translate(value) for value in table[name]]
        )
        columns.append(_once(cells) if name == "variable" and "bin" in table.columns else cells)
    for row in list(zip(*columns, strict=True))[:_MOST_ROWS]:
        shown.add_row(*(escape(str(cell)) for cell in row))
    if len(table) > _MOST_ROWS:
        shown.add_row(_("… and {n} more", n=len(table) - _MOST_ROWS), *[""] * (len(columns) - 1))
    return shown


def _once(names: list[str]) -> list[str]:
    """Omit names that repeat the one in the row above."""
    return [name if i == 0 or names[i - 1] != name else "" for i, name in enumerate(names)]
