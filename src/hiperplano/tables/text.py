"""Text tables, read by pyarrow in threads."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from hiperplano.errors import InvalidFile
from hiperplano.messages import Message
from hiperplano.tables.dialect import SEPARATORS, Dialect, decode_sample, sniff

_HEAD = 2**16
MOST_WORDS = 10_000
"""Number of distinct texts up to which a column is dictionary-encoded."""
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_SHEET_ERRORS = (
    "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#N/A", "#N/D", "#¡DIV/0!", "#¿NOMBRE?", "#¡NULO!",
    "#¡NUM!", "#¡REF!", "#¡VALOR!",
)  # fmt: skip
MISSING = ["", *_SHEET_ERRORS, "<NA>", "?", "N/A", "NA", "NULL", "NaN", "NaT", "None", "n/a", "nan", "null"]
"""Texts that stand for a missing value: of databases and programs, and errors of spreadsheets in two languages."""
_FURTHER = 2**18  # bytes in the middle and at the end of a file that are searched for codes


def read_csv(path: Path, separator: str | None, decimal: str | None) -> tuple[pa.Table, Dialect]:
    """The columns of a text table, and its format.

    Parameters
    ----------
    path : Path
        Path of the file, which may be compressed.
    separator, decimal : str or None
        None: detected from the beginning of the file.
    """
    compression, dialect, names = look_at_text(path, separator, decimal)
    own = names if dialect.unnamed_rows else None
    table = _read(path, compression, dialect, own)
    if any(_is_binary(column.type) for column in table.columns):  # there are characters outside UTF-8 further down
        dialect = replace(dialect, encoding="cp1252")
        table = _read(path, compression, dialect, own)
    return _strip_whitespace(table), dialect


def look_at_text(path: Path, separator: str | None, decimal: str | None) -> tuple[str | None, Dialect, list[str]]:
    """Compression and format of a text table, and the names of its columns, from its beginning."""
    compression = _compression(path)
    try:
        with pa.input_stream(str(path), compression=compression) as stream:
            head = stream.read(_HEAD)
    except OSError as problem:
        raise InvalidFile(
            "{file} is damaged: {why}. Write or copy it again.", file=path, why=str(problem).rstrip(".")
        ) from problem
    if not head.strip():
        raise InvalidFile("{file} is empty; a table needs names of columns and rows. Check the file.", file=path)
    if b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidFile(
            "{file} is a binary file of unknown kind (byte {place} is 0); CSV, Parquet, Arrow and Feather can be "
            "read. Save it as one of these.",
            file=path,
            place=head.index(b"\x00") + 1,
        )
    dialect = sniff(head, separator, decimal, b"" if compression else _further(path))
    return compression, dialect, _check_header(path, head, dialect)


def _further(path: Path) -> bytes:
    """Parts of the middle and of the end of a large file."""
    size = path.stat().st_size
    if size <= _HEAD:
        return b""
    with path.open("rb") as file:
        file.seek(max(_HEAD, size // 2))
        middle = file.read(_FURTHER)
        file.seek(max(_HEAD, size - _FURTHER))
        return b"\n".join([middle[: middle.rfind(b"\n") + 1], file.read()])


def _strip_whitespace(table: pa.Table) -> pa.Table:
    """Strip spaces around names and texts, and drop empty columns caused by separators at line ends."""
    table = table.rename_columns([name.strip() for name in table.column_names])
    named = [k for k, name in enumerate(table.column_names) if name or not pa.types.is_null(table.column(k).type)]
    table = table.select(named)
    for k, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
            words_of = [chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk for chunk in column.chunks]
            if any(pc.any(pc.match_substring_regex(each, r"^\s|\s$")).as_py() for each in words_of):
                texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
                texts = pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts)
                coded = pa.types.is_dictionary(column.type)
                table = table.set_column(k, table.column_names[k], texts.dictionary_encode() if coded else texts)
    return table


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _compression(path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(4)
    return next((name for mark, name in _PACKED.items() if start.startswith(mark)), None)


def _read(path: Path, compression: str | None, dialect: Dialect, names: list[str] | None = None) -> pa.Table:
    given = (
        {"column_names": ["", *names], "skip_rows": dialect.skipped + 1} if names else {"skip_rows": dialect.skipped}
    )
    options = {
        "read_options": arrow_csv.ReadOptions(encoding=dialect.encoding, block_size=2**22, **given),
        "parse_options": arrow_csv.ParseOptions(delimiter=dialect.separator),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(dialect.codes, pa.string()),
            decimal_point=dialect.decimal,
            null_values=MISSING,
            strings_can_be_null=True,
            auto_dict_encode=True,
            auto_dict_max_cardinality=MOST_WORDS,
        ),
    }
    try:
        if compression is None:
            return arrow_csv.read_csv(str(path), **options)
        with pa.input_stream(str(path), compression=compression) as stream:
            return arrow_csv.read_csv(stream, **options)
    except pa.ArrowInvalid as problem:
        raise InvalidFile(parse_error_message(path, str(problem), dialect)) from problem
    except OSError as problem:
        raise InvalidFile(
            "{file} is damaged: {why}. Write or copy it again.", file=path, why=str(problem).rstrip(".")
        ) from problem


def parse_error_message(path: Path, complaint: str, dialect: Dialect) -> str:
    """A readable message for a text table that pyarrow cannot read."""
    found = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", complaint)
    if not found:
        return Message("{file} cannot be read as a table: {why}.", file=path, why=complaint.splitlines()[0].rstrip("."))
    where = Message("row {row}", row=found[1]) if found[1] else Message("one row ({text})", text=_quoted(complaint))
    return Message(
        "{file}: {where} has {found} cells, the first row {expected}; all rows need the same number. Cells were "
        "separated at {separator}: if that is wrong, give --separator; otherwise correct the row, with quotes "
        "around text "
        "that holds the separator.",
        file=path,
        where=where,
        found=found[3],
        expected=found[2],
        separator=repr(dialect.separator),
    )


def _quoted(complaint: str) -> str:
    return complaint.rsplit(": ", 1)[-1].strip()[:60]


def _check_header(path: Path, head: bytes, dialect: Dialect) -> list[str]:
    """Check that the first line has names."""
    lines = [line for line in decode_sample(head, dialect.encoding).splitlines() if line.strip()]
    first = "".join(lines[dialect.skipped : dialect.skipped + 1])
    names = [name.strip().strip('"') for name in first.split(dialect.separator)]
    if len(names) == 1:
        others = [sign for sign in (*SEPARATORS, ":", " ") if sign != dialect.separator and sign in first]
        hint = (
            Message("--separator {sign} may be right", sign=repr(others[0]))
            if others
            else Message("give it with --separator")
        )
        raise InvalidFile(
            "{file}: one column was found, called {name!r}, with cells separated at {separator}; a target and at "
            "least one other column are needed. If the table has more columns, the separator is wrong: {hint}; "
            "or the line with their names is not the first: remove those above it.",
            file=path,
            name=first[:60],
            separator=repr(dialect.separator),
            hint=hint,
        )
    if all(_is_number(name, dialect.decimal) for name in names):
        raise InvalidFile(
            "{file}: the first row holds numbers only ({row}); it must hold the names of the columns. Write a row "
            "of names above it.",
            file=path,
            row=first[:60],
        )
    return names


def _is_number(text: str, decimal: str) -> bool:
    try:
        float(text.replace(decimal, "."))
    except ValueError:
        return False
    return True
