"""The dialect of a text table: encoding, field separator, decimal mark."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass, field

SEPARATORS = (",", ";", "\t", "|")
_DECIMALS = {
    ".": re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(,\d{3})+)\.\d+|[-+]?[1-9]\d{0,2}(,\d{3}){2,}"),
    ",": re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+|[-+]?[1-9]\d{0,2}(\.\d{3}){2,}"),
}
"""Numbers that tell the sign of decimals, by having some or by having thousands separated by the other sign."""
_AMBIGUOUS = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}")  # 1.234 may be a thousand times as large as it looks
_AROUND = " $€£%"
_TOLD = re.compile(r'"?sep=(\\t|.)"?', re.IGNORECASE)
_CODE = re.compile(r"0\d+")


@dataclass(frozen=True)
class Dialect:
    """What must be known to read a text table.

    Attributes
    ----------
    decimal : str
        The sign before decimals, "." or ",".
    encoding : str
        By Python's name.
    sure : bool
        Whether the sign of decimals was given, or told by numbers that can be read in one way only.
    ambiguous : dict of str to str
        Columns whose numbers may be a thousand times as large as they look, each with one of them.
    skipped : int
        Lines before the names: spreadsheets write `sep=;` there.
    unnamed_rows : bool
        Whether rows begin with a cell that has no name above it, as R's `write.table` writes their names.
    codes : tuple of str
        Columns of whole numbers of which some begin with 0: postcodes and the like, which are no amounts.
    """

    separator: str
    decimal: str
    encoding: str
    sure: bool = True
    ambiguous: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    unnamed_rows: bool = False
    codes: tuple[str, ...] = ()


def sniff(sample: bytes, separator: str | None = None, decimal: str | None = None, further: bytes = b"") -> Dialect:
    """The dialect of the beginning of a file; what is given is not guessed.

    Parameters
    ----------
    further : bytes
        From other parts of the file, where codes are looked for too.
    """
    encoding = detect_encoding(sample)
    lines = _whole_lines(decode_sample(sample, encoding))
    told = _TOLD.fullmatch(lines[0].strip()) if lines else None
    lines = lines[1:] if told else lines
    separator = separator or (told[1].replace("\\t", "\t") if told else _separator(lines[:200]))
    names, *rows = list(csv.reader(lines[:200], delimiter=separator)) or [[]]
    unnamed_rows = bool(rows) and all(len(row) == len(names) + 1 for row in rows) and len(names) > 1
    names = ["", *names] if unnamed_rows else names
    more = csv.reader(lines[200:] + _whole_lines(decode_sample(further, encoding))[1:], delimiter=separator)
    codes = _code_columns(names, [*rows, *more])
    rows = [[cell.strip(_AROUND) for cell in row] for row in rows]
    sure, ambiguous = True, {}
    if not decimal:
        decimal, sure = _decimal([cell for row in rows for cell in row], separator)
        ambiguous = {} if sure else _ambiguous_columns(names, rows, decimal)
    return Dialect(separator, decimal, encoding, sure, ambiguous, int(bool(told)), unnamed_rows, codes)


def _whole_lines(text: str) -> list[str]:
    """Lines that are not empty, as they are read; the last is left out where it may be cut."""
    lines = text.splitlines()
    if len(lines) > 2 and not text.endswith(("\n", "\r")):
        lines = lines[:-1]
    return [line for line in lines if line.strip()]


def _code_columns(names: list[str], rows: list[list[str]]) -> tuple[str, ...]:
    found: set[int] = set()
    for row in rows:
        if len(row) == len(names):
            found.update(j for j, cell in enumerate(row) if _CODE.fullmatch(cell.strip()))
    return tuple(names[j] for j in sorted(found))


def detect_encoding(sample: bytes) -> str:
    """By its byte-order mark; else UTF-8 where that can be, and otherwise the Latin one of Windows.

    Returns
    -------
    str
        Python's name of it.
    """
    for mark, name in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if sample.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # a letter cut at the end is no fault
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode_sample(sample: bytes, encoding: str) -> str:
    """The text of a sample whose last letter may be cut."""
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample)
    return text.removeprefix("\ufeff")


def _separator(lines: list[str]) -> str:
    """The sign that cuts most lines into the same number of cells, above one; of several the one with most cells."""
    best, found = (0.0, 0), ","
    for candidate in SEPARATORS:
        widths = [len(cells) for cells in csv.reader(lines, delimiter=candidate) if cells]
        if not widths:
            continue
        width, agreeing = Counter(widths).most_common(1)[0]
        # The header counts: a comma inside numbers cuts rows evenly, but not the names above them.
        rank = (round(agreeing / len(widths), 1) * (widths[0] == width), width)
        if width > 1 and rank > best:
            best, found = rank, candidate
    return found


def _decimal(cells: list[str], separator: str) -> tuple[str, bool]:
    """A comma where some cells are numbers with a comma and none is a number with a point; and whether that is sure."""
    plain = [cell for cell in cells if not _AMBIGUOUS.fullmatch(cell)]
    points, commas = (any(form.fullmatch(cell) for cell in plain) for form in (_DECIMALS["."], _DECIMALS[","]))
    if points or commas:
        return "." if points else ",", points != commas
    ambiguous = {"," if "," in cell else "." for cell in cells if _AMBIGUOUS.fullmatch(cell)}
    # Where the comma parts cells, one within a number rather parts its thousands.
    return "," if ambiguous == {","} and separator != "," else ".", False


def _ambiguous_columns(names: list[str], rows: list[list[str]], decimal: str) -> dict[str, str]:
    """Columns of numbers that all have three decimals, or none and three digits."""
    found = {}
    for name, *cells in zip(names, *(row for row in rows if len(row) == len(names)), strict=True):
        marked = [cell for cell in cells if _AMBIGUOUS.fullmatch(cell) and decimal in cell]
        others = [cell for cell in cells if cell not in marked and cell.lstrip("+-").replace(decimal, "").isdigit()]
        if marked and all(cell.lstrip("+-").isdigit() and len(cell.lstrip("+-")) <= 3 for cell in others):
            found[name.strip()] = marked[0]
    return found
