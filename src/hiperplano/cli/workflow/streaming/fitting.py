"""`hiperplano fit` for tables that are read in blocks of rows."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.preprocessing import StandardScaler

from hiperplano.cli.options import ensure_folder
from hiperplano.cli.result_tables import metrics_table, unused_columns_note
from hiperplano.cli.terminal import Terminal
from hiperplano.cli.workflow.fitting.run import Settings, class_weight_of
from hiperplano.cli.workflow.metadata import Metadata, command_line, versions
from hiperplano.cli.workflow.model_registry import CLASSIFICATION, find_model
from hiperplano.cli.workflow.problem import TableOptions
from hiperplano.cli.workflow.streaming.measuring import measures
from hiperplano.cli.workflow.training import FittedModel
from hiperplano.data.labels import DistinctLabels
from hiperplano.data.stream.progress import watcher_for
from hiperplano.data.stream.settings import Settings as StreamSettings
from hiperplano.errors import ConvergenceWarning, InvalidFile, InvalidParameter, SeparationWarning
from hiperplano.features.columns import Column
from hiperplano.features.scanning.learning.first_pass import Wanted, refuse_unlike
from hiperplano.features.scanning.rows import ScannedRows, scan_tables
from hiperplano.features.target import Target, read_target
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator
from hiperplano.models.saving import save
from hiperplano.stats.covariance import inference
from hiperplano.tables.batches import BatchedTable, find_tables
from hiperplano.tables.reading import no_such_column, plain_column

_ = translator("terminal")

_SAMPLE_ROWS, _SAMPLE_FILES = 50_000, 20
_MOST_COEFFICIENTS = 15
_MOST_LABELS = 50  # distinct values of a target in the first rows above which it is not a class


@dataclass(frozen=True)
class _Read:
    """Facts from the beginning of the files, and all their rows."""

    columns: list[Column]
    target: Target
    rows: ScannedRows
    state: str


def run_stream(
    terminal: Terminal, path: Path, target: str, choices: TableOptions, settings: Settings, reason: Message
) -> None:
    """Scan, split, fit, evaluate, save, and print the results; there is no report."""
    _refuse_options(settings)
    with terminal.capture_warnings():
        read = _read(path, target, choices, settings, shown=terminal.prints_text)
        training, held = _split(read.rows, settings)
        fitted, said = _fit(read.target, training, settings)
        name, model, seconds = fitted.choice.name, fitted.model, fitted.seconds
        part, rows = ("training", training) if held is None else ("validation", held)
        found = measures(model, _as_taken(rows, fitted.scaler), read.target)
        terminal.add_note(reason, *([said] if said else []), *_no_report(settings), *unused_columns_note(read.columns))
        metadata = _metadata(path, read, name, settings, {part: {"rows": rows.n_rows, **found}})
        file = ensure_folder(settings.out) / "model.skops"
        save(metadata.attach(fitted.pipeline(read.rows.coding)), file)
        errors = _standard_errors(model, _as_taken(training, fitted.scaler))
    terminal.results = {
        "target": {"name": target, "task": read.target.task, "positive": read.target.positive},
        "model": {"name": name, "class": type(model).__name__, "seconds": seconds},
        "solution": str(model.solution_.status),
        "rows": read.rows.n_rows,
        part: found,
        "coefficients": _coefficients(model, read.rows),
        "files": {"model": str(file)},
    }
    label = _("validation") if held is not None else _("training")
    terminal.say(
        _(
            "{name}: {n} rows in {files} files; trained on {m}.",
            name=target,
            n=f"{read.rows.n_rows:,}",
            files=read.rows.n_tables,
            m=f"{training.n_rows:,}",
        )
    )
    terminal.say(_("Model {name}, {s} s.", name=f"{name} ({type(model).__name__})", s=f"{seconds:.2f}"))
    terminal.say(translate(model.solution_.status))
    terminal.print(metrics_table({label: found}, {label: rows.n_rows}))
    terminal.print_notes()
    terminal.say(errors or _coefficient_lines(model, read.rows, settings.everything))
    terminal.print(_("Written: {files}", files=str(file)))


def _refuse_options(settings: Settings) -> None:
    """Reject options that need all rows at once."""
    scores = _("decisions are judged by the scores of all rows held out")
    for option, given, why in (
        ("--cost", settings.cost, scores),
        ("--cutoff", settings.cutoff, scores),
        ("--split-by", settings.split_by, _("rows are put in order, or in groups, by a column of all of them")),
        ("--term", settings.terms, _("terms are made of whole columns")),
        ("--select", settings.select, _("every step fits the rows anew for each column that could be left out")),
        ("--fill model", settings.fill == "model", _("each column is predicted from all others")),
        (_("--validation with a file"), isinstance(settings.validation, Path), _("that file is read as a whole")),
    ):
        if given:
            raise InvalidParameter(
                _(
                    "{option} needs the whole table in memory ({why}), and it is read some rows at a time. Leave the "
                    "option out, or give a smaller table.",
                    option=option,
                    why=why,
                )
            )


def _no_report(settings: Settings) -> list[Message]:
    """A note that there is no report."""
    if not settings.report:
        return []
    return [
        Message(
            "no report.html is written: its pictures are made of rows in memory. For one of some of the rows, write "
            "them to a file and give it to hiperplano report with the model"
        )
    ]


def _read(path: Path, target: str, choices: TableOptions, settings: Settings, shown: bool) -> _Read:
    """The columns as inferred from the beginning of the files, and the coded rows of all files."""
    tables = find_tables(path, [target], choices.separator, choices.decimal)
    names = tables[0].schema().names
    for name in (target, *settings.aside, *(choices.drop or []), *(choices.only or [])):
        if name not in names:
            raise InvalidFile(no_such_column(path, name, names))
    left_out = {*settings.aside, *(choices.drop or [])} - {target}
    kept = [name for name in names if name not in left_out and (not choices.only or name in {*choices.only, target})]
    refuse_unlike(tables, kept)
    sample, columns = choices.kinds(_sample(tables, kept), target, leaks=True)
    there = sample.column(target).drop_null()
    wanted = Wanted([column for column in columns if column.used], [target], settings.weight)
    settings_of_passes = StreamSettings(watcher=watcher_for(None if shown else False))
    rows = scan_tables(tables, wanted, settings_of_passes, None, nan_is_missing=True, one_target=True)
    found = read_target(path, target, _with_all_labels(there, rows), choices.task, choices.positive)
    state = hashlib.sha256("\n".join(f"{table.name} {table.state}" for table in tables).encode()).hexdigest()
    return _Read(columns, found, rows, state)


def _with_all_labels(some: pa.ChunkedArray, rows: ScannedRows) -> pa.ChunkedArray:
    """Labels of the sampled rows, plus one of each label that occurs only in other rows; numbers are unchanged."""
    known = set(pc.unique(some).to_pylist())
    if len(known) > _MOST_LABELS:
        return some
    plain = some.cast(some.type.value_type) if pa.types.is_dictionary(some.type) else some
    (labels,) = rows.fold(DistinctLabels(), lambda left, right: (np.union1d(left[0], right[0]),))
    every = pa.array(labels.tolist()).cast(plain.type)
    if len(every) == 1:  # rejected later, with the number of all rows
        return pa.chunked_array([pa.DictionaryArray.from_arrays(np.zeros(rows.n_rows, dtype=np.int8), every)])
    others = [label for label in every.to_pylist() if label not in known]
    return pa.chunked_array([*plain.chunks, pa.array(others, plain.type)]) if others else some


def _sample(tables: Sequence[BatchedTable], names: list[str]) -> pa.Table:
    """The first rows of some of the files, from which the kinds of columns are inferred."""
    chosen = [tables[k] for k in np.unique(np.linspace(0, len(tables) - 1, _SAMPLE_FILES).astype(int))]
    found = []
    for table in chosen:
        left = _SAMPLE_ROWS // len(chosen)
        for batch in table.batches(names, left):
            found.append(pa.Table.from_batches([batch.slice(0, left)]))
            left -= found[-1].num_rows
            if left <= 0:
                break
    joined = pa.concat_tables(found, promote_options="permissive")
    return pa.table({name: _finite(plain_column(tables[0].name, name, joined.column(name))) for name in names})


def _finite(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Replace infinity, since the pass over all rows can name its file and row."""
    if not pa.types.is_floating(cells.type):
        return cells
    return pc.if_else(pc.is_inf(cells), pa.scalar(None, cells.type), cells)


def _split(rows: ScannedRows, settings: Settings) -> tuple[ScannedRows, ScannedRows | None]:
    """Rows for training and, at random, rows for evaluation."""
    share = float(settings.validation) if not isinstance(settings.validation, Path) else 0.0
    if not share:
        return rows, None
    rng = np.random.default_rng(settings.seed)
    masks = [rng.random(size) < share for size in rows.source.sizes.tolist()]
    return rows.restricted([~mask for mask in masks]), rows.restricted(masks)


def _fit(target: Target, rows: ScannedRows, settings: Settings) -> tuple[FittedModel, str]:
    """The model, and a note; as for rows in memory, but without Firth's method, which would take many passes."""
    if settings.model != "auto":
        return _fitted(settings.model, target, rows, settings), ""
    if target.task != CLASSIFICATION:
        if "alpha" in settings.strength:
            return _fitted("ridge", target, rows, settings), ""
        first = _fitted("least-squares", target, rows, settings)
        if first.model.solution_.rank == rows.n_columns:
            return first, ""
        said = Message("columns are linearly dependent: ridge was used, which shares their weight among them")
        return _fitted("ridge", target, rows, settings), said
    if "C" in settings.strength:
        return _fitted("logistic-l2", target, rows, settings), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)  # warnings of a model that is not kept are irrelevant
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = _fitted("logistic", target, rows, settings)
    if first.model.solution_.converged and not first.model.solution_.unbounded:
        return first, ""
    said = Message(
        "the classes are (partly) separated, so plain logistic regression did not converge: one with a penalty was "
        "used (--model logistic-l2)"
    )
    return _fitted("logistic-l2", target, rows, settings), said


def _fitted(name: str, target: Target, rows: ScannedRows, settings: Settings) -> FittedModel:
    choice = find_model(name, target.task, len(target.classes))
    if choice.scaled_target:
        raise InvalidParameter(
            _(
                "--model {name} needs rows in memory, and these are read some at a time. Choose logistic, logistic-l2, "
                "lda, least-squares or ridge.",
                name=name,
            )
        )
    scaler = _scaler(rows) if choice.scaled else None
    model = choice.make(settings.seed).set_params(**settings.strength)
    if settings.class_weight is not None:
        model.set_params(class_weight=class_weight_of(settings.class_weight, list(target.classes)))
    start = perf_counter()
    model.fit(_as_taken(rows, scaler))
    return FittedModel(choice, scaler, model, perf_counter() - start)


def _scaler(rows: ScannedRows) -> StandardScaler:
    """The scaler that standardises columns."""
    scaler = StandardScaler().set_output(transform="pandas")
    for part in rows.parts():
        scaler.partial_fit(pd.DataFrame(part.as_held(), columns=rows.names, copy=False))
    return scaler


def _as_taken(rows: ScannedRows, scaler: StandardScaler | None) -> ScannedRows:
    """Rows in the form that the model expects."""
    return rows if scaler is None else rows.scaled(scaler.mean_, scaler.scale_)


def _standard_errors(model: Any, rows: ScannedRows) -> str:
    """The table of coefficients with standard errors, if the model has them."""
    if not np.isinf(getattr(model, "C", 0.0)) and not hasattr(model.solution_, "rank"):
        return ""
    if getattr(model, "alpha", 0.0):
        return ""
    return str(inference(model, rows))


def _coefficients(model: Any, rows: ScannedRows) -> list[dict[str, Any]]:
    names = [] if rows.names is None else rows.names.tolist()
    return [dict(zip(names, block, strict=True)) for block in np.atleast_2d(model.coef_).tolist()]


def _coefficient_lines(model: Any, rows: ScannedRows, everything: bool) -> str:
    blocks = _coefficients(model, rows)
    lines = [f"{name}  {value:.6g}" for block in blocks for name, value in block.items()]
    return "\n".join(lines if everything else lines[:_MOST_COEFFICIENTS])


def _metadata(path: Path, read: _Read, name: str, settings: Settings, found: dict[str, dict[str, float]]) -> Metadata:
    return Metadata(
        task=read.target.task,
        target=read.target.name,
        model=name,
        positive=read.target.positive,
        costs=None,
        file=str(path),
        sha256=read.state,
        rows=read.rows.n_rows,
        command=command_line(list(settings.arguments)),
        seed=settings.seed,
        validation=0.0 if isinstance(settings.validation, Path) else settings.validation,
        versions=versions(),
        measures=found,
    )
