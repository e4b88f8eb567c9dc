"""Write the table of files in docs/architecture.md from the first lines of their docstrings.

    uv run python -m tools.file_table

A test compares the page with what this would write.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "hiperplano"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- files: begin -->", "<!-- files: end -->"


def table() -> str:
    """One line for each file, folder by folder."""
    rows = ["| file | what it holds |", "|---|---|"]
    for path in sorted(SOURCES.rglob("*.py"), key=lambda path: (path.parent, path.name)):
        if path.name != "__init__.py":
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            rows.append(f"| `{path.relative_to(SOURCES).as_posix()}` | {docstring.splitlines()[0]} |")
    return "\n".join(rows)


def page(text: str) -> str:
    """The page with the table of today."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
