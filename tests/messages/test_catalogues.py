"""Every text has its translation, with the same fields."""

from __future__ import annotations

import ast
import io

import pytest
from babel.messages.mofile import read_mo

from hiperplano.messages.catalogue import LANGUAGES, current_language, preferred_language, translator, use_language
from tools import catalogues

DOMAINS = ("messages", "report", "terminal")
PAIRS = [(domain, language) for domain in DOMAINS for language in catalogues.TRANSLATED]


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    """Read from all sources in seconds: not while tests are collected, which every worker does."""
    return catalogues.texts()


def test_every_domain_is_known_here(texts: dict[str, list[str]]) -> None:
    assert set(texts) == set(DOMAINS)


def test_every_language_but_english_is_translated() -> None:
    assert set(catalogues.TRANSLATED) == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_catalogue_holds_the_texts_of_the_sources_and_no_others(
    domain: str, language: str, texts: dict[str, list[str]]
) -> None:
    catalogue = catalogues.read(catalogues.place(domain, language))
    assert {message.id for message in catalogue if message.id} == set(texts[domain])


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_every_text_is_translated_with_the_same_fields(domain: str, language: str) -> None:
    for message in catalogues.read(catalogues.place(domain, language)):
        if message.id:
            assert message.string, message.id
            assert not message.fuzzy, message.id
            assert set(catalogues.fields(str(message.string))) == set(catalogues.fields(str(message.id))), message.id


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
    assert preferred_language(environment) == language


def test_a_language_is_used_only_within_its_block() -> None:
    say = translator("terminal")
    with use_language("es"):
        assert current_language() == "es"
        assert say("no such text {n}", n=1) == "no such text 1"
    assert current_language() == "en"


def test_every_template_is_a_literal_so_that_it_can_be_gathered(texts: dict[str, list[str]]) -> None:
    gathered = {"", *texts["messages"]}
    errors = catalogues.SOURCES / "errors.py"  # makes the messages of all errors from the literals that they are given
    for path in {*catalogues.SOURCES.rglob("*.py")} - {errors}:
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "Message(" in source else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message":
                template = node.args[0]
                assert isinstance(template, ast.Constant), f"{path}:{node.lineno}"
                assert template.value in gathered, f"{path}:{node.lineno}"


def test_a_translation_is_carried_over_to_a_text_with_other_fields() -> None:
    known = {"{} rows of {}": ("{n} rows of {all}", "de {all}, {n} filas")}
    assert catalogues.carried("{k:,} rows of {total!r}", known) == "de {total!r}, {k:,} filas"
    assert not catalogues.carried("{k} columns", known)
