"""Gather the texts of the sources into the catalogues, and compile them: `uv run python -m tools.catalogues`.

Texts are the templates of `Message()` anywhere in the sources (domain "messages"), and the arguments of `_()` in
Python files that say `_ = translator("domain")` and in templates beside them. A new text takes the translation of a
text that differs from it in the fields only, if there is one in any catalogue; others are listed, and the tests fail
until they have a translation. Texts that are gone stay in the file as comments (`#~`).
"""

from __future__ import annotations

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

SOURCES = Path(__file__).parent.parent / "src" / "hiperplano"
TRANSLATED = ("es",)
SENTENCES = (
    "Message", "ClusterError", "InvalidData", "InvalidFile", "InvalidParameter", "InvalidTarget", "InvalidType",
    "NotAvailable", "NotInstalled", "NotSeparable",
)  # fmt: skip
_DOMAIN = re.compile(r"""^_ = translator\("(\w+)"\)""", re.MULTILINE)
_FIELD = re.compile(r"\{\w+[^{}]*\}")


def texts() -> dict[str, list[str]]:
    """The texts of each domain, in the order of the files."""
    found: dict[str, dict[str, None]] = {"messages": {}}
    for path in sorted(SOURCES.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        # A second time by themselves: Babel does not look for messages inside the call of an error.
        for functions in (SENTENCES, SENTENCES[:1]):
            if any(name in source for name in functions):  # Babel takes long to find nothing
                found["messages"].update(dict.fromkeys(_texts_of(path, "python", *functions)))
        domain = _DOMAIN.search(source)
        if domain:
            own = found.setdefault(domain[1], {})
            own.update(dict.fromkeys(_texts_of(path, "python", "_")))
            for template in sorted(path.parent.rglob("*.j2")):
                own.update(dict.fromkeys(_texts_of(template, "jinja2.ext:babel_extract", "_")))
    return {domain: list(own) for domain, own in found.items()}


def _texts_of(path: Path, method: str, *functions: str) -> list[str]:
    options = {"encoding": "utf-8", "silent": "false"}
    found = extract_from_file(method, str(path), dict.fromkeys(functions), options=options)
    return [text for _, text, *_ in found if text]


def place(domain: str, language: str) -> Path:
    """Where a catalogue lies."""
    return SOURCES / "messages" / language / f"{domain}.po"


def read(path: Path) -> Catalog:
    """A catalogue, or an empty one."""
    if not path.exists():
        return Catalog()
    with path.open("rb") as file:
        return read_po(file)


def fields(text: str) -> list[str]:
    """The fields of a text with their formats, as they stand in it."""
    return _FIELD.findall(text)


def known_translations(language: str) -> dict[str, tuple[str, str]]:
    """Every translated text of a language, obsolete ones too, by the text without the names of its fields."""
    known: dict[str, tuple[str, str]] = {}
    for path in sorted(place("", language).parent.glob("*.po")):
        catalogue = read(path)
        for message in [*catalogue.obsolete.values(), *catalogue]:
            if message.id and message.string:
                known[_FIELD.sub("{}", str(message.id))] = str(message.id), str(message.string)
    return known


def carried(text: str, known: dict[str, tuple[str, str]]) -> str:
    """The translation of a text with other fields, with the fields of this one; empty if there is none."""
    other, translated = known.get(_FIELD.sub("{}", text), ("", ""))
    renamed = dict(zip(fields(other), fields(text), strict=False))
    return _FIELD.sub(lambda field: renamed.get(field[0], field[0]), translated)


def updated(domain: str, language: str, wanted: list[str], known: dict[str, tuple[str, str]]) -> Catalog:
    """The catalogue of a domain with the wanted texts."""
    old = read(place(domain, language))
    # The old date: a file whose texts have not changed stays as it is.
    new = Catalog(locale=language, domain=domain, creation_date=old.creation_date, fuzzy=False)
    for text in wanted:
        present = old.get(text)
        new.add(text, string=(present.string if present else "") or carried(text, known))
    for message in [*old.obsolete.values(), *old]:
        if message.id and message.string and message.id not in new:
            new.obsolete[message.id] = message
    return new


def main() -> None:
    """Bring every catalogue up to date."""
    for language in TRANSLATED:
        known = known_translations(language)
        for domain, wanted in texts().items():
            path = place(domain, language)
            catalogue = updated(domain, language, wanted, known)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                write_po(file, catalogue, omit_header=False, width=0, include_lineno=False)
            with path.with_suffix(".mo").open("wb") as file:
                write_mo(file, catalogue)
            missing = [text for text in wanted if not catalogue[text].string]
            print(f"{path.name} ({language}): {len(wanted)} texts, {len(missing)} without translation")
            for text in missing:
                print(f"  {text!r}")


if __name__ == "__main__":
    main()
