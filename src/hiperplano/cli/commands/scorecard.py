"""`hiperplano scorecard`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def scorecard(
    file: Annotated[Path, options.table()],
    target: Annotated[str, options.target()],
    positive: Annotated[str | None, options.positive()] = None,
    special: Annotated[
        list[str] | None,
        Option(
            "--special",
            metavar="COLUMN=CODE,…",
            help=_("Codes that share a bin of their own, such as -1,999. Repeated, each has its bin."),
        ),
    ] = None,
    time: Annotated[
        str | None,
        Option("--time", metavar="COLUMN", help=_("A date: bins are compared by period. It is no variable.")),
    ] = None,
    cuts: Annotated[
        Path | None,
        Option(
            "--cuts",
            metavar="FILE",
            help=_("Bins made by hand: a JSON file with cut-offs, or groups of categories, by column."),
        ),
    ] = None,
    select: Annotated[
        str, Option("--select", help=_("Choice of variables: stepwise, forward, backward, or all."))
    ] = "stepwise",
    by: Annotated[str, Option("--by", help=_("What decides a step: aic, bic or p_value."))] = "bic",
    pdo: Annotated[float, Option(help=_("Points that double the odds."))] = 20.0,
    base_score: Annotated[float, Option(help=_("The score at the base odds."))] = 600.0,
    base_odds: Annotated[float, Option(help=_("Non-events for one event at the base score."))] = 50.0,
    gain: Annotated[
        float | None, Option(help=_("What an approved non-event brings, for the cut-off by profit."))
    ] = None,
    loss: Annotated[float | None, Option(help=_("What an approved event costs."))] = None,
    validation: Annotated[float, Option(help=_("Share of the rows held out for validation."))] = 0.3,
    out: Annotated[Path, options.folder()] = Path("hiperplano-scorecard"),
    report: Annotated[bool, Option(help=_("Also write report.html."))] = True,
    kind: Annotated[list[str] | None, options.kind()] = None,
    drop: Annotated[list[str] | None, options.drop()] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    seed: Annotated[int, options.seed()] = 0,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Bin the columns of a table, and make a scorecard."""
    options.share("--validation", validation)
    options.one_of("--select", select, ("stepwise", "forward", "backward", "all"))
    options.one_of("--by", by, ("aic", "bic", "p_value"))
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.problem import TableOptions
    from hiperplano.cli.workflow.scorecards.making import ScorecardSettings, make_scorecard

    choices = TableOptions(
        kind=kind, drop=drop, separator=separator, decimal=decimal, task="classification", positive=positive
    )
    settings = ScorecardSettings(
        special=tuple(special or ()),
        time=time,
        cuts=cuts,
        selection=None if select == "all" else select,
        criterion=by,
        scale=(pdo, base_score, base_odds),
        money=(gain, loss),
        validation=validation,
        seed=seed,
        out=out,
        report=report,
        arguments=tuple(options.given_arguments()),
    )
    terminal = Terminal(json, quiet)
    make_scorecard(terminal, file, target, choices, settings)
    terminal.finish()
