"""Every word has its translation, and says the same."""

from __future__ import annotations

import io
import string

import pytest
from babel.messages.mofile import read_mo

from hiperplano.messages.catalogue import LANGUAGES, preferred, speaking, spoken, words
from tools import catalogues

PAIRS = [(domain, language) for domain in catalogues.texts() for language in catalogues.TRANSLATED]


def _fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_language_but_english_is_translated() -> None:
    assert set(catalogues.TRANSLATED) == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_catalogue_holds_the_texts_of_the_sources_and_no_others(domain: str, language: str) -> None:
    catalogue = catalogues.read(catalogues.place(domain, language))
    assert {message.id for message in catalogue if message.id} == set(catalogues.texts()[domain])


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_every_text_is_translated_with_the_same_fields(domain: str, language: str) -> None:
    for message in catalogues.read(catalogues.place(domain, language)):
        if message.id:
            assert message.string, message.id
            assert not message.fuzzy, message.id
            assert _fields(str(message.string)) == _fields(str(message.id)), message.id


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_compiled_catalogue_is_that_of_the_text(domain: str, language: str) -> None:
    path = catalogues.place(domain, language)
    compiled = read_mo(io.BytesIO(path.with_suffix(".mo").read_bytes()))
    for message in catalogues.read(path):
        if message.id:
            assert compiled[message.id].string == message.string


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "es_CO.UTF-8"}, "es"),
        ({"LANG": "es_CO.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_MESSAGES": "es", "LANG": "en_GB.UTF-8"}, "es"),
        ({"LANGUAGE": "fr:es:en", "LANG": "en_GB.UTF-8"}, "es"),
        ({"LANG": "pt_BR.UTF-8"}, "en"),
    ],
)
def test_the_language_is_that_of_the_locale(environment: dict[str, str], language: str) -> None:
    assert preferred(environment) == language


def test_a_language_is_spoken_only_within_its_block() -> None:
    say = words("terminal")
    with speaking("es"):
        assert spoken() == "es"
        assert say("no such text {n}", n=1) == "no such text 1"
    assert spoken() == "en"
