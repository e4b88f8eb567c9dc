"""`hiperplano export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")

_FORMS = ("sql", "onnx", "pmml", "json", "xlsx")
_DIALECTS = ("postgres", "duckdb", "sqlite", "bigquery", "snowflake", "tsql")


def export(
    model: Annotated[Path, options.model_file()],
    to: Annotated[
        str,
        Option(
            "--to",
            metavar="FORM",
            help=_("sql, onnx or pmml; of a scorecard also json, or xlsx with its points."),
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, Option("--out", "-o", metavar="FILE", help=_("Where to write; by default beside the model."))
    ] = None,
    table: Annotated[
        str, Option("--table", metavar="NAME", help=_("For sql: the table, as it is written in a query."))
    ] = "applicants",
    dialect: Annotated[
        str, Option(help=_("For sql: postgres, duckdb, sqlite, bigquery, snowflake or tsql."))
    ] = "postgres",
    keep: Annotated[
        list[str] | None,
        Option("--keep", metavar="COLUMN", help=_("For sql: a column of the table to pass on. May be repeated.")),
    ] = None,
    verify: Annotated[
        Path | None,
        Option(
            "--verify",
            metavar="FILE",
            help=_("For sql: a table whose rows are compared with the model in DuckDB and SQLite."),
        ),
    ] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Write a saved model for other systems."""
    options.one_of("--to", to, _FORMS)
    options.one_of("--dialect", dialect, _DIALECTS)
    from hiperplano.cli.terminal import Terminal
    from hiperplano.models.saving import load

    terminal = Terminal(json, quiet)
    path = model.with_suffix(f".{to}") if out is None else out
    with terminal.progress_bar(_("writing")), terminal.capture_warnings():
        fitted = load(model)
        options.ensure_folder(path.parent)
        _write(fitted, to, path, table, dialect, keep or [])
        terminal.results = {"file": str(path), "form": to}
        terminal.print(_("Written: {files}", files=path))
        if verify is not None and to == "sql":
            terminal.results["verified"] = _verify(terminal, fitted, verify)
    terminal.finish()


def _write(fitted: Any, to: str, path: Path, table: str, dialect: str, keep: list[str]) -> None:
    from hiperplano import to_excel, to_json, to_onnx, to_pmml, to_sql

    if to == "sql":
        to_sql(fitted, table, dialect=dialect, keep=keep, path=path)
    elif to == "onnx":
        to_onnx(fitted, path=path)
    elif to == "pmml":
        to_pmml(fitted, path=path)
    elif to == "json":
        to_json(_scorecard(fitted), path=path)
    else:
        to_excel(_scorecard(fitted), path)


def _scorecard(fitted: Any) -> Any:
    """A scorecard without the steps that select its columns; any other model unchanged, to be rejected by name."""
    return fitted[-1] if hasattr(fitted, "steps") else fitted


def _verify(terminal: Any, fitted: Any, file: Path) -> dict[str, Any]:
    """Compare every row of a table, and fail if one differs."""
    from hiperplano import verify_sql
    from hiperplano.errors import InvalidData
    from hiperplano.messages import translate
    from hiperplano.tables.reading import read_table, to_frame

    table, source = read_table(file)
    terminal.add_note(*source.reading_notes)
    check = verify_sql(fitted, to_frame(table))
    if not check:
        raise InvalidData(check.status)
    terminal.print(translate(check.status))
    return {
        "rows": check.n_rows,
        "refused": check.n_refused,
        "largest_difference": check.largest_difference,
        "agrees": check.agrees,
    }
