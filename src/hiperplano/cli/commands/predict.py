"""`hiperplano predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hiperplano.cli import options
from hiperplano.messages.catalogue import translator

_ = translator("terminal")


def predict(
    model: Annotated[Path, options.model_file()],
    file: Annotated[Path, options.tables()],
    out: Annotated[
        Path,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help=_("Where to write: .csv, .xlsx, .parquet or .arrow."),
            show_default=False,
        ),
    ],
    strict: Annotated[
        bool, Option("--strict", help=_("Refuse a table with values, categories or columns unlike those of the fit."))
    ] = False,
    keep: Annotated[bool, Option("--keep", help=_("Also write the columns of the table."))] = False,
    raw: Annotated[
        bool, Option("--raw", help=_("Write text to .csv as it is, also what spreadsheets would run as formulas."))
    ] = False,
    separator: Annotated[str | None, options.separator()] = None,
    decimal: Annotated[str | None, options.decimal()] = None,
    sheet: Annotated[str | None, options.sheet()] = None,
    stream: Annotated[bool, options.stream()] = False,
    json: Annotated[bool, options.as_json()] = False,
    quiet: Annotated[bool, options.quiet()] = False,
    lang: Annotated[str | None, options.language()] = None,
    debug: Annotated[bool, options.debug()] = False,
) -> None:
    """Score the rows of a table."""
    options.one_of("--out", out.suffix.lower(), (".csv", ".xlsx", ".parquet", ".arrow", ".feather"))
    import numpy as np

    from hiperplano.cli.terminal import Terminal
    from hiperplano.cli.workflow.scoring import score_table
    from hiperplano.cli.workflow.streaming.choosing import reason_to_stream
    from hiperplano.cli.writing import write_table
    from hiperplano.messages import translate
    from hiperplano.report.number_format import count, percent

    terminal = Terminal(json, quiet)
    reason = reason_to_stream(file, stream)
    if reason is not None:
        from hiperplano.cli.workflow.streaming.scoring import Reading, predict_stream

        predict_stream(terminal, model, file, out, Reading(separator, decimal, strict, keep), reason)
        return
    with terminal.progress_bar(_("scoring")), terminal.capture_warnings():
        scored = score_table(model, file, separator=separator, decimal=decimal, sheet=sheet, strict=strict)
        terminal.add_note(*scored.notes)
        columns = predictions(scored.model, scored.rows, scored.metadata)
        columns["unlike the fit"] = [translate(flag) for flag in scored.novelty.flags()]
        options.ensure_folder(out.parent)
        given = [name for name in scored.frame if name not in scored.novelty.missing_columns] if keep else []
        write_table(out, {**{name: scored.frame[name] for name in given}, **columns}, raw=raw)
    n = len(scored.frame)
    labels, counts = np.unique(columns["prediction"], return_counts=True)
    decided = (
        dict(zip(labels.tolist(), counts.tolist(), strict=True)) if scored.metadata.task == "classification" else {}
    )
    terminal.results = {
        "rows": n,
        "file": str(out),
        "decisions": decided,
        "unlike": {each.column: int(each.rows.sum()) for each in scored.novelty.oddities},
        "unlike_rows": scored.novelty.odd_rows,
        "missing_columns": scored.novelty.missing_columns,
    }
    terminal.print(_("{n:,} rows scored: {file}", n=n, file=out))
    for label, times in decided.items():
        terminal.print(f"  {label}: {count(times).text} ({percent(times / n).text})")
    terminal.finish()


def predictions(model: Any, rows: Any, metadata: Any) -> dict[str, Any]:
    """The decision or number for each row, and what it rests on: a probability for each class, or a score.

    Parameters
    ----------
    rows : ndarray
        As the model takes them.

    Returns
    -------
    dict of str to ndarray
        Columns to write, by name.
    """
    columns: dict[str, Any] = {"prediction": model.predict(rows)}
    if metadata.task == "regression":
        return columns
    if hasattr(model, "score_points"):
        columns["points"] = model.score_points(rows)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(rows)
        return columns | {f"probability {label}": shares[:, k] for k, label in enumerate(model.classes_.tolist())}
    scores = model.decision_function(rows)
    if scores.ndim == 1:
        flipped = metadata.positive == model.classes_.tolist()[0]
        return columns | {f"score {metadata.positive}": -scores if flipped else scores}
    return columns | {f"score {label}": scores[:, k] for k, label in enumerate(model.classes_.tolist())}
