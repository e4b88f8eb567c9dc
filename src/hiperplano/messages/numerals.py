"""Numbers in the format of the reader's language."""

from __future__ import annotations

import re
from numbers import Real
from string import Formatter
from typing import Any

_SWAPPED = str.maketrans(",.", ".,")
_FOUR_DIGITS = re.compile(r"(?<![\d,])(\d),(\d{3})(?![\d,])")


def localise(text: str, language: str) -> str:
    """Convert a number in Python's format, 12,345.6, to that of a language.

    Spanish has a comma before the decimals and points between groups of thousands, but none in numbers of four digits.

    Parameters
    ----------
    text : str
        A number in Python's format; thousands, if grouped, with `,`.
    language : str
        One of `LANGUAGES`.

    Returns
    -------
    str

    Examples
    --------
    >>> from hiperplano.messages.numerals import localise
    >>> localise("9,670.5", "es"), localise("9,670.5", "en")
    ('9670,5', '9,670.5')
    """
    if language != "es":
        return text
    return _FOUR_DIGITS.sub(r"\1\2", text).translate(_SWAPPED)


class LocalFormatter(Formatter):
    """`str.format` in a language: numbers with a format, ``{share:.1%}``, are converted to its format.

    A number without a format, ``{C}``, stays in Python's format.
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> Any:
        """One value of the template."""
        text = super().format_field(value, format_spec)
        return localise(text, self.language) if format_spec and isinstance(value, Real) else text
