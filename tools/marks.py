"""Text between two marks of a page, written by a program."""

from __future__ import annotations

from pathlib import Path


def replace_between(path: Path, name: str, text: str) -> None:
    """Put `text` in the place of what stands between `<!-- name -->` and `<!-- /name -->`."""
    before, first, rest = path.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    last, after = rest.partition(f"<!-- /{name} -->")[1:]
    if not (first and last):
        raise SystemExit(f"{path} has no marks <!-- {name} --> and <!-- /{name} -->; put them where the text belongs.")
    path.write_text(f"{before}{first}{text}\n{last}{after}", "utf-8")


def piped(rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown whose first row holds the headings."""
    ruled = [rows[0], ("---",) * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in ruled)
