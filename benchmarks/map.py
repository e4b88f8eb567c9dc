"""The map of speed: `uv run --group rivals python -m benchmarks.map [--cells 300] [--seed 0] [--data FOLDER]`.

Draws tables of all shapes, and measures on each how long our model takes as it comes, how long scikit-learn takes at
its defaults, and how long the fastest of its solvers, or glum's, takes that is as accurate as we are: at one thread and
at two, of which each side has the better one. Rivals run at the loosest tolerance that reaches our objective; the ratio
in parentheses is that of our fit at such a tolerance.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import environment
from benchmarks.shapes.cells import Cell, draw
from benchmarks.shapes.everyday import draw_everyday
from benchmarks.shapes.kernel_cells import draw_kernels
from benchmarks.shapes.measure import Measurer
from benchmarks.shapes.picture import heat_map

_THREADS = (1, 2)


def main() -> None:
    """Draw, measure, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a cell")
    parser.add_argument("--most", type=float, default=2e7, help="entries of a table")
    parser.add_argument("--kernels", type=int, default=None, metavar="ROWS", help="kernel machines, up to so many rows")
    parser.add_argument("--everyday", action="store_true", help="texts, categories and columns in their own units")
    parser.add_argument("--data", type=Path, default=None, help="folder of the real tables")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/map.json"))
    parser.add_argument("--picture", type=Path, default=None)
    chosen = parser.parse_args()
    lines: list[dict[str, Any]] = []
    cells = draw(chosen.seed, chosen.cells, chosen.most, chosen.data)
    if chosen.everyday:
        cells = draw_everyday(chosen.seed, chosen.cells, chosen.most)
    if chosen.kernels:
        cells = draw_kernels(chosen.seed, chosen.cells, chosen.kernels)
    measurers = {threads: Measurer(threads) for threads in _THREADS}
    for number, cell in enumerate(cells):
        runs = {threads: each.measured(cell, chosen.limit, chosen.data) for threads, each in measurers.items()}
        lines.append(line(cell, runs))
        print(f"{number + 1:4d} {said(lines[-1])}", flush=True)
        chosen.out.write_text(json.dumps({"environment": environment(), "cells": lines}, indent=1), encoding="utf-8")
    for each in measurers.values():
        each.close()
    print(report(lines))
    if chosen.picture:
        heat_map(lines, chosen.picture)


def line(cell: Cell, runs: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """One cell: our time, the best rival's, and the ratios, each side at its better number of threads."""
    good = {threads: run for threads, run in runs.items() if "failed" not in run}
    out: dict[str, Any] = {"cell": cell.as_json(), "said": str(cell)}
    if not good:
        return out | {"failed": runs[_THREADS[0]]["failed"]}
    out["ours"], out["our_threads"] = min((run["ours"], threads) for threads, run in good.items())
    out["method"], out["warned"] = good[out["our_threads"]]["method"], good[out["our_threads"]]["warned"]
    default = [(run["default"], threads) for threads, run in good.items() if np.isfinite(run["default"])]
    if default:
        out["default"], out["default_threads"] = min(default)
        out["default_ratio"] = out["default"] / out["ours"]
    loose = [run["loose"] for run in good.values() if "loose" in run]
    reached = [(time, name, threads) for threads, run in good.items() for name, time in run["rivals"].items()]
    if reached:
        out["best"], out["rival"], out["rival_threads"] = min(reached)
        out["ratio"] = out["best"] / out["ours"]
        out["same_tolerance_ratio"] = out["best"] / min([*loose, out["ours"]])
        return out
    short = [(time, name, threads) for threads, run in good.items() for name, time in run.get("short", {}).items()]
    if short and np.isfinite(min(short)[0]):  # nobody is as good as we are: the fastest who tried is a lower bound
        out["best"], out["rival"], out["rival_threads"] = min(short)
        out["at_least"] = out["best"] / out["ours"]
    return out


def said(each: dict[str, Any]) -> str:
    """A line for people."""
    if "failed" in each:
        return f"  FAILED {each['said']}: {each['failed']}"
    against = f"{each['rival']}, {each['rival_threads']} threads, {each['best']:.4g} s" if "best" in each else "nobody"
    ratio = (
        f"{each['ratio']:8.2f} ({each.get('same_tolerance_ratio', each['ratio']):.2f})"
        if "ratio" in each
        else f"≥ {each['at_least']:6.2f}"
        if "at_least" in each
        else "       –"
    )
    default = f"{each['default_ratio']:8.2f}" if "default_ratio" in each else "       –"
    mine = f"{each['ours']:.4g} s, {each['our_threads']} threads, {each['method']}"
    return f"{ratio} {default}  {each['said']}: {mine} against {against}{' WARNED' if each['warned'] else ''}"


def report(lines: list[dict[str, Any]]) -> str:
    """Shares, geometric means and the worst cells."""
    ratios = np.array([each["ratio"] for each in lines if "ratio" in each])
    same = np.array([each["same_tolerance_ratio"] for each in lines if "same_tolerance_ratio" in each])
    defaults = np.array([each["default_ratio"] for each in lines if "default_ratio" in each])
    bounds = np.array([each["at_least"] for each in lines if "at_least" in each])
    text = [
        f"{len(lines)} cells, {sum('failed' in each for each in lines)} failed, "
        f"{sum('ratio' not in each for each in lines)} where no rival reaches our objective",
        f"equal accuracy: geometric mean {_mean(ratios):.2f}, below 1.0 {np.sum(ratios < 1.0)}, below 0.9 "
        f"{np.sum(ratios < 0.9)}",
        f"ours at the loosest tolerance, too: geometric mean {_mean(same):.2f}, below 0.9 {np.sum(same < 0.9)}",
        f"with the fastest who tried where none is as accurate: geometric mean at least "
        f"{_mean(np.concatenate([ratios, bounds])):.2f}",
        f"defaults against defaults: geometric mean {_mean(defaults):.2f}, below 1.0 {np.sum(defaults < 1.0)}, below "
        f"0.7 {np.sum(defaults < 0.7)}",
        "the worst at equal accuracy:",
    ]
    worst = sorted((each for each in lines if "ratio" in each), key=lambda each: float(each["ratio"]))[:20]
    return "\n".join(text + [f"  {said(each)}" for each in worst])


def _mean(ratios: Any) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if len(ratios) else float("nan")


if __name__ == "__main__":
    main()
