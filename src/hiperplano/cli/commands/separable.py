"""`hiperplano separable`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def separable(
    file: Annotated[Path, options.table()],
    target: Annotated[str, options.target()],
    origin: Annotated[bool, Option("--origin", help=_("Only planes through the origin."))] = False,
    kind: Annotated[list[str] | None, options.kind()] = None,
    drop: Annotated[list[str] | None, options.drop()] = None,
    only: Annotated[list[str] | None, options.only()] = None,
    order: Annotated[list[str] | None, options.order()] = None,
    missing: Annotated[list[str] | None, options.missing()] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    sheet: Annotated[str | None, options.sheet()] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Whether a plane separates two classes, with a proof."""
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.problem import TableOptions, read_problem
    from hiperplano.features.coding import Coding
    from hiperplano.messages import translate
    from hiperplano.stats.separability import separability

    terminal = Terminal(json, quiet)
    choices = TableOptions(kind, drop, only, order, missing, separator, decimal, sheet, "classification")
    with terminal.progress_bar(_("looking for a plane")), terminal.capture_warnings():
        problem = read_problem(file, target, choices, leaks=False)
        terminal.add_note(*problem.notes)
        coding = Coding(tuple(problem.columns))
        rows = coding.fit_transform(problem.frame)
        found = separability(rows, problem.target.values, fit_intercept=not origin)
        proved = found.verify(rows, problem.target.values)
    terminal.results = {
        "verdict": type(found).__name__,
        "separable": type(found).__name__ == "Separable",
        "rows": len(rows),
        "columns": rows.shape[1],
        "margin": getattr(found, "margin", None),
        "plane": dict(zip(getattr(found, "names", ()), _weights(found), strict=False)),
        "proof_holds": proved,
    }
    terminal.out.print(translate(str(found)), markup=False) if terminal.prints_text else None
    terminal.print(
        _("The proof was checked against all {n} rows and holds.", n=f"{len(rows):,}")
        if proved
        else _("The proof could not be confirmed: the rows lie too close to the plane.")
    )
    terminal.finish()


def _weights(found: object) -> list[float]:
    coef, columns = getattr(found, "coef", ()), getattr(found, "columns", ())
    return [float(coef[j]) for j in columns]
