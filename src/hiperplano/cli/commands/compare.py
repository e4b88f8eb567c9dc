"""`hiperplano compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import BadParameter, Option

from hiperplano.cli import options
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def compare(
    file: Annotated[Path, options.table()],
    target: Annotated[str, options.target()],
    folds: Annotated[int, Option(help=_("Number of cross-validation folds."))] = 5,
    model: Annotated[list[str] | None, Option("--model", "-m", help=_("Only this model. May be repeated."))] = None,
    positive: Annotated[str | None, options.positive()] = None,
    cost: Annotated[Path | None, options.cost()] = None,
    probabilities: Annotated[
        bool, Option("--probabilities", help=_("Recommend only models that give probabilities."))
    ] = False,
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
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Fit every model that suits the target on the same folds."""
    if folds < 2:
        raise BadParameter(_("{value} folds; two or more are needed", value=folds), param_hint="--folds")
    options.one_of("--fill", fill, ("median", "model"))
    from hiperplano.cli.result_tables import unused_columns_note
    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.comparison import compare_models, comparison_json, comparison_table
    from hiperplano.cli.workflow.costs import read_costs
    from hiperplano.cli.workflow.model_registry import find_model, suitable_models
    from hiperplano.cli.workflow.problem import TableOptions, read_problem

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
        task=task,
        positive=positive,
    )
    problem = read_problem(file, target, choices)
    terminal.add_note(*problem.notes, *unused_columns_note(problem.columns))
    goal = problem.target
    n_classes = len(goal.classes)
    chosen = (
        [find_model(name, goal.task, n_classes) for name in model] if model else suitable_models(goal.task, n_classes)
    )
    costs = read_costs(cost, list(goal.classes), goal.positive) if cost is not None and goal.classes else None
    with terminal.progress_bar(_("comparing"), steps=(len(chosen) + 1) * folds) as step:
        rows, left_out = compare_models(
            problem,
            chosen,
            folds,
            seed,
            costs,
            fill,
            step,
            every=not model,
            probabilities=probabilities,
            terms=term or (),
        )
    terminal.results = comparison_json(rows, goal.task)
    terminal.print(comparison_table(rows, goal.task, n_classes, folds))
    recommended = next((row for row in rows if row.chosen), None)
    if recommended is not None and goal.classes and "loss" not in recommended.measures:
        terminal.add_note(
            Message("{name} gives no probabilities; --probabilities asks for a model that does", name=recommended.name)
        )
    for name, why in left_out.items():
        terminal.add_note(Message("{name} was left out: {why}", name=name, why=why))
    terminal.finish()
