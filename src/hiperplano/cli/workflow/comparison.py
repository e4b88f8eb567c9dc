"""Comparison of several models on the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from rich.table import Table
from scipy.special import stdtrit
from sklearn.model_selection import KFold, StratifiedKFold

from hiperplano.cli.result_tables import format_metric, make_table
from hiperplano.cli.workflow.evaluation import LOWER_IS_BETTER, METRICS, evaluate_model, metric_label
from hiperplano.cli.workflow.model_registry import BASELINES, CLASSIFICATION, ModelChoice
from hiperplano.cli.workflow.problem import Problem
from hiperplano.cli.workflow.training import Wishes, fit_model
from hiperplano.data.design import Array
from hiperplano.errors import HiperplanoError, InvalidData, NotSeparable
from hiperplano.features.coding import Coding
from hiperplano.messages import Message, message_of
from hiperplano.messages.catalogue import translator
from hiperplano.report.number_format import decimal

_ = translator("terminal")


@dataclass(frozen=True)
class Row:
    """A model with its metrics on every fold.

    Attributes
    ----------
    measures, training : dict of str to ndarray
        Metrics on the held-out rows and on the training rows.
    baseline : bool
        Whether it is a constant baseline.
    """

    name: str
    measures: dict[str, Array]
    seconds: float
    best: bool = False
    chosen: bool = False
    training: dict[str, Array] = field(default_factory=dict)
    baseline: bool = False

    def interval(self, name: str) -> tuple[float, float, float]:
        """Mean over the folds, its standard error, and half the width of its 95% interval.

        Parameters
        ----------
        name : str
            Name of a metric.
        """
        values = self.measures[name]
        error = float(values.std(ddof=1) / np.sqrt(len(values)))
        return float(values.mean()), error, float(stdtrit(len(values) - 1, 0.975)) * error


def compare_models(
    problem: Problem,
    choices: Sequence[ModelChoice],
    n_folds: int,
    seed: int,
    costs: Array | None,
    fill: str,
    step: Callable[..., None],
    every: bool,
    probabilities: bool = False,
    terms: Sequence[str] = (),
) -> tuple[list[Row], dict[str, str]]:
    """Rows of the comparison, the simplest model first, and the omitted models with reasons.

    With `every`, models that are too slow for the table or reject it are omitted; otherwise a rejection is an error.

    Parameters
    ----------
    costs : ndarray or None
        costs[j, k] of deciding class j where k is true.
    fill : str
        As in `Coding`.
    step : callable
        Called with the name of the next model.
    """
    y, positive = problem.target.values, problem.target.positive
    choices = [BASELINES[problem.target.task], *choices]
    left_out: dict[str, str] = {}
    found: dict[str, list[dict[str, float]]] = {choice.name: [] for choice in choices}
    training_found: dict[str, list[dict[str, float]]] = {choice.name: [] for choice in choices}
    seconds = dict.fromkeys(found, 0.0)
    for training, validation in _folds(problem, n_folds, seed):
        coding = Coding(tuple(problem.columns), fill=fill, independent=True, terms=tuple(terms))
        coded = coding.fit_transform(problem.frame.take(training))
        other = coding.transform(problem.frame.take(validation))
        for choice in choices:
            step(choice.name)
            if choice.name in left_out:
                continue
            if every and coded.size > choice.most_cells:
                left_out[choice.name] = Message("too slow for a table of this size; ask for it with --model")
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fitted = fit_model(choice, coded, y[training], seed, Wishes(costs))
            except NotSeparable:
                left_out[choice.name] = Message("no plane separates the classes")
                continue
            except HiperplanoError as problem_found:
                if not every:
                    raise
                left_out[choice.name] = message_of(problem_found)
                continue
            seconds[choice.name] += fitted.seconds
            for place, rows, labels in ((found, other, y[validation]), (training_found, coded, y[training])):
                place[choice.name].append(evaluate_model(fitted.model, fitted.scaled(rows), labels, positive, costs))
    rows = [
        Row(
            choice.name,
            _by_measure(found[choice.name]),
            seconds[choice.name] / n_folds,
            training=_by_measure(training_found[choice.name]),
            baseline=choice.baseline,
        )
        for choice in choices
        if choice.name not in left_out and found[choice.name]
    ]
    return _mark_best(rows, problem.target.task, len(problem.target.classes), probabilities), left_out


def _by_measure(folds: list[dict[str, float]]) -> dict[str, Array]:
    return {key: np.array([fold[key] for fold in folds]) for key in folds[0]}


def _folds(problem: Problem, n_folds: int, seed: int) -> Any:
    y = problem.target.values
    if problem.target.task != CLASSIFICATION:
        if len(y) < 2 * n_folds:
            raise InvalidData(
                _("{n} rows are too few for {folds} folds. Choose fewer with --folds.", n=len(y), folds=n_folds)
            )
        return KFold(n_folds, shuffle=True, random_state=seed).split(y)
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    if counts.min() < n_folds:
        raise InvalidData(
            _(
                "class {label!r} has {n} rows, too few for {folds} folds. Choose fewer with --folds.",
                label=classes.tolist()[int(counts.argmin())],
                n=int(counts.min()),
                folds=n_folds,
            )
        )
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, codes)


def primary_metric(rows: Sequence[Row], task: str, n_classes: int) -> str:
    """The metric for the choice: cost if costs are given, else the ranking of classes, or the error."""
    if task != CLASSIFICATION:
        return "rmse"
    if rows and all("cost" in row.measures for row in rows):
        return "cost"
    return "auc" if n_classes == 2 else "accuracy"


def _mark_best(rows: list[Row], task: str, n_classes: int, probabilities: bool = False) -> list[Row]:
    """Mark the best model, and the simplest within one standard error of it.

    Parameters
    ----------
    probabilities : bool
        Whether to recommend only models with probabilities.
    """
    allowed = [
        place for place, row in enumerate(rows) if not row.baseline and (not probabilities or "loss" in row.measures)
    ]
    if not allowed:
        return rows
    name = primary_metric(rows, task, n_classes)
    sign = -1.0 if name in LOWER_IS_BETTER else 1.0
    means = [sign * row.interval(name)[0] for row in rows]
    best = max(allowed, key=lambda place: means[place])
    enough = means[best] - rows[best].interval(name)[1]
    simplest = next(place for place in allowed if means[place] >= enough)
    return [replace(row, best=place == best, chosen=place == simplest) for place, row in enumerate(rows)]


def comparison_table(rows: Sequence[Row], task: str, n_classes: int, n_folds: int) -> Table:
    """Models in rows, metrics in columns, each with half the width of its interval."""
    table = make_table(
        _("Models on the same {n} folds: mean ± half of the 95% interval", n=n_folds),
        caption=_("★ best   ◆ simplest within one standard error of it (upper rows are simpler)   s: seconds of a fit"),
        caption_justify="left",
    )
    table.add_column(_("model"), no_wrap=True)
    names = [name for name in METRICS[task] if any(name in row.measures for row in rows)]
    primary = primary_metric(rows, task, n_classes)
    for name in names:
        table.add_column(metric_label(name), justify="right", no_wrap=True)
        if name == primary:
            table.add_column(_("training"), justify="right", no_wrap=True)
    table.add_column(_("s"), justify="right", no_wrap=True)
    for row in rows:
        cells = []
        for name in names:
            cells.append(_with_interval(row, name) if name in row.measures else "–")
            if name == primary:
                cells.append(format_metric(float(row.training[name].mean()), 3) if name in row.training else "–")
        mark = ("★" if row.best else "") + ("◆" if row.chosen else "")
        style = "bold green" if row.chosen else ("dim" if row.baseline else None)
        table.add_row(f"{row.name} {mark}".rstrip(), *cells, decimal(row.seconds, 2).text, style=style)
    return table


def _with_interval(row: Row, name: str) -> str:
    mean, _error, half = row.interval(name)
    return f"{format_metric(mean, 3)}±{format_metric(half, 3).removeprefix('0')}"


def comparison_json(rows: Sequence[Row], task: str) -> dict[str, Any]:
    """The comparison as JSON data."""
    models = []
    for row in rows:
        measures = {}
        for name in row.measures:
            mean, error, half = row.interval(name)
            measures[name] = {"mean": mean, "se": error, "low": mean - half, "high": mean + half}
            measures[name] |= {"training": float(row.training[name].mean())} if name in row.training else {}
        probabilities = task == CLASSIFICATION and "loss" in row.measures
        facts = {"name": row.name, "measures": measures, "seconds": row.seconds, "baseline": row.baseline}
        models.append(facts | ({"probabilities": probabilities} if task == CLASSIFICATION else {}))
    return {
        "task": task,
        "models": models,
        "best": next((row.name for row in rows if row.best), None),
        "chosen": next((row.name for row in rows if row.chosen), None),
    }
