"""gettext catalogues, one for each room that speaks, and the language now spoken."""

from __future__ import annotations

import gettext
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "es")
"""English is the language of the sources; the others have catalogues beside this file."""

_spoken: ContextVar[str] = ContextVar("hiperplano_language", default="en")


def spoken() -> str:
    """The language now spoken."""
    return _spoken.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language while the block runs."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def preferred(environment: Mapping[str, str] = os.environ) -> str:
    """The language of the locale where there is a catalogue for it, else English.

    `LANGUAGE` (a list), `LC_ALL`, `LC_MESSAGES` and `LANG` are asked in the order of gettext.
    """
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        for locale in filter(None, environment.get(variable, "").split(":")):
            language = locale.split("_")[0].split(".")[0].lower()
            if language in ("c", "posix"):
                return "en"
            if language in LANGUAGES:
                return language
    return "en"


def words(domain: str) -> Callable[..., str]:
    """The function that says a text of a domain in the language now spoken.

    It is called `_` where it is used, so that the texts can be gathered into the catalogues. Values are named:
    `_("{n} rows", n=5)`; the text is translated first.

    Examples
    --------
    >>> from hiperplano.messages.catalogue import speaking, words
    >>> _ = words("terminal")
    >>> with speaking("en"):
    ...     _("{n} rows", n=5)
    '5 rows'
    """

    def say(text: str, /, **values: Any) -> str:
        said = _catalogue(domain, _spoken.get()).gettext(text)
        return said.format(**values) if values else said

    return say


@cache
def _catalogue(domain: str, language: str) -> gettext.NullTranslations:
    if language == "en":
        return gettext.NullTranslations()
    source = files("hiperplano.messages") / language / f"{domain}.mo"
    if not source.is_file():
        return gettext.NullTranslations()
    with source.open("rb") as file:
        return gettext.GNUTranslations(file)
