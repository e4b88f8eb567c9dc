"""`hiperplano report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def report(
    model: Annotated[Path, options.model_file()],
    file: Annotated[Path, options.table()],
    out: Annotated[Path, Option("--out", "-o", metavar="FILE", help=_("The page to write."))] = Path("report.html"),
    target: Annotated[str | None, options.saved_target()] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    sheet: Annotated[str | None, options.sheet()] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Write the report of a saved model on a table with the target column."""
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.scoring import score_table
    from hiperplano.messages.catalogue import current_language
    from hiperplano.report.page import write_subject
    from hiperplano.report.subject import prepare_subject

    terminal = Terminal(json, quiet)
    with terminal.progress_bar(_("writing the report")), terminal.capture_warnings():
        scored = score_table(
            model, file, separator=separator, decimal=decimal, sheet=sheet, target=target, needs_target=True
        )
        terminal.add_note(*scored.notes)
        assert scored.y is not None
        options.ensure_folder(out.parent)
        first = scored.pipeline[0]
        used = (
            first.without_codes(scored.frame)
            if hasattr(first, "without_codes")
            else scored.frame[first.feature_names_in_.tolist()]
        )
        metadata, coded = scored.metadata, (scored.rows, None)
        subject = prepare_subject(
            scored.pipeline,
            used,
            scored.y,
            None,
            metadata.target,
            metadata.positive,
            metadata.cost_matrix,
            coded,
            weights=(scored.weight, None),
            weighted_by=None if scored.weight is None else metadata.weight,
        )
        page = write_subject(out, subject, metadata.provenance(), current_language())
    terminal.results = {"rows": len(scored.y), "file": str(page)}
    terminal.print(_("Written: {files}", files=page))
    terminal.finish()
