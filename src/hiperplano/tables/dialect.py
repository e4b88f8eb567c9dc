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
"""Numbers that determine the decimal mark, by their decimals or by thousands separators."""
_AMBIGUOUS = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}")  # 1.234 may mean 1234
_AROUND = " $€£%"
_TOLD = re.compile(r'"?sep=(\\t|.)"?', re.IGNORECASE)
_CODE = re.compile(r"0\d+")


@dataclass(frozen=True)
class Dialect:
    """Format of a text table.

    Attributes
    ----------
    decimal : str
        Decimal mark, "." or ",".
    encoding : str
        Python's name of the encoding.
    sure : bool
        Whether the decimal mark was given, or follows from unambiguous numbers.
    ambiguous : dict of str to str
        Columns whose numbers may be a thousand times larger, each with an example.
    skipped : int
        Number of lines before the names; spreadsheets write `sep=;` there.
    unnamed_rows : bool
        Whether rows begin with a cell without a column name, such as the row names of R's `write.table`.
    codes : tuple of str
        Columns of integers of which some begin with 0, such as postcodes, which are not amounts.
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
    """Detect the dialect from the beginning of a file; given values are not guessed.

    Parameters
    ----------
    further : bytes
        Bytes from other parts of the file, which are also searched for codes.
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
    """Nonempty lines; the last one is dropped if it may be truncated."""
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
    """The encoding: by the byte-order mark, else UTF-8 if possible, and otherwise Windows Latin.

    Returns
    -------
    str
        Python's name of it.
    """
    for mark, name in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if sample.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # a character truncated at the end is not an error
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode_sample(sample: bytes, encoding: str) -> str:
    """The text of a sample whose last character may be truncated."""
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample)
    return text.removeprefix("\ufeff")


def _separator(lines: list[str]) -> str:
    """The separator that divides most lines into the same number of cells, more than one.

    Of several, the one with the most cells.
    """
    best, found = (0.0, 0), ","
    for candidate in SEPARATORS:
        widths = [len(cells) for cells in csv.reader(lines, delimiter=candidate) if cells]
        if not widths:
            continue
        width, agreeing = Counter(widths).most_common(1)[0]
        # The header must agree: a comma inside numbers divides rows evenly, but not the names above them.
        rank = (round(agreeing / len(widths), 1) * (widths[0] == width), width)
        if width > 1 and rank > best:
            best, found = rank, candidate
    return found


def _decimal(cells: list[str], separator: str) -> tuple[str, bool]:
    """A comma if some cells are numbers with a comma and none is a number with a point; and whether that is certain."""
    plain = [cell for cell in cells if not _AMBIGUOUS.fullmatch(cell)]
    points, commas = (any(form.fullmatch(cell) for cell in plain) for form in (_DECIMALS["."], _DECIMALS[","]))
    if points or commas:
        return "." if points else ",", points != commas
    ambiguous = {"," if "," in cell else "." for cell in cells if _AMBIGUOUS.fullmatch(cell)}
    # If the comma separates cells, a comma within a number rather separates thousands.
    return "," if ambiguous == {","} and separator != "," else ".", False


def _ambiguous_columns(names: list[str], rows: list[list[str]], decimal: str) -> dict[str, str]:
    """Columns with ambiguous numbers such as 1.234, and no other numbers but integers of up to three digits."""
    found = {}
    for name, *cells in zip(names, *(row for row in rows if len(row) == len(names)), strict=True):
        marked = [cell for cell in cells if _AMBIGUOUS.fullmatch(cell) and decimal in cell]
        others = [cell for cell in cells if cell not in marked and cell.lstrip("+-").replace(decimal, "").isdigit()]
        if marked and all(cell.lstrip("+-").isdigit() and len(cell.lstrip("+-")) <= 3 for cell in others):
            found[name.strip()] = marked[0]
    return found
