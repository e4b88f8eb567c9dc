"""Put the figures of the last race into the README: `uv run python -m tools.speed_table`."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.outcome import Outcome
from benchmarks.results import read
from benchmarks.table import shown_seconds

ROOT = Path(__file__).parent.parent
HEADINGS = ("work", "hiperplano", "best rival", "times as fast")


def table(outcomes: list[Outcome]) -> str:
    """One row for each workload that ran on data of full size."""
    rows: list[tuple[str, ...]] = [HEADINGS, ("---",) * len(HEADINGS)]
    rows += [cells for outcome in outcomes if (cells := _cells(outcome))]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cells(outcome: Outcome) -> tuple[str, ...] | None:
    rival = outcome.opponent
    if rival is None or outcome.lost or outcome.quick or outcome.disturbed:
        return None
    bound = "" if outcome.best_rival else "≥ "
    work = outcome.description.rstrip(".").split("; ")[0] + (" *" if outcome.real else "")
    ratio = f"{bound}{outcome.ratio(rival):.1f}×"
    return work, shown_seconds(outcome.ours), f"{rival.name} {shown_seconds(rival)}", ratio


def main() -> None:
    """Replace what stands between the marks."""
    outcomes = [outcome for _, outcome in read(ROOT / "benchmarks").values()]
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    marked = f"<!-- race -->\n{table(outcomes)}\n<!-- /race -->"
    path.write_text(re.sub(r"<!-- race -->\n.*?<!-- /race -->", lambda _: marked, text, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    main()
