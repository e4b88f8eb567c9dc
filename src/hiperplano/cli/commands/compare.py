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
    folds: Annotated[
        int, Option(help=_("Into how many parts the rows are cut; each judges models fitted on the rest."))
    ] = 5,
    model: Annotated[list[str] | None, Option("--model", "-m", help=_("Only this model. May be repeated."))] = None,
    positive: Annotated[str | None, options.positive()] = None,
    cost: Annotated[Path | None, options.cost()] = None,
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
    """Fit every model that suits the target on the same folds."""
    if folds < 2:
        raise BadParameter(_("{value} folds; two or more are needed", value=folds), param_hint="--folds")
    options.one_of("--fill", fill, ("median", "model"))
    from hiperplano.cli.comparison import compare_models, comparison_facts, comparison_table
    from hiperplano.cli.costs import read_costs
    from hiperplano.cli.problem import Choices, read_problem
    from hiperplano.cli.registry import choose, suitable
    from hiperplano.cli.show import left_out_columns
    from hiperplano.cli.terminal import Terminal

    terminal = Terminal(json, quiet)
    choices = Choices(kind, drop, order, missing, separator, decimal, task, positive)
    problem = read_problem(file, target, choices)
    terminal.note(*problem.notes, *left_out_columns(problem.columns))
    goal = problem.target
    n_classes = len(goal.classes)
    chosen = [choose(name, goal.task, n_classes) for name in model] if model else suitable(goal.task, n_classes)
    costs = read_costs(cost, list(goal.classes), goal.positive) if cost is not None and goal.classes else None
    with terminal.working(_("comparing"), steps=len(chosen) * folds) as step:
        rows, left_out = compare_models(problem, chosen, folds, seed, costs, fill, step, every=not model)
    terminal.facts = comparison_facts(rows, goal.task)
    terminal.say(comparison_table(rows, goal.task, folds))
    for name, why in left_out.items():
        terminal.note(Message("{name} was left out: {why}", name=name, why=why))
    terminal.finish()
