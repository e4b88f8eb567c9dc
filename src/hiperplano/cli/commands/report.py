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
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Write the page about a saved model and a table that holds the target."""
    from hiperplano.cli.scoring import score_table
    from hiperplano.cli.terminal import Terminal
    from hiperplano.messages.catalogue import current_language
    from hiperplano.report.page import write_subject
    from hiperplano.report.subject import prepare_subject

    terminal = Terminal(json, quiet)
    with terminal.working(_("writing the report")), terminal.capture_warnings():
        scored = score_table(model, file, separator=separator, decimal=decimal, target=target, judged=True)
        terminal.note(*scored.notes)
        assert scored.y is not None
        options.made(out.parent)
        used = scored.frame[scored.pipeline[0].feature_names_in_.tolist()]
        study, coded = scored.study, (scored.rows, None)
        subject = prepare_subject(
            scored.pipeline, used, scored.y, None, study.target, study.positive, study.cost_matrix, coded
        )
        page = write_subject(out, subject, study.provenance(), current_language())
    terminal.facts = {"rows": len(scored.y), "file": str(page)}
    terminal.say(_("Written: {files}", files=page))
    terminal.finish()
