"""From a file to a model, its metrics and its report: what `fit` and `demo` do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiperplano.cli.options import ensure_folder
from hiperplano.cli.result_tables import (
    coefficients_json,
    coefficients_table,
    columns_table,
    metrics_table,
)
from hiperplano.cli.terminal import Terminal
from hiperplano.cli.workflow.costs import read_costs
from hiperplano.cli.workflow.evaluation import evaluate_sample
from hiperplano.cli.workflow.metadata import Metadata, command_line, file_digest, versions
from hiperplano.cli.workflow.model_registry import CLASSIFICATION, find_model
from hiperplano.cli.workflow.problem import Problem, TableOptions, read_problem
from hiperplano.cli.workflow.training import FittedModel, fit_auto, fit_model, train_validation_split
from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads
from hiperplano.errors import InvalidParameter
from hiperplano.features.coding import Coding
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import current_language, translator
from hiperplano.models.saving import save
from hiperplano.report.coefficients import read_coefficients
from hiperplano.report.page import write_subject
from hiperplano.report.subject import Subject, prepare_subject

_ = translator("terminal")


@dataclass(frozen=True)
class Settings:
    """How to fit."""

    model: str = "auto"
    validation: float = 0.3
    cost: Path | None = None
    fill: str = "median"
    seed: int = 0
    out: Path = Path()
    report: bool = True
    arguments: tuple[str, ...] = ()


def run(terminal: Terminal, path: Path, target: str, choices: TableOptions, settings: Settings) -> None:
    """Read, split, encode, fit, evaluate, save, write the report, and print the results.

    Parameters
    ----------
    path : Path
        Of the table.
    target : str
        Name of its column.
    """
    with terminal.progress_bar(_("reading"), steps=7 if settings.report else 6) as step, terminal.capture_warnings():
        problem = read_problem(path, target, choices, step=step)
        terminal.add_note(*problem.notes)
        costs = _costs(problem, settings)
        training, validation = train_validation_split(problem.target, settings.validation, settings.seed)
        frames = in_threads(problem.frame.take, (training, validation), problem.frame.size)
        labels = problem.target.values[training], problem.target.values[validation]
        step(_("encoding the columns"))
        coding = Coding(tuple(problem.columns), fill=settings.fill)
        coded = coding.fit_transform(frames[0]), coding.transform(frames[1])
        step(_("fitting"))
        fitted, said = _fit(problem, coded[0], labels[0], settings, costs)
        if said:
            terminal.add_note(said)
        step(_("evaluating"))
        pipeline = fitted.pipeline(coding)
        scaled = [fitted.scaled(rows) for rows in coded]
        made_on, positive = (frames[0], labels[0]), problem.target.positive
        subject = prepare_subject(
            pipeline, frames[1], labels[1], made_on, target, positive, costs, transformed=(scaled[1], scaled[0])
        )
        parts = (_("training"), _("validation"))
        measures = {
            part: evaluate_sample(sample, costs)
            for part, sample in zip(parts, (subject.fitted_on, subject.validation), strict=True)
        }
        metadata = _metadata(problem, fitted, settings, costs)
        metadata.attach(pipeline)
        step(_("writing"))
        folder = ensure_folder(settings.out)
        if getattr(fitted.linear, "firth", False):  # whose intervals need the rows, which no file holds
            fitted.linear.summary()
        save(pipeline, folder / "model.skops")
        files = {"model": folder / "model.skops"}
        if settings.report:
            step(_("writing the report"))
            files["report"] = write_subject(folder / "report.html", subject, metadata.provenance(), current_language())
    rows = dict(zip(parts, map(len, labels), strict=True))
    _print_results(terminal, problem, fitted, coding, subject, measures, rows)
    _json_results(terminal, problem, fitted, coding, subject, list(measures.values()), metadata, files)
    terminal.print(_("Written: {files}", files=", ".join(str(file) for file in files.values())))


def _costs(problem: Problem, settings: Settings) -> Array | None:
    if settings.cost is None:
        return None
    if problem.target.task != CLASSIFICATION:
        raise InvalidParameter(_("--cost is for classes; {name!r} is a number.", name=problem.target.name))
    return read_costs(settings.cost, list(problem.target.classes), problem.target.positive)


def _fit(problem: Problem, rows: Array, y: Array, settings: Settings, costs: Array | None) -> tuple[FittedModel, str]:
    task, n_classes = problem.target.task, len(problem.target.classes)
    if settings.model == "auto":
        return fit_auto(task, n_classes, rows, y, settings.seed, costs)
    return fit_model(find_model(settings.model, task, n_classes), rows, y, settings.seed, costs), ""


def _metadata(problem: Problem, fitted: FittedModel, settings: Settings, costs: Array | None) -> Metadata:
    return Metadata(
        task=problem.target.task,
        target=problem.target.name,
        model=fitted.choice.name,
        positive=problem.target.positive,
        costs=None if costs is None else costs.tolist(),
        file=str(problem.source.path),
        sha256=file_digest(problem.source.path),
        rows=len(problem.frame),
        command=command_line(list(settings.arguments)),
        seed=settings.seed,
        validation=settings.validation,
        versions=versions(),
    )


def _print_results(
    terminal: Terminal,
    problem: Problem,
    fitted: FittedModel,
    coding: Coding,
    subject: Subject,
    measures: Any,
    rows: dict[str, int],
) -> None:
    if not terminal.prints_text:
        return
    target = problem.target
    terminal.print(columns_table(problem.columns, len(problem.frame)))
    about = _(
        "Target {name}: {task} ({why})", name=target.name, task=_task_word(target.task), why=translate(target.why)
    )
    if target.positive is not None:
        about += _("; positive class: {label}", label=target.positive)
    terminal.out.print(about, markup=False)
    terminal.print()
    name = f"{fitted.choice.name} ({type(fitted.linear).__name__})"
    terminal.out.print(_("Model {name}, fitted in {s} s", name=name, s=f"{fitted.seconds:.2f}"), markup=False)
    solution = getattr(fitted.linear, "solution_", None)
    if solution is not None:
        terminal.out.print(translate(str(solution)), markup=False)
    terminal.print()
    terminal.print(metrics_table(measures, rows))
    found = read_coefficients(subject)
    if found is not None:
        terminal.print(coefficients_table(found))
        for column, reference in coding.references().items():
            other = Message("no value") if reference is None else reference
            terminal.add_note(Message("{column}: compared with {reference}", column=column, reference=other))
    for column in coding.too_rare():
        terminal.add_note(Message("{column}: each of its categories is in too few rows to learn from", column=column))


def _json_results(
    terminal: Terminal,
    problem: Problem,
    fitted: FittedModel,
    coding: Coding,
    subject: Subject,
    measures: list[dict[str, float]],
    metadata: Metadata,
    files: dict[str, Path],
) -> None:
    if not terminal.as_json:
        return
    found = read_coefficients(subject, coding.get_feature_names_out().tolist())
    terminal.results |= {
        "target": {"name": metadata.target, "task": metadata.task, "positive": metadata.positive},
        "columns": [
            {"name": each.name, "kind": each.kind, "why": each.why, "missing": each.missing} for each in problem.columns
        ],
        "model": {"name": metadata.model, "class": type(fitted.linear).__name__, "seconds": fitted.seconds},
        "solution": str(getattr(fitted.linear, "solution_", "")),
        "training": measures[0],
        "validation": measures[1],
        "coefficients": coefficients_json(found),
        "seed": metadata.seed,
        "rows": metadata.rows,
        "sha256": metadata.sha256,
        "versions": metadata.versions,
        "files": {name: str(file) for name, file in files.items()},
    }


def _task_word(task: str) -> str:
    return _("classification") if task == CLASSIFICATION else _("regression")
