"""Gather the texts of the sources into the catalogues, and compile them: `uv run python -m tools.catalogues`.

Texts are the arguments of `_()` in Python files that say `_ = words("domain")`, and in templates beside them. Texts
that are new come without translation (the tests fail until there is one); texts that are gone leave the catalogue.
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
_DOMAIN = re.compile(r"""^_ = words\("(\w+)"\)""", re.MULTILINE)


def texts() -> dict[str, list[str]]:
    """The texts of each domain, in the order of the files."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        domain = _DOMAIN.search(path.read_text(encoding="utf-8"))
        if domain:
            own = found.setdefault(domain[1], {})
            own.update(dict.fromkeys(_texts_of(path, "python")))
            for template in sorted(path.parent.rglob("*.j2")):
                own.update(dict.fromkeys(_texts_of(template, "jinja2.ext:babel_extract")))
    return {domain: list(own) for domain, own in found.items()}


def _texts_of(path: Path, method: str) -> list[str]:
    options = {"encoding": "utf-8", "silent": "false"}
    return [text for _, text, *_ in extract_from_file(method, str(path), {"_": None}, options=options)]


def place(domain: str, language: str) -> Path:
    """Where a catalogue lies."""
    return SOURCES / "messages" / language / f"{domain}.po"


def read(path: Path) -> Catalog:
    """A catalogue, or an empty one."""
    if not path.exists():
        return Catalog()
    with path.open("rb") as file:
        return read_po(file)


def main() -> None:
    """Bring every catalogue up to date."""
    for domain, wanted in texts().items():
        for language in TRANSLATED:
            path = place(domain, language)
            old = read(path)
            # The old date: a file whose texts have not changed stays as it is.
            new = Catalog(locale=language, domain=domain, creation_date=old.creation_date, fuzzy=False)
            for text in wanted:
                known = old.get(text)
                new.add(text, string=known.string if known else "")
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                write_po(file, new, omit_header=False, width=0, include_lineno=False)
            with path.with_suffix(".mo").open("wb") as file:
                write_mo(file, new)
            missing = [text for text in wanted if not new[text].string]
            print(f"{path.name} ({language}): {len(wanted)} texts, {len(missing)} without translation")
            for text in missing:
                print(f"  {text!r}")


if __name__ == "__main__":
    main()
