"""gettext catalogues and the current language."""

from __future__ import annotations

import gettext
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any

from hiperplano.messages.numerals import LocalFormatter

LANGUAGES = ("en", "es")
"""English is the language of the sources; the others have catalogues in this folder."""

_language: ContextVar[str] = ContextVar("hiperplano_language", default="en")


def current_language() -> str:
    """The language in which texts are shown now.

    Returns
    -------
    str
        One of `LANGUAGES`.
    """
    return _language.get()


@contextmanager
def use_language(language: str) -> Iterator[None]:
    """Show texts in a language while the block runs.

    Parameters
    ----------
    language : str
        One of `LANGUAGES`.
    """
    before = _language.set(language)
    try:
        yield
    finally:
        _language.reset(before)


def preferred_language(environment: Mapping[str, str] = os.environ) -> str:
    """The language of the locale if there is a catalogue for it, else English.

    Parameters
    ----------
    environment : mapping of str to str
        `LANGUAGE` (a list), `LC_ALL`, `LC_MESSAGES` and `LANG` are used in the order of gettext.

    Returns
    -------
    str
        One of `LANGUAGES`.
    """
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        for locale in filter(None, environment.get(variable, "").split(":")):
            language = locale.split("_")[0].split(".")[0].lower()
            if language in ("c", "posix"):
                return "en"
            if language in LANGUAGES:
                return language
    return "en"


def translator(domain: str) -> Callable[..., str]:
    """The function that shows a text of a domain in the current language.

    It must be called `_`, so that the texts can be extracted for the catalogues. Values are named: `_("{n} rows",
    n=5)`; the text is translated first.

    Parameters
    ----------
    domain : str
        Name of the catalogue.

    Returns
    -------
    callable
        Takes the English text and its values, returns the text in the current language.

    Examples
    --------
    >>> from hiperplano.messages.catalogue import translator, use_language
    >>> _ = translator("terminal")
    >>> with use_language("en"):
    ...     _("{n} rows", n=5)
    '5 rows'
    """

    def shown(text: str, /, **values: Any) -> str:
        return fill(lookup(domain, text) or text, values)

    return shown


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template with its values, with numbers in the format of the current language.

    Parameters
    ----------
    template : str
        In the current language.
    values : mapping of str to object
        By the names of the template's fields.

    Returns
    -------
    str
    """
    return LocalFormatter(_language.get()).vformat(template, (), values) if values else template


def lookup(domain: str, text: str) -> str:
    """The translation of a text in a catalogue.

    Parameters
    ----------
    domain : str
        Name of the catalogue.
    text : str
        The text in the sources.

    Returns
    -------
    str
        The text in the current language; empty if there is no translation.
    """
    return _catalogue(domain, _language.get()).gettext(text)


class _Nothing(gettext.NullTranslations):
    """The last catalogue in a search: no translation."""

    def gettext(self, message: str) -> str:
        return ""


@cache
def _catalogue(domain: str, language: str) -> gettext.NullTranslations:
    source = files("hiperplano.messages") / language / f"{domain}.mo"
    if not source.is_file():
        return _Nothing()
    with source.open("rb") as file:
        found = gettext.GNUTranslations(file)
    found.add_fallback(_Nothing())
    return found
