"""Readers of batches for each file format."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from hiperplano.errors import InvalidFile
from hiperplano.messages import Message
from hiperplano.tables.batches.table import RowsByColumn, TableFile, from_row
from hiperplano.tables.reading import ReadErrors
from hiperplano.tables.text import MISSING, look_at_text, parse_error_message

_BUFFER = 2**18  # bytes of each column that are read at a time, whatever the size of a row group
_TEXT_BLOCK = 2**22


@dataclass(frozen=True)
class ParquetTable(TableFile):
    """A Parquet file. Pages are decoded on demand, so that row groups may be larger than memory."""

    by_column = True

    def _own_schema(self) -> pa.Schema:
        return self._schema

    @cached_property
    def _schema(self) -> pa.Schema:
        with self.reading() as stream:
            return pq.read_schema(stream)

    def groups(self) -> Sequence[int]:
        return self._groups

    @cached_property
    def _groups(self) -> tuple[int, ...]:
        with self.reading() as stream:
            found = pq.read_metadata(stream)
            return tuple(found.row_group(group).num_rows for group in range(found.num_row_groups))

    def is_complete(self, columns: Sequence[str]) -> bool:
        own = {name for name in columns if name in self._schema.names}
        with self.reading() as stream:
            found = pq.read_metadata(stream)
            places = [place for place in range(found.num_columns) if found.schema.column(place).path in own]
            return len(places) == len(own) and all(
                _has_no_nulls(found.row_group(group).column(place), found.schema.column(place).max_definition_level)
                for group in range(found.num_row_groups)
                for place in places
            )

    def rows_of_groups(self, columns: Sequence[str], spans: Iterable[range]) -> Iterator[RowsByColumn]:
        with self.reading() as stream:
            file = pq.ParquetFile(stream, read_dictionary=self._texts(columns), pre_buffer=False)
            for span in spans:
                yield RowsByColumn(
                    sum(self._groups[group] for group in span), columns, partial(self._column_of, file, span)
                )

    def _column_of(self, file: pq.ParquetFile, span: range, name: str) -> pa.ChunkedArray:
        if name in self.partition and name not in self._schema.names:
            n_rows = sum(self._groups[group] for group in span)
            return pa.chunked_array([pa.repeat(pa.scalar(self.partition[name]), n_rows)])
        with ReadErrors(Path(self.name)):
            return file.read_row_groups(list(span), columns=[name], use_threads=False).column(name)

    def _texts(self, columns: Sequence[str]) -> list[str]:
        return [each.name for each in self._schema if each.name in columns and _is_text(each.type)]

    def _own_batches(self, columns: list[str], rows: int, skip: int, parallel: bool) -> Iterator[pa.RecordBatch]:
        with self.reading() as stream:
            # Pre-buffering, pyarrow's default, would hold the whole file.
            file = pq.ParquetFile(stream, read_dictionary=self._texts(columns), buffer_size=_BUFFER, pre_buffer=False)
            groups = list(range(file.metadata.num_row_groups))
            while groups and skip >= (size := file.metadata.row_group(groups[0]).num_rows):
                skip -= size
                del groups[0]
            batches = (
                file.iter_batches(rows, row_groups=groups, columns=columns, use_threads=parallel) if groups else ()
            )
            for batch in from_row(batches, skip):
                yield batch.select(columns)


@dataclass(frozen=True)
class ArrowTable(TableFile):
    """An Arrow or Feather file, or an Arrow stream in a file."""

    def _own_schema(self) -> pa.Schema:
        with self.reading() as stream:
            return _arrow_reader(stream).schema

    def _own_batches(self, columns: list[str], rows: int, skip: int, parallel: bool) -> Iterator[pa.RecordBatch]:
        with self.reading() as stream:
            reader = _arrow_reader(stream)
            if hasattr(reader, "get_batch"):
                found: Any = (reader.get_batch(number) for number in range(reader.num_record_batches))
            else:
                found = reader
            for batch in from_row(found, skip):
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows).select(columns)


@dataclass(frozen=True)
class TextTable(TableFile):
    """A text table. Column types are inferred from its first rows; integers may become floats later.

    Attributes
    ----------
    as_they_are : tuple of str
        Columns whose integers stay integers: labels.
    separator, decimal : str or None
        None: detected from the beginning of the file.
    """

    as_they_are: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str | None = None

    @cached_property
    def _look(self) -> tuple[str | None, Any, list[str]]:
        return look_at_text(Path(self.name), self.separator, self.decimal)

    @cached_property
    def _schema(self) -> pa.Schema:
        with self._open({}) as reader:
            found = reader.schema
            has_rows = any(batch.num_rows for batch in reader)
        for place, each in enumerate(found):
            whole = pa.types.is_integer(each.type) and each.name not in self.as_they_are
            if whole or (pa.types.is_null(each.type) and has_rows):
                found = found.set(place, pa.field(each.name, pa.float64()))
        return found

    def _own_schema(self) -> pa.Schema:
        return self._schema

    def _own_batches(self, columns: list[str], rows: int, skip: int, parallel: bool) -> Iterator[pa.RecordBatch]:
        with self._open({each.name: each.type for each in self._schema}) as reader:
            for batch in from_row(reader, skip):
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows).select(columns)

    @contextmanager
    def _open(self, types: dict[str, pa.DataType]) -> Iterator[Any]:
        """The reader of its rows; errors name the row."""
        try:
            with self._reader(types) as reader:
                yield reader
        except (pa.ArrowInvalid, OSError) as problem:
            raise InvalidFile(self._complaint(_first_line(problem))) from problem

    @contextmanager
    def _reader(self, types: dict[str, pa.DataType], threads: bool = True) -> Iterator[Any]:
        compression, dialect, names = self._look
        named: dict[str, Any] = {"column_names": ["", *names]} if dialect.unnamed_rows else {}
        with pa.input_stream(self.name, compression=compression) as stream:
            yield arrow_csv.open_csv(
                stream,
                arrow_csv.ReadOptions(
                    use_threads=threads,
                    encoding=dialect.encoding,
                    block_size=_TEXT_BLOCK,
                    skip_rows=dialect.skipped + bool(named),
                    **named,
                ),
                arrow_csv.ParseOptions(delimiter=dialect.separator),
                arrow_csv.ConvertOptions(
                    column_types=types or dict.fromkeys(dialect.codes, pa.string()),
                    decimal_point=dialect.decimal,
                    null_values=MISSING,
                    strings_can_be_null=True,
                ),
            )

    def _complaint(self, why: str) -> str:
        found = re.search(r"In CSV column #(\d+): .*?conversion error to (\w+): invalid value '(.*)'", why)
        if not found:
            return parse_error_message(Path(self.name), self._counted(why), self._look[1])
        column = self._schema.names[int(found[1])]
        row, value = self._first_odd_cell(column, found[2])
        return self._odd_cell(column, value or found[3], row, found[2])

    def _counted(self, why: str) -> str:
        """The same error with the number of the row, which Arrow counts only without threads."""
        try:
            with self._reader({}, threads=False) as reader:
                deque(reader, maxlen=0)
        except (pa.ArrowInvalid, OSError) as problem:
            return _first_line(problem)
        return why

    def odd_cell(self, column: str, kind: pa.DataType) -> Message | None:
        row, value = self._first_odd_cell(column, str(kind))
        return self._odd_cell(column, value, row, str(kind)) if value else None

    def _odd_cell(self, column: str, value: str, row: int, kind: str) -> Message:
        return Message(
            "{file}: column {name!r} holds {value!r} (row {row}), and the first rows hold {kind}. Correct the cell, or "
            "write the table as Parquet, which knows the types of its columns.",
            file=self.name,
            name=column,
            value=value,
            row=row,
            kind=kind,
        )

    def _first_odd_cell(self, column: str, kind: str) -> tuple[int, str]:
        """The row, counted from 1, and the text of the first cell that cannot be converted."""
        row = 0
        with self._open({each.name: pa.string() for each in self._schema}) as reader:
            for batch in reader:
                for text in batch.column(column).to_pylist():
                    row += 1
                    if text is not None and not _converts(text, kind):
                        return row, text
        return row, ""


def _has_no_nulls(cells: Any, definition_level: int) -> bool:
    """Whether the footer of a file states that a column of a row group has no nulls."""
    told = cells.statistics
    return definition_level == 0 or (told is not None and told.has_null_count and told.null_count == 0)


def _first_line(problem: Exception) -> str:
    return str(problem).splitlines()[0].rstrip(".")


def _converts(text: str, kind: str) -> bool:
    try:
        pa.array([text]).cast(pa.type_for_alias(kind.split("[")[0]))
    except (pa.ArrowInvalid, ValueError):
        return False
    return True


def _arrow_reader(stream: Any) -> Any:
    start = stream.read(6)
    stream.seek(0)
    return pa.ipc.open_file(stream) if start == b"ARROW1" else pa.ipc.open_stream(stream)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
