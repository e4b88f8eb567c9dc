"""`hiperplano fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import BadParameter, Context, Option

from hiperplano.cli import config as configuration
from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def fit(
    context: Context,
    file: Annotated[Path, options.tables()],
    target: Annotated[str | None, options.target()] = None,
    model: Annotated[
        str, Option("--model", "-m", help=_("auto, or a name such as logistic, svm, lda; compare lists them all."))
    ] = "auto",
    validation: Annotated[
        str,
        Option(metavar="SHARE|FILE", help=_("Share of the rows held out for validation, 0 for none, or another file.")),
    ] = "0.3",
    split_by: Annotated[
        str | None,
        Option(metavar="COLUMN", help=_("Validate on the latest rows of a time column, or on groups of another.")),
    ] = None,
    positive: Annotated[str | None, options.positive()] = None,
    cost: Annotated[Path | None, options.cost()] = None,
    cutoff: Annotated[
        float | None, Option(metavar="P", help=_("Decide the positive class above this probability."))
    ] = None,
    class_weight: Annotated[
        str | None, Option(metavar="WEIGHTS", help=_("Weights of the classes: balanced, or as no=1,yes=5."))
    ] = None,
    weight: Annotated[str | None, Option(metavar="COLUMN", help=_("Column of weights of the rows."))] = None,
    c: Annotated[
        float | None, Option("--C", metavar="C", help=_("Inverse strength of the penalty of a classifier or SVM."))
    ] = None,
    alpha: Annotated[
        float | None, Option("--alpha", metavar="ALPHA", help=_("Strength of the penalty of ridge regression."))
    ] = None,
    select: Annotated[
        str | None, Option(metavar="aic|bic", help=_("Leave columns out one by one while AIC or BIC improves."))
    ] = None,
    out: Annotated[Path, options.folder()] = Path("hiperplano-out"),
    report: Annotated[bool, Option(help=_("Also write report.html."))] = True,
    everything: Annotated[bool, Option("--all", help=_("Print all columns and all coefficients."))] = False,
    kind: Annotated[list[str] | None, options.kind()] = None,
    drop: Annotated[list[str] | None, options.drop()] = None,
    only: Annotated[list[str] | None, options.only()] = None,
    term: Annotated[list[str] | None, options.term()] = None,
    order: Annotated[list[str] | None, options.order()] = None,
    missing: Annotated[list[str] | None, options.missing()] = None,
    fill: Annotated[str, options.fill()] = "median",
    task: Annotated[str | None, options.task()] = None,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    sheet: Annotated[str | None, options.sheet()] = None,
    seed: Annotated[int, options.seed()] = 0,
    stream: Annotated[bool, options.stream()] = False,
    config: Annotated[Path | None, configuration.config()] = None,
    save_config: Annotated[Path | None, configuration.save_config()] = None,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Fit a model to a table."""
    options.one_of("--fill", fill, ("median", "model"))
    if select is not None:
        options.one_of("--select", select, ("aic", "bic"))
    held_out = _validation(validation, split_by)
    if cutoff is not None:
        options.share("--cutoff", cutoff)
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.fitting.run import Settings, run
    from hiperplano.cli.workflow.problem import TableOptions
    from hiperplano.cli.workflow.streaming.choosing import reason_to_stream

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
    if target is None:
        from hiperplano.cli.commands.look import show_columns

        show_columns(terminal, file, None, choices)
        raise BadParameter(_("name the target column, one of those above"), param_hint="--target")
    settings = Settings(
        model=model,
        validation=held_out,
        cost=cost,
        fill=fill,
        seed=seed,
        out=out,
        report=report,
        arguments=tuple(options.given_arguments()),
        strength={name: value for name, value in (("C", c), ("alpha", alpha)) if value is not None},
        class_weight=class_weight,
        cutoff=cutoff,
        weight=weight,
        split_by=split_by,
        terms=tuple(term or ()),
        select=select,
        everything=everything,
    )
    reason = reason_to_stream(file, stream)
    if reason is None:
        run(terminal, file, target, choices, settings)
    else:
        from hiperplano.cli.workflow.streaming.fitting import run_stream

        run_stream(terminal, file, target, choices, settings, reason)
    terminal.finish()
    if save_config is not None:
        configuration.write_config(save_config, dict(context.params))


def _validation(given: str, split_by: str | None) -> float | Path:
    """The validation rows: a share, or another file."""
    try:
        share = float(given)
    except ValueError:
        if split_by is not None:
            raise BadParameter(_("--split-by and another file exclude each other"), param_hint="--validation") from None
        return Path(given)
    return share if share == 0.0 else options.share("--validation", share)
