"""Output of a fit: the verdict first, then metrics, notes and coefficients."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hiperplano.cli.result_tables import (
    coefficients_json,
    coefficients_table,
    columns_table,
    metrics_table,
    unused_columns_note,
    verdict_table,
)
from hiperplano.cli.terminal import Terminal, for_the_terminal
from hiperplano.cli.workflow.fitting.selection import Step
from hiperplano.cli.workflow.fitting.split import Split
from hiperplano.cli.workflow.metadata import Metadata
from hiperplano.cli.workflow.model_registry import CLASSIFICATION
from hiperplano.cli.workflow.problem import Problem
from hiperplano.cli.workflow.training import FittedModel
from hiperplano.features.coding import Coding
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.coefficients import Coefficients, read_coefficients
from hiperplano.report.number_format import count, decimal
from hiperplano.report.subject import Subject
from hiperplano.report.verdict import verdict, weighting_sentence

_ = translator("terminal")

_MOST_COEFFICIENTS = 15  # most coefficients shown, to fit on one screen
_MOST_NAMED = 4


@dataclass(frozen=True)
class Results:
    """Results of a fit.

    Attributes
    ----------
    measures : dict
        Metrics by part of the rows: "training", "validation".
    steps : list of Step
        Steps of the selection of columns.
    """

    problem: Problem
    parts: Split
    coding: Coding
    fitted: FittedModel
    subject: Subject
    measures: dict[str, dict[str, float]]
    steps: list[Step] = field(default_factory=list)

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows of each part."""
        return dict(zip(self.measures, (len(labels) for labels in self.parts.labels), strict=False))


def coding_notes(coding: Coding) -> list[str]:
    """Notes on columns that a model does not use unchanged."""
    notes: list[str] = []
    for name, others in coding.left_out_.items():
        if others:
            shown = ", ".join(others[:_MOST_NAMED]) + (" …" if len(others) > _MOST_NAMED else "")
            notes.append(Message("{name} follows from {others} and was left out", name=name, others=shown))
        else:
            notes.append(Message("{name} has one value in the training rows and was left out", name=name))
    if len(notes) > _MOST_NAMED:
        names = ", ".join(list(coding.left_out_)[:12]) + (" …" if len(coding.left_out_) > 12 else "")
        notes = [Message("{n} columns follow from others and were left out: {names}", n=len(notes), names=names)]
    notes += [
        Message("{column}: each of its categories is in too few rows to learn from", column=column)
        for column in coding.too_rare()
    ]
    return notes


def print_results(terminal: Terminal, results: Results, everything: bool) -> None:
    """Print verdict, metrics, notes and coefficients; all columns and coefficients only on request."""
    if not terminal.prints_text:
        return
    problem, fitted = results.problem, results.fitted
    if everything:
        terminal.print(columns_table(problem.columns, len(problem.frame)))
    terminal.say(_headline(results))
    terminal.say(_ending(fitted))
    terminal.print(verdict_table(verdict(results.subject)))
    terminal.print(metrics_table(_named(results.measures), _named(results.rows)))
    terminal.add_note(*unused_columns_note(problem.columns))
    terminal.print_notes()
    found = read_coefficients(results.subject)
    if found is not None:
        most = None if everything else _MOST_COEFFICIENTS
        terminal.print(coefficients_table(found, results.coding.references(), most, terminal.out.width))
        if most is not None and len(found.names) > most:
            terminal.say(_("{n} more coefficients: --all, or the report.", n=len(found.names) - most))


def _named(by_part: dict[str, Any]) -> dict[str, Any]:
    words = {"training": _("training"), "validation": _("validation")}
    return {words[part]: value for part, value in by_part.items()}


def _headline(results: Results) -> str:
    target, rows = results.problem.target, results.rows
    task = _("classification") if target.task == CLASSIFICATION else _("regression")
    text = _("{name}: {task} ({why})", name=target.name, task=task, why=translate(target.why))
    if target.positive is not None:
        text += _("; positive class: {label}", label=target.positive)
    training = count(rows["training"]).text
    if "validation" in rows:
        held = count(rows["validation"]).text
        text += ". " + _("Trained on {n} rows, validated on {held}.", n=training, held=held)
    else:
        text += ". " + _("Trained on all {n} rows; none were held out for validation.", n=training)
    by = results.subject.weighted_by
    return text if by is None else f"{text} {weighting_sentence(by)}"


def _ending(fitted: FittedModel) -> str:
    name = f"{fitted.choice.name} ({type(fitted.linear).__name__})"
    text = _("Model {name}, {s} s.", name=name, s=decimal(fitted.seconds, 2).text)
    solution = getattr(fitted.linear, "solution_", None)
    if solution is None:
        return text
    if getattr(solution, "unbounded", False):
        return text + " " + _("Did not converge: the classes are (partly) separated.")
    if getattr(solution, "converged", False) and getattr(solution, "n_iter", 0) > 1:
        return text + " " + _("Converged in {n} steps.", n=solution.n_iter)
    return f"{text} {translate(for_the_terminal(solution.status))}"


def results_json(results: Results, metadata: Metadata, files: dict[str, Path]) -> dict[str, Any]:
    """The results as JSON data."""
    fitted = results.fitted
    found: Coefficients | None = read_coefficients(results.subject, results.coding.get_feature_names_out().tolist())
    return {
        "target": {"name": metadata.target, "task": metadata.task, "positive": metadata.positive},
        "weight": metadata.weight,
        "columns": [
            {"name": each.name, "kind": each.kind, "why": each.why, "missing": each.missing}
            for each in results.problem.columns
        ],
        "left_out": results.coding.left_out_,
        "selection": [asdict(step) for step in results.steps],
        "references": results.coding.references(),
        "model": {"name": metadata.model, "class": type(fitted.linear).__name__, "seconds": fitted.seconds},
        "solution": str(getattr(fitted.linear, "solution_", "")),
        "verdict": {each.key: {"tone": each.tone, "text": each.text} for each in verdict(results.subject)},
        "training": results.measures["training"],
        "validation": results.measures.get("validation"),
        "coefficients": coefficients_json(found),
        "seed": metadata.seed,
        "rows": metadata.rows,
        "sha256": metadata.sha256,
        "versions": metadata.versions,
        "files": {name: str(file) for name, file in files.items()},
    }
