"""`hiperplano monitor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def monitor(
    model: Annotated[Path, options.model_file()],
    file: Annotated[Path, options.table()],
    target: Annotated[str | None, options.saved_target()] = None,
    out: Annotated[
        Path | None, Option("--out", "-o", metavar="FILE", help=_("Also write an HTML page."), show_default=False)
    ] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Compare new applicants with those a scorecard was fitted to."""
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.scorecards.monitoring import monitor_table
    from hiperplano.cli.workflow.scorecards.tables import terminal_table

    terminal = Terminal(json, quiet)
    with terminal.progress_bar(_("comparing")), terminal.capture_warnings():
        found, notes = monitor_table(model, file, target, separator, decimal, out)
        terminal.add_note(*notes)
    tables = {
        "score": found.score,
        "variables": found.variables,
        "performance": found.performance,
        "calibration": found.calibration,
        "bins": found.bins,
    }
    for name, table in tables.items():
        if table is not None and name != "bins":
            terminal.print(terminal_table(table))
    terminal.add_note(*found.verdicts)
    terminal.results = {"psi": found.psi, "verdicts": list(found.verdicts)}
    terminal.results |= {name: table.rows() for name, table in tables.items() if table is not None}
    terminal.finish()
    if out is not None:
        terminal.print(_("Written: {files}", files=out))
