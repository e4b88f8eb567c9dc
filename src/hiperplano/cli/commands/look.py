"""`hiperplano look`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def look(
    file: Annotated[Path, options.table()],
    target: Annotated[str | None, options.target()] = None,
    kind: Annotated[list[str] | None, options.kind()] = None,
    drop: Annotated[list[str] | None, options.drop()] = None,
    only: Annotated[list[str] | None, options.only()] = None,
    order: Annotated[list[str] | None, options.order()] = None,
    missing: Annotated[list[str] | None, options.missing()] = None,
    task: Annotated[str | None, options.task()] = None,
    positive: Annotated[str | None, options.positive()] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    sheet: Annotated[str | None, options.sheet()] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Columns of a table with their kinds, missing values and distributions."""
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.problem import TableOptions

    choices = TableOptions(
        kind=kind,
        drop=drop,
        only=only,
        order=order,
        missing=missing,
        separator=separator,
        decimal=decimal,
        sheet=sheet,
        task=task,
        positive=positive,
    )
    terminal = Terminal(json, quiet)
    show_columns(terminal, file, target, choices)
    terminal.finish()


def show_columns(terminal: Any, file: Path, target: str | None, choices: Any) -> None:
    """Print the facts about the columns of a file.

    Parameters
    ----------
    target : str or None
        If given, the table also shows how much each column says about the target.
    """
    from hiperplano.cli.overview import column_facts, overview_table
    from hiperplano.cli.workflow.problem import read_problem
    from hiperplano.report.number_format import count
    from hiperplano.tables.reading import to_frame

    with terminal.progress_bar(_("reading")), terminal.capture_warnings():
        if target is None:
            table, source = choices.read(file)
            table, columns = choices.kinds(table, None, leaks=False)
            frame, goal, notes = to_frame(table), None, source.reading_notes
        else:
            problem = read_problem(file, target, choices)
            columns, goal, notes = problem.columns, problem.target, problem.notes
            frame = problem.frame
        facts = column_facts(columns, frame, goal)
    terminal.results = {"file": str(file), "rows": len(frame), "columns": facts}
    terminal.say(_("{file}: {n} rows, {d} columns", file=file.name, n=count(len(frame)).text, d=len(columns)))
    terminal.print(overview_table(facts, goal))
    terminal.add_note(*notes)
    terminal.print_notes()
