"""From a file to a model, its metrics and its report: the work of `fit` and `demo`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hiperplano.cli.options import ensure_folder
from hiperplano.cli.terminal import Terminal
from hiperplano.cli.workflow.costs import read_costs
from hiperplano.cli.workflow.evaluation import evaluate_sample
from hiperplano.cli.workflow.fitting.results import Results, coding_notes, print_results, results_json
from hiperplano.cli.workflow.fitting.selection import Step, eliminate, selection_note, without
from hiperplano.cli.workflow.fitting.split import Split, split_rows
from hiperplano.cli.workflow.metadata import Metadata, command_line, file_digest, versions
from hiperplano.cli.workflow.model_registry import CLASSIFICATION, find_model
from hiperplano.cli.workflow.problem import Problem, TableOptions, read_problem
from hiperplano.cli.workflow.training import FittedModel, Wishes, fit_auto, fit_model
from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter
from hiperplano.features.coding import Coding
from hiperplano.messages import Message
from hiperplano.messages.catalogue import current_language, translator
from hiperplano.models.saving import save
from hiperplano.report.page import write_subject
from hiperplano.report.subject import Subject, prepare_subject
from hiperplano.solvers.likelihood.solution import LogisticSolution

_ = translator("terminal")

_BANDS = 10


@dataclass(frozen=True)
class Settings:
    """Settings of a fit.

    Attributes
    ----------
    validation : float or Path
        Share of the rows, 0 for no validation, or another file.
    strength : dict of str to float
        C or alpha, if given.
    class_weight : str or None
        "balanced", or weights by label as a=1,b=5.
    weight, split_by : str or None
        Column of weights, and column of times or groups for the split.
    everything : bool
        Whether to print all columns and coefficients.
    """

    model: str = "auto"
    validation: float | Path = 0.3
    cost: Path | None = None
    fill: str = "median"
    seed: int = 0
    out: Path = Path()
    report: bool = True
    arguments: tuple[str, ...] = ()
    strength: dict[str, float] = field(default_factory=dict)
    class_weight: str | None = None
    cutoff: float | None = None
    weight: str | None = None
    split_by: str | None = None
    terms: tuple[str, ...] = ()
    select: str | None = None
    everything: bool = False

    @property
    def aside(self) -> list[str]:
        """Columns that the model does not use."""
        return list(dict.fromkeys(name for name in (self.weight, self.split_by) if name is not None))


def run(terminal: Terminal, path: Path, target: str, choices: TableOptions, settings: Settings) -> None:
    """Read, split, encode, fit, evaluate, save, write the report, and print the results.

    Parameters
    ----------
    path : Path
        Path of the table.
    target : str
        Name of the target column.
    """
    with terminal.progress_bar(_("reading"), steps=7 if settings.report else 6) as step, terminal.capture_warnings():
        problem = read_problem(path, target, choices, aside=settings.aside, step=step)
        wishes = _wishes(problem, settings)
        parts = split_rows(problem, choices, settings.validation, settings.split_by, settings.weight, settings.seed)
        step(_("encoding the columns"))
        coding = Coding(tuple(problem.columns), fill=settings.fill, independent=True, terms=settings.terms)
        steps = _select(coding, parts, problem, settings)
        if steps:
            columns, terms = without(problem.columns, settings.terms, steps)
            problem = replace(problem, columns=columns)
            coding = Coding(tuple(columns), fill=settings.fill, independent=True, terms=tuple(terms))
        coded = coding.fit_transform(parts.frames[0])
        step(_("fitting"))
        fitted, said = _fit(problem, coded, parts, settings, wishes)
        step(_("evaluating"))
        subject = _subject(problem, parts, coding, coded, fitted, wishes.costs, settings.weight)
        results = Results(problem, parts, coding, fitted, subject, _measures(subject, parts, wishes), steps)
        if settings.select is not None:
            terminal.add_note(selection_note(steps, settings.select))
        told = said, _weights_note(fitted, parts), *problem.notes, parts.note, *coding_notes(coding), *_tuned(fitted)
        terminal.add_note(*filter(None, told))
        metadata = _metadata(results, settings, wishes.costs)
        metadata.attach(subject.model)
        step(_("writing"))
        folder = ensure_folder(settings.out)
        if getattr(fitted.linear, "firth", False):  # its intervals need the rows, which a saved model does not hold
            fitted.linear.summary()
        save(subject.model, folder / "model.skops")
        files = {"model": folder / "model.skops"}
        if settings.report:
            step(_("writing the report"))
            files["report"] = write_subject(folder / "report.html", subject, metadata.provenance(), current_language())
    terminal.results = results_json(results, metadata, files) if terminal.as_json else {}
    print_results(terminal, results, settings.everything)
    terminal.print_notes()
    terminal.print(_("Written: {files}", files=", ".join(str(file) for file in files.values())))


def _select(coding: Coding, parts: Split, problem: Problem, settings: Settings) -> list[Step]:
    """Steps of the requested selection."""
    if settings.select is None:
        return []
    classification = problem.target.task == CLASSIFICATION
    return eliminate(coding, parts.frames[0], parts.labels[0], classification, settings.select, parts.weights[0])


def _wishes(problem: Problem, settings: Settings) -> Wishes:
    target = problem.target
    if target.task != CLASSIFICATION:
        for option, value in (
            ("--cost", settings.cost), ("--cutoff", settings.cutoff), ("--class-weight", settings.class_weight)
        ):  # fmt: skip
            if value is not None:
                raise InvalidParameter(
                    _("{option} is for classes; {name!r} is a number.", option=option, name=target.name)
                )
        return Wishes(strength=settings.strength)
    if settings.cutoff is not None and len(target.classes) != 2:
        raise InvalidParameter(_("--cutoff is for two classes; {name!r} has more.", name=target.name))
    costs = None
    if settings.cost is not None:
        costs = read_costs(settings.cost, list(target.classes), target.positive)
    weights = class_weight_of(settings.class_weight, list(target.classes))
    return Wishes(costs, settings.strength, weights, settings.cutoff, target.positive)


def class_weight_of(given: str | None, classes: list[Any]) -> Any:
    """Weights by label, from a=1,b=5; or "balanced"."""
    if given is None or given == "balanced":
        return given
    by_text = {str(label): label for label in classes}
    found = {}
    for pair in given.split(","):
        label, _sign, number = pair.partition("=")
        try:
            found[by_text[label.strip()]] = float(number)
        except (KeyError, ValueError) as problem:
            raise InvalidParameter(
                _(
                    "--class-weight {given}: 'balanced' or a weight for labels of the target ({labels}) is needed, as "
                    "{first}=5.",
                    given=given,
                    labels=", ".join(by_text),
                    first=str(classes[-1]),
                )
            ) from problem
    return found


def _fit(problem: Problem, rows: Any, parts: Split, settings: Settings, wishes: Wishes) -> tuple[FittedModel, str]:
    task, n_classes = problem.target.task, len(problem.target.classes)
    given = (rows, parts.labels[0], settings.seed, wishes, parts.weights[0])
    if settings.model == "auto":
        return fit_auto(task, n_classes, *given)
    return fit_model(find_model(settings.model, task, n_classes), *given), ""


def _subject(
    problem: Problem,
    parts: Split,
    coding: Coding,
    coded: Any,
    fitted: FittedModel,
    costs: Array | None,
    weight: str | None,
) -> Subject:
    scaled = fitted.scaled(coded)
    held = fitted.scaled(coding.transform(parts.frames[1])) if parts.validated else scaled
    return prepare_subject(
        fitted.pipeline(coding),
        parts.frames[1],
        parts.labels[1],
        (parts.frames[0], parts.labels[0]),
        problem.target.name,
        problem.target.positive,
        costs,
        transformed=(held, scaled),
        weights=(parts.weights[1], parts.weights[0]),
        weighted_by=weight,
    )


def _measures(subject: Subject, parts: Split, wishes: Wishes) -> dict[str, dict[str, float]]:
    """Metrics of training and, if present, validation rows."""
    samples = {"training": subject.fitted_on} | ({"validation": subject.validation} if parts.validated else {})
    found = {part: evaluate_sample(sample, wishes.costs) for part, sample in samples.items()}
    if subject.task == "two classes" and wishes.costs is None and subject.validation.probabilities is not None:
        for measures in found.values():
            measures["cutoff"] = 0.5 if wishes.cutoff is None else wishes.cutoff
    return found


def _weights_note(fitted: FittedModel, parts: Split) -> str:
    """A note on how a likelihood treats weights that are not counts."""
    weight = parts.weights[0]
    if weight is None or not isinstance(getattr(fitted.linear, "solution_", None), LogisticSolution):
        return ""
    n, total = len(weight), float(weight.sum())
    if abs(total - n) <= 0.01 * n:
        return ""
    return Message(
        "the weights of {n:,} training rows add up to {total:,.0f}: intervals and p-values treat this sum as the "
        "number of rows. If weights are not counts, divide them by their mean",
        n=n,
        total=total,
    )


def _tuned(fitted: FittedModel) -> list[str]:
    """The parameter chosen by cross-validation."""
    for name in ("C", "alpha"):
        value = getattr(fitted.linear, f"{name}_", None)
        if value is not None and len(np.unique(value)) == 1:
            return [
                Message(
                    "{parameter} = {value:g} was chosen by cross-validation on the training rows",
                    parameter=name,
                    value=float(np.ravel(value)[0]),
                )
            ]
    return []


def _metadata(results: Results, settings: Settings, costs: Array | None) -> Metadata:
    problem, subject = results.problem, results.subject
    edges, counts = _bands(subject)
    return Metadata(
        task=problem.target.task,
        target=problem.target.name,
        model=results.fitted.choice.name,
        positive=problem.target.positive,
        costs=None if costs is None else costs.tolist(),
        file=str(problem.source.path),
        sha256=file_digest(problem.source.path),
        rows=len(problem.frame),
        command=command_line(list(settings.arguments)),
        seed=settings.seed,
        validation=str(settings.validation) if isinstance(settings.validation, Path) else settings.validation,
        versions=versions(),
        measures={part: {"rows": results.rows[part], **found} for part, found in results.measures.items()},
        selection=[asdict(step) for step in results.steps],
        score_edges=edges,
        score_counts=counts,
        weight=settings.weight,
    )


def _bands(subject: Subject) -> tuple[list[float], list[float]]:
    """Bands of the training scores, or predictions, of equal size."""
    sample = subject.fitted_on
    if subject.task == "many classes":
        return [], []
    values = np.ravel(sample.predicted).astype(np.float64) if subject.task == "regression" else sample.score
    edges = np.unique(sample.quantile(values, np.arange(1, _BANDS) / _BANDS))
    counts = sample.effective_counts(np.searchsorted(edges, values, side="right"), len(edges) + 1)
    return edges.tolist(), counts.tolist()
