"""Rounded numbers in the format of the current language, with the exact value kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import current_language
from hiperplano.messages.numerals import localise
from hiperplano.stats.summary import column_text


@dataclass(frozen=True)
class Number:
    """A number and its text."""

    value: float
    text: str

    kind: ClassVar[str] = "number"

    @property
    def exact(self) -> str:
        """The exact value, for programs that read the page."""
        return repr(self.value)


def decimal(value: Any, places: int = 3) -> Number:
    """A number with fixed decimals."""
    number = float(value)
    if not np.isfinite(number):
        return Number(number, _unusual(number))
    return Number(number, written(f"{number:,.{places}f}"))


def significant(value: Any, digits: int = 5) -> Number:
    """A number of any magnitude, with five or a given number of significant digits."""
    number = float(value)
    if not np.isfinite(number):
        return Number(number, _unusual(number))
    size = abs(number)
    if size and (size >= 1e9 or size < 1e-4):
        return Number(number, written(f"{number:.{min(3, digits - 1)}e}"))
    if size >= 1e4:
        return Number(number, written(f"{number:,.0f}"))
    return Number(number, written(f"{number:.{max(digits, 1 + int(np.log10(max(size, 1.0))))}g}"))


def percent(value: Any, places: int = 1) -> Number:
    """A share as percent."""
    number = float(value)
    return Number(number, written(f"{100 * number:.{places}f}%") if np.isfinite(number) else _unusual(number))


def count(value: Any) -> Number:
    """An integer count."""
    return Number(float(value), written(f"{int(value):,}"))


def amount(value: Any) -> Number:
    """A count that may be fractional because of weights."""
    number = float(value)
    return count(number) if number.is_integer() else significant(number)


def odds(value: Any) -> Number:
    """A ratio, with enough digits that it does not look like 1 for a column of large numbers."""
    number = float(value)
    away = abs(number - 1.0)
    if not 1e-9 < away < 1e-3:
        return significant(number)
    return Number(number, written(f"{number:.{1 - int(np.floor(np.log10(away)))}f}"))


def column(heading: str, values: Array) -> list[Number]:
    """Numbers of a column of a summary; p-values and test statistics in the summary's own style."""
    if heading.startswith("odds"):
        return [odds(value) for value in np.ravel(values).tolist()]
    if heading not in ("p", "t", "z"):
        return [significant(value) for value in np.ravel(values).tolist()]
    texts = column_text(heading, values)
    return [Number(float(v), written(text)) for v, text in zip(np.ravel(values).tolist(), texts, strict=True)]


def written(text: str) -> str:
    """A number as Python formats it, with a minus sign and the decimal sign of the current language."""
    return localise(text.replace("-", "−", 1) if text.startswith("-") else text, current_language())


def _unusual(number: float) -> str:
    return "–" if np.isnan(number) else ("∞" if number > 0 else "−∞")
