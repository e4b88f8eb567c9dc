"""From a file to a scorecard, its validation and its report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from sklearn.pipeline import Pipeline

from hiperplano.cli import options
from hiperplano.cli.result_tables import columns_table, metrics_table
from hiperplano.cli.terminal import Terminal
from hiperplano.cli.workflow.evaluation import evaluate_sample
from hiperplano.cli.workflow.metadata import Metadata, command_line, file_digest, versions
from hiperplano.cli.workflow.problem import Problem, TableOptions, read_problem
from hiperplano.cli.workflow.scorecards.tables import terminal_table
from hiperplano.cli.workflow.training import train_validation_split
from hiperplano.errors import InvalidFile, InvalidParameter, InvalidTarget, NotInstalled
from hiperplano.export.excel import to_excel
from hiperplano.export.json.writing import to_json
from hiperplano.export.sql.writing import to_sql
from hiperplano.features.binning.encoder import WoEEncoder
from hiperplano.features.columns import Column
from hiperplano.features.table_columns import TableColumns
from hiperplano.messages import Message, message_of
from hiperplano.messages.catalogue import current_language, translator
from hiperplano.models.saving import save
from hiperplano.report.page import write_subject
from hiperplano.report.subject import Subject, prepare_subject
from hiperplano.scorecard import Scorecard, Strategy, TrendStability, periods, trend_stability

_ = translator("terminal")


@dataclass(frozen=True)
class ScorecardSettings:
    """Settings of a scorecard.

    Attributes
    ----------
    special : tuple of str
        COLUMN=CODE,… as typed.
    time : str or None
        Column of dates.
    scale : (float, float, float)
        Points to double the odds, base score, base odds.
    money : (float or None, float or None)
        Gain of an approved non-event, and loss of an approved event.
    """

    special: tuple[str, ...] = ()
    time: str | None = None
    cuts: Path | None = None
    selection: str | None = "stepwise"
    criterion: str = "bic"
    scale: tuple[float, float, float] = (20.0, 600.0, 50.0)
    money: tuple[float | None, float | None] = (None, None)
    validation: float = 0.3
    seed: int = 0
    out: Path = Path()
    report: bool = True
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScorecardResult:
    """The scorecard made from a table, and its results."""

    card: Scorecard
    subject: Subject
    strategy: Strategy
    trends: TrendStability | None


def make_scorecard(
    terminal: Terminal, path: Path, target: str, choices: TableOptions, settings: ScorecardSettings
) -> None:
    """Read, split, bin, select, fit, validate, save, write the report, and print the results.

    Parameters
    ----------
    path : Path
        Path of the table.
    target : str
        Name of the target column.
    """
    with terminal.progress_bar(_("reading"), steps=5) as step, terminal.capture_warnings():
        problem = read_problem(path, target, choices, keep_codes=True, step=step)
        terminal.add_note(*problem.notes)
        if len(problem.target.classes) != 2:
            raise InvalidTarget(
                _(
                    "{file}: the target {name!r} holds {n} classes; a scorecard needs two. Choose another target.",
                    file=path,
                    name=target,
                    n=len(problem.target.classes),
                )
            )
        if choices.positive is None:
            _name_common_event(terminal, problem)
        columns = _variables(terminal, problem, settings)
        step(_("fitting"))
        result, pipeline = _fit(terminal, problem, columns, settings)
        metadata = _metadata(problem, result, settings)
        metadata.attach(pipeline)
        step(_("writing"))
        files = _write(pipeline, result, metadata, settings)
        files |= _export(terminal, result.card, path.stem, settings.out)
    _print(terminal, problem, result)
    terminal.results |= {"scorecard": _plain(result, files)}
    terminal.print(_("Written: {files}", files=", ".join(str(file) for file in files.values())))


def _name_common_event(terminal: Terminal, problem: Problem) -> None:
    """Add a note if the event is the more common class, since it may have been guessed wrongly."""
    event = problem.target.positive
    (other,) = (label for label in problem.target.classes if label != event)
    share = float((problem.target.values == event).mean())
    if share > 0.5:
        terminal.add_note(
            Message(
                "the event is {event!r}, in {share:.0%} of the rows. If {other!r} is to be avoided, give --positive "
                "{label}.",
                event=event,
                share=share,
                other=other,
                label=quote(str(other)),
            )
        )


def _variables(terminal: Terminal, problem: Problem, settings: ScorecardSettings) -> list[Column]:
    """The columns that may get points: neither the date of `--time` nor other dates."""
    if settings.time is not None and settings.time not in problem.frame:
        raise InvalidParameter(
            _("--time {name}: the table has no such column of dates. Check the name.", name=settings.time)
        )
    used = [column for column in problem.columns if column.used]
    dates = [column.name for column in used if column.kind == "date" and column.name != settings.time]
    if dates:
        terminal.add_note(
            Message(
                "{names}: dates get no points, since new applicants come later than all of them. Give an age or a "
                "duration in their place; --time {name} compares bins by period.",
                names=", ".join(dates),
                name=quote(dates[0]),
            )
        )
    return [column for column in used if column.kind != "date" and column.name != settings.time]


def _fit(
    terminal: Terminal, problem: Problem, columns: list[Column], settings: ScorecardSettings
) -> tuple[ScorecardResult, Pipeline]:
    names, y = [column.name for column in columns], problem.target.values
    training, validation = train_validation_split(problem.target, settings.validation, settings.seed)
    frames = [problem.frame[names].take(rows) for rows in (training, validation)]
    pdo, base_score, base_odds = settings.scale
    card = Scorecard(
        pdo=pdo,
        base_score=base_score,
        base_odds=base_odds,
        event=problem.target.positive,
        encoder=_encoder(columns, settings),
        positive=True,
        selection=settings.selection,
        criterion=settings.criterion,
    ).fit(frames[0], y[training])
    pipeline = Pipeline([("columns", TableColumns(names).fit(problem.frame)), ("model", card)])
    subject = prepare_subject(
        pipeline, frames[1], y[validation], (frames[0], y[training]), problem.target.name, problem.target.positive, None
    )
    strategy = card.strategy(frames[1], y[validation], gain=settings.money[0], loss=settings.money[1])
    trends = None
    if settings.time is not None:
        by = periods(problem.frame[settings.time].to_numpy())
        trends = trend_stability(card, problem.frame[names], y, by)
        terminal.add_note(*trends.verdicts)
    terminal.add_note(card.rounding_effect(frames[1], y[validation]).sentence)
    return ScorecardResult(card, subject, strategy, trends), pipeline


def _encoder(columns: list[Column], settings: ScorecardSettings) -> WoEEncoder:
    """The encoder: inferred kinds, with separate bins for named codes and for values that look like missing ones."""
    special: dict[str, Any] = {column.name: list(column.codes) for column in columns if column.codes}
    special |= _special_codes(settings.special)
    rules: dict[str, dict[str, Any]] = {
        column.name: {"kind": "numeric" if column.kind == "numeric" else "categorical"} for column in columns
    }
    unknown = [name for name in special if name not in rules]
    if unknown:
        raise InvalidParameter(_("--special {name}: the table has no such variable. Check the name.", name=unknown[0]))
    for name, codes in special.items():
        rules[name]["special_codes"] = codes
    for name, cuts in _read_cuts(settings.cuts, list(rules)).items():
        rules[name]["cuts"] = cuts
    return WoEEncoder(per_column=rules)


def _special_codes(given: tuple[str, ...]) -> dict[str, dict[str, list[Any]]]:
    """The special codes of each column; those of one option share a bin."""
    found: dict[str, dict[str, list[Any]]] = {}
    for text in given:
        ((name, codes),) = options.pairs("--special", [text]).items()
        listed = [code.strip() for code in codes.split(",") if code.strip()]
        found.setdefault(name, {})[", ".join(listed)] = [_number_or_text(code) for code in listed]
    return found


def _number_or_text(code: str) -> Any:
    try:
        return float(code)
    except ValueError:
        return code


def _read_cuts(path: Path | None, names: list[str]) -> dict[str, Any]:
    """Read manual bins."""
    if path is None:
        return {}
    try:
        cuts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InvalidFile(
            _("{file} cannot be read as JSON ({why}). Write it as {example}.", file=path, why=problem, example=_EXAMPLE)
        ) from problem
    if not isinstance(cuts, dict) or not all(isinstance(each, list) for each in cuts.values()):
        raise InvalidFile(
            _("{file} is no object of lists by column. Write it as {example}.", file=path, example=_EXAMPLE)
        )
    unknown = [name for name in cuts if name not in names]
    if unknown:
        raise InvalidFile(_("{file}: the table has no variable {name!r}. Check the name.", file=path, name=unknown[0]))
    return cuts


_EXAMPLE = '{"age": [25, 40], "housing": [["owns"], ["rents", "family"]]}'


def _metadata(problem: Problem, result: ScorecardResult, settings: ScorecardSettings) -> Metadata:
    samples = {"training": result.subject.fitted_on, "validation": result.subject.validation}
    return Metadata(
        task=problem.target.task,
        target=problem.target.name,
        model="scorecard",
        positive=problem.target.positive,
        costs=None,
        file=str(problem.source.path),
        sha256=file_digest(problem.source.path),
        rows=len(problem.frame),
        command=command_line(list(settings.arguments)),
        seed=settings.seed,
        validation=settings.validation,
        versions=versions(),
        measures={part: {"rows": sample.n, **evaluate_sample(sample, None)} for part, sample in samples.items()},
    )


def _write(
    pipeline: Pipeline, result: ScorecardResult, metadata: Metadata, settings: ScorecardSettings
) -> dict[str, Path]:
    folder = options.ensure_folder(settings.out)
    save(pipeline, folder / "model.skops")
    files = {"model": folder / "model.skops"}
    if settings.report:
        page = folder / "report.html"
        files["report"] = write_subject(
            page, result.subject, metadata.provenance(), current_language(), result.strategy, result.trends
        )
    return files


def _export(terminal: Terminal, card: Scorecard, table: str, folder: Path) -> dict[str, Path]:
    """Export the scorecard for review, for a database and for a spreadsheet."""
    writers: dict[str, Callable[[Path], object]] = {
        "json": lambda path: to_json(card, path=path),
        "sql": lambda path: to_sql(card, f'"{table}"', path=path),
        "xlsx": lambda path: to_excel(card, path),
    }
    files = {}
    for kind, write in writers.items():
        try:
            write(folder / f"scorecard.{kind}")
        except NotInstalled as problem:
            terminal.add_note(message_of(problem))
        else:
            files[kind] = folder / f"scorecard.{kind}"
    return files


def _taken(column: Column, problem: Problem, card: Scorecard) -> Column:
    """The column as the scorecard uses it: codes are not missing, but have their own bin."""
    codes = (card.encoder.per_column or {}).get(column.name, {}).get("special_codes")
    if not codes:
        return column
    shown = [f"{code:g}" if isinstance(code, float) else str(code) for code in codes]  # names, if the codes have them
    listed = ("; " if isinstance(codes, dict) else ", ").join(shown)
    why = Message("codes with a bin of their own: {codes}", codes=listed)
    return replace(column, why=why, missing=int(problem.frame[column.name].isna().sum()))


def _print(terminal: Terminal, problem: Problem, result: ScorecardResult) -> None:
    if not terminal.prints_text:
        return
    card, subject = result.card, result.subject
    terminal.print(columns_table([_taken(column, problem, card) for column in problem.columns], len(problem.frame)))
    terminal.print(
        terminal_table(card.selection_table(), leave_out=("test", "aic" if card.criterion == "bic" else "bic"))
    )
    terminal.print(terminal_table(card.points(), leave_out=("coef", "share")))
    terminal.add_note(*card.points().notes)
    samples = {_("training"): subject.fitted_on, _("validation"): subject.validation}
    measures = {part: evaluate_sample(sample, None) for part, sample in samples.items()}
    terminal.print(metrics_table(measures, {part: sample.n for part, sample in samples.items()}))
    terminal.print(terminal_table(result.strategy.table(10)))
    if result.strategy.gain is not None and result.strategy.loss is not None:
        best = result.strategy.by_profit()
        terminal.add_note(
            Message(
                "largest profit on the validation rows: approve from {score:g} points on ({rate:.1%} of all).",
                score=best.score,
                rate=best.approval_rate,
            )
        )


def _plain(result: ScorecardResult, files: dict[str, Path]) -> dict[str, Any]:
    card = result.card
    return {
        "variables": card.variables_,
        "base_points": card.base_points_,
        "points": card.points().rows(),
        "steps": card.selection_table().rows(),
        "training": evaluate_sample(result.subject.fitted_on, None),
        "validation": evaluate_sample(result.subject.validation, None),
        "cutoffs": result.strategy.table(10).rows(),
        "turned": [] if result.trends is None else result.trends.turned.rows(),
        "files": {name: str(file) for name, file in files.items()},
    }
