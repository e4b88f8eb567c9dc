"""Put the last maps of speed into `docs/speed.md` and the README: `uv run python -m tools.map_table`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shapes.picture import heat_map
from tools.marks import piped, replace_between

ROOT = Path(__file__).parent.parent
WORST = 20
_HEADINGS = (
    "model",
    "cells",
    "times as fast",
    "ours at the loosest tolerance, too",
    "slower (below 0.9)",
    "no rival as accurate",
    "all cells, at least",
    "defaults, times as fast",
)


def table(lines: list[dict[str, Any]]) -> str:
    """One row for each model, and one for all."""
    models = sorted({each["cell"]["model"] for each in lines})
    rows = [_cells(model, [each for each in lines if each["cell"]["model"] == model]) for model in models]
    return piped([_HEADINGS, *rows, _cells("**all**", lines)])


def _cells(name: str, lines: list[dict[str, Any]]) -> tuple[str, ...]:
    ratios = np.array([each["ratio"] for each in lines if "ratio" in each])
    same = np.array([each.get("same_tolerance_ratio", each["ratio"]) for each in lines if "ratio" in each])
    every = np.array([each.get("ratio", each.get("at_least")) for each in lines if {"ratio", "at_least"} & set(each)])
    defaults = np.array([each["default_ratio"] for each in lines if "default_ratio" in each])
    alone = sum("ratio" not in each and "failed" not in each for each in lines)
    slower = f"{int(np.sum(ratios < 0.9))} of {len(ratios)}"
    return name, str(len(lines)), _mean(ratios), _mean(same), slower, str(alone), _mean(every), _mean(defaults)


def _mean(ratios: Any) -> str:
    return f"{float(np.exp(np.log(ratios).mean())):.2g}×" if len(ratios) else "–"


def worst(lines: list[dict[str, Any]]) -> str:
    """The cells in which a rival is fastest, with what we did there."""
    raced = sorted((each for each in lines if "ratio" in each), key=lambda each: float(each["ratio"]))
    rows = [
        (each["said"], f"{each['ours']:.2g} s", each["method"], f"{each['rival']}, {each['best']:.2g} s", _ratio(each))
        for each in raced[:WORST]
    ]
    return piped([("cell", "hiperplano", "by", "best rival", "times as fast"), *rows])


def _ratio(each: dict[str, Any]) -> str:
    return f"{each['ratio']:.2f}× ({each['our_threads']} and {each['rival_threads']} threads)"


def main() -> None:
    """Replace what stands between the marks, and draw."""
    page = ROOT / "docs" / "speed.md"
    lines = _lines("map.json")
    replace_between(ROOT / "README.md", "map", table(lines))
    replace_between(page, "map", table(lines))
    replace_between(page, "worst", worst(lines))
    heat_map(lines, ROOT / "docs" / "images" / "map.svg")
    everyday = _lines("map_everyday.json")
    replace_between(page, "everyday", table(everyday))
    replace_between(page, "everyday worst", worst(everyday))


def _lines(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))["cells"]
    return found


if __name__ == "__main__":
    main()
