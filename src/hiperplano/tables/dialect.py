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
    """

    separator: str
    decimal: str
    encoding: str
    sure: bool = True
    ambiguous: dict[str, str] = field(default_factory=dict)


def sniff(sample: bytes, separator: str | None = None, decimal: str | None = None) -> Dialect:
    """The dialect of the beginning of a file; what is given is not guessed."""
    encoding = detect_encoding(sample)
    text = decode_sample(sample, encoding)
    lines = text.splitlines()
    if len(lines) > 2 and not text.endswith(("\n", "\r")):
        lines = lines[:-1]  # it may be cut
    lines = [line for line in lines if line.strip()]  # as they are read
    separator = separator or _separator(lines[:200])
    if decimal:
        return Dialect(separator, decimal, encoding)
    names, *rows = list(csv.reader(lines[:200], delimiter=separator)) or [[]]
    rows = [[cell.strip(_AROUND) for cell in row] for row in rows]
    decimal, sure = _decimal([cell for row in rows for cell in row], separator)
    return Dialect(separator, decimal, encoding, sure, {} if sure else _ambiguous_columns(names, rows, decimal))


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
