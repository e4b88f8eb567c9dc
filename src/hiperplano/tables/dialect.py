"""How a text table is written: its encoding, what stands between cells, the sign of its decimals."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass

SEPARATORS = (",", ";", "\t", "|")
_COMMA_NUMBER = re.compile(r"[-+]?\d+,\d+")
_POINT_NUMBER = re.compile(r"[-+]?\d+\.\d+")


@dataclass(frozen=True)
class Dialect:
    """What must be known to read a text table.

    Attributes
    ----------
    separator : str
    decimal : str
        The sign before decimals, "." or ",".
    encoding : str
        By Python's name.
    """

    separator: str
    decimal: str
    encoding: str


def sniff(sample: bytes, separator: str | None = None, decimal: str | None = None) -> Dialect:
    """The dialect of the beginning of a file; what is given is not guessed."""
    encoding = encoding_of(sample)
    lines = decoded(sample, encoding).splitlines()
    if len(lines) > 2:
        lines = lines[:-1]  # the last one may be cut
    separator = separator or _separator(lines[:200])
    return Dialect(separator, decimal or _decimal(lines[1:200], separator), encoding)


def encoding_of(sample: bytes) -> str:
    """By its byte-order mark; else UTF-8 where that can be, and otherwise the Latin one of Windows."""
    for mark, name in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if sample.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # a letter cut at the end is no fault
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decoded(sample: bytes, encoding: str) -> str:
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


def _decimal(lines: list[str], separator: str) -> str:
    """A comma where some cells are numbers with a comma and none is a number with a point."""
    cells = [cell.strip() for row in csv.reader(lines, delimiter=separator) for cell in row]
    commas = sum(_COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
    points = sum(_POINT_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas and not points else "."
