"""The pages say what is true: their examples run, their links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

from tools import file_table

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "README.es.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
WITH_EXAMPLES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def fenced(text: str) -> str:
    """The lines inside code fences; all others become empty, so that line numbers stay."""
    inside = False
    kept = []
    for line in text.splitlines():
        fence = line.startswith("```")
        inside ^= fence
        kept.append(line if inside and not fence else "")
    return "\n".join(kept) + "\n"


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_pages_for_users_have_examples():
    expected = {"README.md", "docs/discriminant.md", "docs/least_squares.md", "docs/logistic.md"}
    assert expected <= set(map(name, WITH_EXAMPLES))


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name)
def test_examples_print_what_the_page_shows(page):
    text = page.read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(fenced(text), {}, name(page), str(page), 0)
    assert len(examples.examples) == len(re.findall(r"^>>> ", text, re.MULTILINE)), "an example outside a code fence"
    said: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=said.append)
    assert not result.failed, "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_within_the_project_lead_to_files(page):
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    missing = [t for t in targets if not t.startswith(("http://", "https://")) and not (page.parent / t).exists()]
    assert not missing


def test_the_architecture_page_lists_the_files_as_they_are():
    page = file_table.PAGE.read_text(encoding="utf-8")
    assert page == file_table.page(page), "run `uv run python -m tools.file_table`"


def test_the_architecture_page_shows_the_layers_that_are_checked():
    """Bracketed names have a place and are not built: the contract lists them in brackets, too."""
    shown = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[3].strip().splitlines()
    layers = re.findall(r'^    "([^"]+)",$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    listed = [layer for layer in layers if re.fullmatch(r"[()a-z]+( \| [()a-z]+)*", layer)]
    assert [set(re.split(r" \| ", re.split(r"  +", line)[0])) for line in shown] == [
        set(layer.split(" | ")) for layer in listed
    ]


def test_the_spanish_readme_names_and_links_what_the_english_one_does():
    english, spanish = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "README.es.md"))
    names = re.compile(r"^\| (`[^|]*) \|", re.MULTILINE)
    assert names.findall(spanish) == names.findall(english)
    pages = re.compile(r"\]\((docs/\w+\.md)")
    assert set(pages.findall(spanish)) == set(pages.findall(english))
