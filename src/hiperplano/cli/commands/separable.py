"""`hiperplano separable`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def separable(
    file: Annotated[Path, options.table()],
    target: Annotated[str, options.target()],
    positive: Annotated[
        str | None,
        Option(metavar="LABEL", help=_("Compare this class with all others where there are more.")),
    ] = None,
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
    choices = TableOptions(
        kind=kind,
        drop=drop,
        only=only,
        order=order,
        missing=missing,
        separator=separator,
        decimal=decimal,
        sheet=sheet,
        task="classification",
    )
    with terminal.progress_bar(_("looking for a plane")), terminal.capture_warnings():
        problem = read_problem(file, target, choices, leaks=False)
        terminal.add_note(*problem.notes)
        coding = Coding(tuple(problem.columns))
        rows = coding.fit_transform(problem.frame)
        labels = _two_classes(problem.target, positive)
        found = separability(rows, labels, fit_intercept=not origin)
        proved = found.verify(rows, labels)
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
        _("The proof was checked against all {n:,} rows and holds.", n=len(rows))
        if proved
        else _("The proof could not be confirmed: the rows lie too close to the plane.")
    )
    terminal.finish()


def _two_classes(target: Any, positive: str | None) -> Any:
    """The labels, or whether they equal the requested one."""
    from hiperplano.errors import InvalidParameter

    known = [str(label) for label in target.classes]
    if positive is None and len(known) == 2:
        return target.values
    if positive not in known:
        raise InvalidParameter(
            _(
                "{name!r} has the classes {classes}; a plane separates two. Compare one with all others, as --positive "
                "{first}.",
                name=target.name,
                classes=", ".join(known[:8]),
                first=known[0],
            )
        )
    return target.values.astype(str) == positive


def _weights(found: object) -> list[float]:
    coef, columns = getattr(found, "coef", ()), getattr(found, "columns", ())
    return [float(coef[j]) for j in columns]
