"""Building blocks of a section; the templates render them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hiperplano.report.charts.svg import Markup
from hiperplano.report.number_format import Number

Cell = str | Number | Markup


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Notice:
    """A prominent paragraph; `tone` is "good", "bad" or "plain"."""

    text: str
    tone: str = "plain"
    kind: ClassVar[str] = "notice"


@dataclass(frozen=True)
class Formula:
    """A formula and the meaning of its symbols."""

    lines: Sequence[str]
    where: str = ""
    kind: ClassVar[str] = "formula"


@dataclass(frozen=True)
class Code:
    """Verbatim text."""

    text: str
    kind: ClassVar[str] = "code"


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell of each is the row's heading."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    name: str = ""
    heat: Sequence[Sequence[float]] = ()
    kind: ClassVar[str] = "table"

    def numeric(self, column: int) -> bool:
        """Whether a column is numeric, and so right-aligned."""
        return column in self._numeric  # called for every cell

    @cached_property
    def _numeric(self) -> frozenset[int]:
        def holds_numbers(column: int) -> bool:
            cells = [row[column] for row in self.rows if len(row) > column and row[column] != ""]
            return any(isinstance(cell, Number) for cell in cells) and not any(type(cell) is str for cell in cells)

        return frozenset(filter(holds_numbers, range(max(map(len, self.rows), default=0))))


@dataclass(frozen=True)
class Figure:
    """A chart with its caption."""

    svg: Markup
    caption: str
    wide: bool = False


@dataclass(frozen=True)
class Figures:
    """Figures side by side, if there is room."""

    each: Sequence[Figure]
    kind: ClassVar[str] = "figures"


@dataclass(frozen=True)
class Cutoffs:
    """The confusion table with a slider. `data` is what the script reads."""

    positive: str
    negative: str
    table: Table
    rates: Sequence[tuple[str, str, Number]]
    costs: tuple[float, float]
    data: dict[str, Any]
    start: int
    at: Number
    kind: ClassVar[str] = "cutoffs"


@dataclass(frozen=True)
class Verdict:
    """Judgements on a model: aspect, tone and sentence."""

    rows: Sequence[tuple[str, str, str]]
    kind: ClassVar[str] = "verdict"


@dataclass(frozen=True)
class Details:
    """Blocks that are collapsed until the reader opens them."""

    title: str
    blocks: Sequence[Any]
    kind: ClassVar[str] = "details"


Block = Paragraph | Notice | Formula | Code | Table | Figures | Cutoffs | Verdict | Details


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading and an entry in the table of contents."""

    name: str
    title: str
    blocks: Sequence[Block | Heading]


@dataclass(frozen=True)
class KeyFigure:
    """One of the key numbers at the top."""

    label: str
    number: Number
    remark: str = ""


@dataclass(frozen=True)
class Page:
    """Everything that the template needs."""

    title: str
    lead: str
    key_figures: Sequence[KeyFigure]
    sections: Sequence[Section]
    language: str
