"""Reading of files as columns: text tables, Excel, Parquet, Arrow and Feather, detected by their first bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.errors import InvalidFile
from hiperplano.messages import Message
from hiperplano.tables.dates import as_dates
from hiperplano.tables.dialect import Dialect
from hiperplano.tables.excel import is_excel, read_excel
from hiperplano.tables.numbers import as_numbers
from hiperplano.tables.text import MOST_WORDS, read_csv

_HEAD = 2**12


@dataclass(frozen=True)
class Source:
    """Source of a table.

    Attributes
    ----------
    form : str
        "csv", "excel", "parquet" or "arrow".
    dialect : Dialect or None
        Dialect of a text table.
    reading_notes : tuple of str
        How ambiguous numbers were read.
    """

    path: Path
    form: str
    dialect: Dialect | None = None
    reading_notes: tuple[str, ...] = ()


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    drop: Collection[str] = (),
    only: Collection[str] = (),
) -> tuple[pa.Table, Source]:
    """The columns of a file: numbers, dates, and dictionary-encoded texts.

    Parameters
    ----------
    path : str or Path
        A text table (also compressed with gzip, bzip2 or zstd), an Excel, Parquet, Arrow or Feather file.
    separator, decimal : str, optional
        Format of a text table; detected from its beginning by default.
    sheet : str, optional
        Sheet of a workbook; the first by default.
    drop : collection of str
        Columns to drop.
    only : collection of str
        Columns to keep, if not all.
    """
    path = Path(path)
    form = file_format(path)
    found = form.read(path, separator, decimal, sheet)
    table, notes = _without_row_numbers(found.table)
    _check_names(path, table.column_names)
    unknown = [name for name in (*drop, *only) if name not in table.column_names]
    if unknown:
        raise InvalidFile(no_such_column(path, unknown[0], table.column_names))
    kept = [name for name in table.column_names if name not in drop and (not only or name in only)]
    table = table.select(kept)
    if not table.num_rows:
        raise InvalidFile(
            "{file} holds names of columns but no rows; a table needs rows. Check how it was written.", file=path
        )
    columns = {name: _normalise_column(path, name, table.column(name)) for name in table.column_names}
    notes += () if found.dialect is None else tuple(_read_numbers(columns, found.dialect))
    return pa.table(columns), Source(path, form.name, found.dialect, (*found.notes, *notes))


def _without_row_numbers(table: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """Drop a first column without a name that numbers the rows, as written by pandas and R."""
    if not table.num_columns or table.column_names[0].strip():
        return table, ()
    first = table.column(0)
    if first.null_count or len(pc.unique(first)) < len(first):
        return table, ()
    note = Message(
        "The first column has no name and another value in each row ({value!r}, …): row names, which were left out.",
        value=first[0].as_py(),
    )
    return table.remove_column(0), (note,)


def _read_numbers(columns: dict[str, pa.ChunkedArray], dialect: Dialect) -> Iterator[str]:
    """Replace texts that are numbers; yield notes about doubtful cases.

    Only for text tables: other formats have types.
    """
    for name, column in columns.items():
        if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
            found = as_numbers(name, column, dialect.decimal if dialect.sure else None)
            columns[name] = column if found.values is None else found.values
            if found.note:
                yield found.note
        elif name in dialect.ambiguous and pa.types.is_floating(column.type):
            yield Message(
                "Column {name!r}: {example} was read as a number below a thousand. If the sign in it separates "
                "thousands, "
                "give --decimal {other!r}.",
                name=name,
                example=dialect.ambiguous[name],
                other="," if dialect.decimal == "." else ".",
            )


class _Contents(NamedTuple):
    """Contents of a file; `dialect` is set if its texts may be numbers."""

    table: pa.Table
    dialect: Dialect | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileFormat:
    """A file format, and its reader."""

    name: str
    read: Callable[[Path, str | None, str | None, str | None], _Contents]


def file_format(path: Path) -> FileFormat:
    """The format of a file, by its first bytes."""
    if path.is_dir():
        raise InvalidFile("{file} is a folder; one file is needed. Name a file in it.", file=path)
    if not path.exists():
        raise InvalidFile("{file}: there is no such file. Check the path.", file=path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as problem:
        raise InvalidFile(
            "{file} cannot be read ({why}). Check who may read it.", file=path, why=problem.strerror
        ) from problem
    if not head.strip():
        raise InvalidFile("{file} is empty; a table needs names of columns and rows. Check the file.", file=path)
    if head.startswith(b"PAR1"):
        return FileFormat("parquet", _read_parquet)
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return FileFormat("arrow", _read_arrow)
    if head.startswith(b"PK\x03\x04"):
        if is_excel(path):
            return FileFormat("excel", _read_excel)
        raise InvalidFile("{file} is a zip archive; a table is needed. Unpack it, and name the file in it.", file=path)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise InvalidFile("{file} is an Excel file of the old kind (.xls). Save it as .xlsx or CSV.", file=path)
    return FileFormat("csv", _read_csv)


def _read_csv(path: Path, separator: str | None, decimal: str | None, _sheet: str | None) -> _Contents:
    return _Contents(*read_csv(path, separator, decimal))


def _read_excel(path: Path, _separator: str | None, decimal: str | None, sheet: str | None) -> _Contents:
    table, notes = read_excel(path, sheet)
    # Numbers in a workbook are typed; those typed as text determine their own decimal mark.
    return _Contents(table, Dialect("", decimal or ".", "", sure=decimal is not None), tuple(notes))


def _read_parquet(path: Path, *_options: str | None) -> _Contents:
    import pyarrow.parquet as pq

    with ReadErrors(path):
        schema = pq.read_schema(path)
        texts = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        return _Contents(pq.read_table(path, read_dictionary=texts))


def _read_arrow(path: Path, *_options: str | None) -> _Contents:
    with ReadErrors(path), pa.memory_map(str(path)) as source:
        start = source.read(6)
        source.seek(0)
        reader = pa.ipc.open_file(source) if start == b"ARROW1" else pa.ipc.open_stream(source)
        return _Contents(reader.read_all())


class ReadErrors:
    """Context that reports files that pyarrow cannot read as damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        if isinstance(problem, FileNotFoundError):
            raise InvalidFile(
                "{file} is not there any longer; a file that is read in every pass must stay. Put it back.",
                file=self._path,
            ) from problem
        if isinstance(problem, pa.ArrowException | OSError) and not isinstance(problem, MemoryError):
            first = str(problem).splitlines()[0]
            raise InvalidFile(
                "{file} is damaged: {why}. Write or copy it again.", file=self._path, why=first.rstrip(".")
            ) from problem


def _check_names(path: Path, names: list[str]) -> None:
    empty = [str(place) for place, name in enumerate(names, 1) if not name.strip()]
    if empty:
        raise InvalidFile(
            "{file}: column {places} has no name; every column needs one. Write a name into the first row, or "
            "write the table without row numbers (pandas: index=False).",
            file=path,
            places=", ".join(empty[:5]),
        )
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        places = [str(place) for place, name in enumerate(names, 1) if name == twice[0]]
        raise InvalidFile(
            "{file}: {n} columns are called {name!r} (columns {places}); names must differ. Rename them.",
            file=path,
            n=len(places),
            name=twice[0],
            places=", ".join(places),
        )


def no_such_column(path: Path, name: str, names: list[str]) -> str:
    """The message, with similar names.

    Parameters
    ----------
    name : str
        The requested name.
    names : list of str
        Existing names.
    """
    from difflib import get_close_matches

    near = get_close_matches(name, names, 3, 0.6) or [each for each in names if each.lower() == name.lower()]
    return Message(
        "{file} has no column {name!r}; it has {names}. Check the name.",
        file=path,
        name=name,
        names=", ".join(map(repr, near)) if near else ", ".join(map(repr, names[:8])) + (" …" if names[8:] else ""),
    )


def _normalise_column(path: Path, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as numbers, dates, or dictionary-encoded text."""
    plain = plain_column(path, name, column)
    if pa.types.is_dictionary(plain.type) or pa.types.is_string(plain.type):
        return plain if pa.types.is_boolean(column.type) else _text_or_dates(plain)
    return plain


def plain_column(path: str | Path, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as numbers, timestamps, or dictionary-encoded text, by its type in the file; texts are not parsed."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        words_of = kind.value_type
        if pa.types.is_string(words_of) or pa.types.is_large_string(words_of):
            return column.unify_dictionaries()
        return plain_column(path, name, column.cast(words_of))
    if pa.types.is_boolean(kind):
        return column.cast(pa.string()).dictionary_encode()
    if pa.types.is_floating(kind):
        column = column.cast(pa.float64()) if pa.types.is_float16(kind) else column
        lost = pc.is_nan(column)  # NumPy and polars write NaN for a missing value
        return pc.if_else(lost, pa.scalar(None, column.type), column) if pc.any(lost).as_py() else column
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        ticks = column.cast(pa.int32() if getattr(kind, "bit_width", 64) == 32 else pa.int64())
        return pc.divide(ticks.cast(pa.float64()), float(_per_second(kind.unit)))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        coded = column.cast(pa.string()).dictionary_encode()
        few = not coded.num_chunks or len(coded.chunk(0).dictionary) <= MOST_WORDS
        return coded if few else column.cast(pa.string())
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return column
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us"))
    raise InvalidFile(
        "{file}: column {name!r} holds {kind}; a cell must be a number, a date or a text. Leave the column out "
        "with --drop {name}.",
        file=path,
        name=name,
        kind=str(kind),
    )


def _text_or_dates(column: pa.ChunkedArray) -> pa.ChunkedArray:
    dates = as_dates(column)
    return column if dates is None else dates


def _per_second(unit: str) -> int:
    return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]


def to_frame(table: pa.Table) -> Any:
    """The columns as a pandas frame; memory is shared if possible."""
    return table.unify_dictionaries().to_pandas(split_blocks=True, date_as_object=False)
