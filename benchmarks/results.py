"""Results kept in a folder: `results.json` to be read by programs, `results.md` written from it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from benchmarks.outcome import Measured, Outcome
from benchmarks.table import markdown

Environment = dict[str, str]
Kept = dict[str, tuple[Environment, Outcome]]
"""The last outcome of each workload, and where it was measured."""


def merge(folder: Path, environment: Environment, outcomes: Iterable[Outcome]) -> None:
    """Replace the rows of these workloads and leave all others as they are."""
    kept = read(folder)
    for outcome in outcomes:
        kept[outcome.workload] = (environment, outcome)
    rows = {
        name: {"environment": where, "outcome": _plain(asdict(outcome))}
        for name, (where, outcome) in sorted(kept.items())
    }
    _replace(folder / "results.json", json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    _replace(folder / "results.md", markdown([kept[name] for name in sorted(kept)]))


def read(folder: Path) -> Kept:
    """What was kept so far."""
    path = folder / "results.json"
    if not path.exists():
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {name: (row["environment"], _outcome(row["outcome"])) for name, row in rows.items()}


def _outcome(row: dict[str, Any]) -> Outcome:
    return Outcome(**row | {"ours": _measured(row["ours"]), "rivals": tuple(map(_measured, row["rivals"]))})


def _measured(row: dict[str, Any]) -> Measured:
    distance = None if row["distance"] is None else float(row["distance"])
    return Measured(**row | {"runs": tuple(row["runs"]), "distance": distance})


def _plain(value: Any) -> Any:
    """Infinity and NaN as text: JSON has no numbers for them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _replace(path: Path, text: str) -> None:
    """Write beside the file and rename: a reader sees the old text or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(path.suffix + ".new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)
