"""`hiperplano predict` for tables that are read in blocks of rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hiperplano.cli.options import ensure_folder
from hiperplano.cli.terminal import Terminal
from hiperplano.cli.workflow.metadata import load_with_metadata
from hiperplano.cli.workflow.scoring import predictions, refuse_unlike
from hiperplano.data.files import replacing
from hiperplano.data.stream.read_ahead import read_ahead
from hiperplano.errors import InvalidData, InvalidFile, InvalidParameter
from hiperplano.features.novelty import Novelty, novelty
from hiperplano.features.scanning.cells import nonfinite
from hiperplano.features.scanning.walking import Walk
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator
from hiperplano.tables.batches import BatchedTable, find_tables
from hiperplano.tables.reading import plain_column, to_frame

_ = translator("terminal")

_ROWS = 2**16
_AHEAD = 2
_MOST_NAMED = 6


@dataclass(frozen=True)
class Reading:
    """The user's options about the table.

    Attributes
    ----------
    strict : bool
        Whether to reject rows with anything that the fit did not see.
    keep : bool
        Whether to write the columns of the table, too.
    """

    separator: str | None
    decimal: str | None
    strict: bool
    keep: bool


def predict_stream(terminal: Terminal, model: Path, path: Path, out: Path, reading: Reading, reason: Message) -> None:
    """Score the rows of a table, and write them to a Parquet file block by block."""
    if out.suffix.lower() != ".parquet":
        raise InvalidParameter(
            _("--out {file}: rows that are read some at a time are written to a .parquet file.", file=out)
        )
    pipeline, metadata = load_with_metadata(model)
    tables = find_tables(path, (), reading.separator, reading.decimal)
    decided: Counter[str] = Counter()
    absent: dict[str, list[str]] = {}
    n = unlike = 0
    ensure_folder(out.parent)
    with replacing(out) as new, terminal.capture_warnings(), _Writer(new) as writer:
        walk = Walk.over(tables, _ROWS)
        for number, table in enumerate(tables):
            there = table.schema().names
            names = there if reading.keep else [name for name in pipeline[0].feature_names_in_ if name in there]
            start = 0
            with read_ahead(walk.chunks(number, names), _AHEAD) as chunks:
                for chunk in chunks:
                    plain = {name: plain_column(table.name, name, chunk.column(name)) for name in names}
                    frame = to_frame(pa.table(plain))
                    found, rows = _coded(pipeline, frame, table, start, reading.strict)
                    start += len(frame)
                    if found.missing_columns:
                        absent[table.name] = found.missing_columns
                    columns = predictions(pipeline[-1], rows, metadata)
                    columns["unlike the fit"] = [translate(flag) for flag in found.flags()]
                    if metadata.task == "classification":
                        decided.update(map(str, columns["prediction"].tolist()))
                    writer.write({**({name: chunk.column(name) for name in names} if reading.keep else {}), **columns})
                    n, unlike = n + len(frame), unlike + found.odd_rows
    terminal.add_note(reason, *_absent_notes(absent))
    if unlike:
        terminal.add_note(
            Message(
                "{n} of {all} rows ({share:.1%}) hold values or categories that the fit has not seen: check them",
                n=f"{unlike:,}",
                all=f"{n:,}",
                share=unlike / n,
            )
        )
    terminal.results = {"rows": n, "file": str(out), "decisions": dict(decided), "unlike_rows": unlike}
    terminal.print(_("{n} rows scored: {file}", n=f"{n:,}", file=out))
    for label, count in decided.items():
        terminal.print(f"  {label}: {count:,} ({count / n:.1%})")
    terminal.finish()


def _coded(pipeline: Any, frame: Any, table: BatchedTable, start: int, strict: bool) -> tuple[Novelty, Any]:
    """What is new in a block, and its coded rows; errors name the file and the row."""
    for name in frame.select_dtypes("floating"):
        if (infinite := np.isinf(frame[name].to_numpy())).any():
            raise nonfinite(name, True, start + int(np.flatnonzero(infinite)[0]), table)
    try:
        found = novelty(pipeline[0], frame)
        refuse_unlike(found, Path(table.name), strict)
        return found, pipeline[:-1].transform(frame.assign(**dict.fromkeys(found.missing_columns, None)))
    except InvalidData as problem:
        told = getattr(problem.args[0], "fields", {})
        if not {"name", "value", "row", "expected"} <= set(told):
            raise
        raise InvalidFile(
            "{file}: column {name!r} holds {value!r} (row {row}); the model knows {expected} in it. Correct the file, "
            "or fit the model again.",
            file=table.name,
            name=told["name"],
            value=told["value"],
            row=start + told["row"],
            expected=told["expected"],
        ) from problem


def _absent_notes(absent: dict[str, list[str]]) -> list[Message]:
    """A note for each of the first files that lack columns."""
    return [
        Message(
            "{file}: columns that the model needs are not there and were taken as missing in every row: {names}",
            file=file,
            names=", ".join(names[:_MOST_NAMED]),
        )
        for file, names in list(absent.items())[:_MOST_NAMED]
    ]


class _Writer:
    """A Parquet file with the columns of the first block."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_problem: Any) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, columns: dict[str, Any]) -> None:
        """Add rows."""
        table = pa.table(columns)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))
