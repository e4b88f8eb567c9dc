"""Numbers in the signs of the reader's language."""

from __future__ import annotations

import re
from numbers import Real
from string import Formatter
from typing import Any

_THIN = "\u202f"  # between groups of thousands
_FOUR_DIGITS = re.compile(r"(?<![\d,])(\d),(\d{3})(?![\d,])")


def localise(text: str, language: str) -> str:
    """A number as Python writes it, 12,345.6, as the language does.

    Spanish has a comma before the decimals and spaces between groups of thousands, but none in numbers of four digits.

    Parameters
    ----------
    text : str
        Made with Python's own formats, and thousands, if they are grouped, with `,`.
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
    return _FOUR_DIGITS.sub(r"\1\2", text).replace(",", _THIN).replace(".", ",")


class LocalFormatter(Formatter):
    """`str.format` in a language: numbers with a format, ``{share:.1%}``, have its signs.

    A number without one, ``{C}``, is a value of Python's and stays as Python writes it.
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> Any:
        """One value of the template."""
        text = super().format_field(value, format_spec)
        return localise(text, self.language) if format_spec and isinstance(value, Real) else text
