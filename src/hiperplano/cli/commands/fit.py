"""`hiperplano fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def fit(
    file: Annotated[Path, options.table()],
    target: Annotated[str, options.target()],
    model: Annotated[
        str, Option("--model", "-m", help=_("auto, or a name such as logistic, svm, lda; compare lists them all."))
    ] = "auto",
    validation: Annotated[float, Option(help=_("Share of the rows held out for validation."))] = 0.3,
    positive: Annotated[str | None, options.positive()] = None,
    cost: Annotated[Path | None, options.cost()] = None,
    out: Annotated[Path, options.folder()] = Path("hiperplano-out"),
    report: Annotated[bool, Option(help=_("Also write report.html."))] = True,
    kind: Annotated[list[str] | None, options.kind()] = None,
    drop: Annotated[list[str] | None, options.drop()] = None,
    order: Annotated[list[str] | None, options.order()] = None,
    missing: Annotated[list[str] | None, options.missing()] = None,
    fill: Annotated[str, options.fill()] = "median",
    task: Annotated[str | None, options.task()] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    seed: Annotated[int, options.seed()] = 0,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Fit a model to a table."""
    options.share("--validation", validation)
    options.one_of("--fill", fill, ("median", "model"))
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.problem import TableOptions
    from hiperplano.cli.workflow.run import Settings, run

    choices = TableOptions(kind, drop, order, missing, separator, decimal, task, positive)
    settings = Settings(model, validation, cost, fill, seed, out, report, tuple(options.given_arguments()))
    terminal = Terminal(json, quiet)
    run(terminal, file, target, choices, settings)
    terminal.finish()
