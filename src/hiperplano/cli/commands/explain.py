"""`hiperplano explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def explain(
    model: Annotated[Path, options.model_file()],
    file: Annotated[Path, options.table()],
    row: Annotated[int, Option("--row", "-r", metavar="N", help=_("Which row, the first is 1."), show_default=False)],
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Show what the score of one row consists of."""
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.scorecards.explaining import explain_table_row
    from hiperplano.cli.workflow.scorecards.tables import terminal_table

    terminal = Terminal(json, quiet)
    with terminal.capture_warnings():
        found, notes = explain_table_row(model, file, row, separator, decimal)
    terminal.add_note(*notes, *found.notes)
    terminal.print(terminal_table(found))
    terminal.results = {"row": row, "title": str(found.title), "parts": found.rows()}
    terminal.finish()
