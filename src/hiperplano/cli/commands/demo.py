"""`hiperplano demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def demo(
    out: Annotated[Path, options.folder()] = Path("hiperplano-demo"),
    seed: Annotated[int, options.seed()] = 0,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Create a table of loans, and fit a model to it."""
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.fitting.run import Settings, run
    from hiperplano.cli.workflow.problem import TableOptions
    from hiperplano.cli.workflow.scorecards.making import ScorecardSettings, make_scorecard
    from hiperplano.data.files import replacing
    from hiperplano.datasets.credit_default import load_credit_default

    terminal = Terminal(json, quiet)
    table = options.ensure_folder(out) / "credit.csv"
    with replacing(table) as new:
        load_credit_default().frame.to_csv(new, index=False)
    terminal.print(_("A generated table of loans: {file}. Who defaults?", file=table))
    command = ["fit", str(table), "--target", "default", "--out", str(out), "--seed", str(seed)]
    settings = Settings(seed=seed, out=out, arguments=tuple(command))
    run(terminal, table, "default", TableOptions(), settings)
    terminal.print(_("The same table as a scorecard:"))
    command = ["scorecard", str(table), "--target", "default", "--time", "application_date"]
    folder = out / "scorecard"
    card = ScorecardSettings(
        time="application_date",
        seed=seed,
        out=folder,
        arguments=(*command, "--out", str(folder), "--seed", str(seed)),
    )
    make_scorecard(terminal, table, "default", TableOptions(), card)
    terminal.finish()
    terminal.print(_("Open {file} in a browser. The same with a table of your own:", file=out / "report.html"))
    terminal.print(_("  hiperplano fit YOUR_FILE --target YOUR_COLUMN"))
