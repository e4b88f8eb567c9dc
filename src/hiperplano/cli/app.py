"""The command with its subcommands, built in the current language."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from typer import Exit, Option, Typer

from hiperplano import __version__
from hiperplano.cli import options
from hiperplano.cli.commands import (
    compare,
    demo,
    evaluate,
    explain,
    export,
    fit,
    look,
    monitor,
    predict,
    report,
    scorecard,
    separable,
)
from hiperplano.cli.usage import Command, Group, explain_misuse, has_shown_help, is_misuse
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def build() -> Typer:
    """Build the command, with help in the current language."""
    app = Typer(
        name="hiperplano",
        cls=Group,
        help=_("Linear models at the terminal: fit, compare, score, and a readable report."),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    helps: list[tuple[str, Callable[..., Any], str]] = [
        ("demo", demo.demo, _("The whole workflow on a generated credit table: read, split, fit, evaluate, report.")),
        ("look", look.look, _("The columns of a table: kinds, missing values, distributions, and what they tell.")),
        ("fit", fit.fit, _("Fit a model to a table; writes model.skops and report.html.")),
        ("compare", compare.compare, _("Every model that suits the target, on the same folds, in one table.")),
        ("scorecard", scorecard.scorecard, _("Bin the columns of a table, and make a scorecard of points.")),
        ("monitor", monitor.monitor, _("Compare new applicants with those a scorecard was fitted to.")),
        ("explain", explain.explain, _("Show what the score of one row consists of.")),
        ("export", export.export, _("Write a saved model for other systems: SQL, ONNX, PMML, JSON or Excel.")),
        ("predict", predict.predict, _("Score the rows of a table with a saved model.")),
        ("evaluate", evaluate.evaluate, _("Evaluate a saved model on a table with the target column.")),
        ("report", report.report, _("Write the report of a saved model on a table with the target column.")),
        (
            "separable",
            separable.separable,
            _("Test whether a plane separates the two classes, with a proof either way."),
        ),
    ]
    for name, command, help_text in helps:
        app.command(name, cls=Command, help=help_text)(command)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run the command. Usage errors are explained here; other errors are left to the caller.

    Parameters
    ----------
    arguments : sequence of str
        Arguments after the name of the command.

    Returns
    -------
    int
        Exit code.
    """
    options.set_arguments(list(arguments))
    try:
        code = build()(list(arguments), prog_name="hiperplano", standalone_mode=False)
    except Exception as problem:
        if not is_misuse(problem):
            raise
        if not has_shown_help(problem):
            print(explain_misuse(problem), file=sys.stderr)
        return 2
    return code if isinstance(code, int) else 0


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"hiperplano {__version__}")
        raise Exit


def _common(
    version: Annotated[
        bool, Option("--version", help=_("Print the version."), callback=_show_version, is_eager=True)
    ] = False,
    lang: Annotated[str | None, options.language()] = None,
) -> None:
    pass
