"""Time the contenders of one cell in turns, in a process of its own with a given number of threads."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shapes.cells import Cell
from benchmarks.shapes.contenders import Contender, is_as_good
from benchmarks.shapes.dispatch import objective, ours, rivals
from benchmarks.shapes.tables import make

_SHORTEST, _ROUNDS = 0.02, 3
_BYTECODE = str(Path(tempfile.gettempdir()) / "hiperplano-map")
_TO_BEGIN = 30.0  # seconds for imports, compiling and making the table


def measured(cell: Cell, threads: int, limit: float, folder: Path | None) -> dict[str, Any]:
    """What `_measure` finds. The process is ended when it takes much longer than the limit: what it knew then counts.

    Parameters
    ----------
    limit : float
        Seconds for the whole cell; half as many more for repetitions where all of them are spent.
    """
    command = [sys.executable, "-m", "benchmarks.shapes.measure"]
    text = json.dumps({"cell": cell.as_json(), "limit": limit, "folder": str(folder) if folder else None})
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads)) | {"PYTHONPYCACHEPREFIX": _BYTECODE}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each cell has a process of its own, which imports everything
    most = _TO_BEGIN + 2 * limit
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            said, problem = process.communicate(text, timeout=most)
            problem = (problem.strip().splitlines() or [f"exit code {process.returncode}"])[-1][:300]
        except subprocess.TimeoutExpired:
            process.kill()
            said, problem = process.communicate()[0], f"no answer within {most:.0f} s"
    lines = said.strip().splitlines()
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {"failed": problem}
    return found


def _measure(cell: Cell, limit: float, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Times of everyone who is as accurate as we are, and of scikit-learn at its defaults: what is known so far.

    A rival runs at the loosest tolerance with which it reaches our objective. So do we, once more, which shows what our
    further digits cost. Times are wall seconds; where one thread is allowed that is CPU time.
    """
    _warm_up(cell)
    table = make(cell, folder)
    clock = process_time if os.environ.get("OMP_NUM_THREADS") == "1" else perf_counter
    end = perf_counter() + limit
    mine = ours(cell)
    first, model, warned = _once(mine.fit, table, clock)
    best = objective(cell, table, model)
    result: dict[str, Any] = {"objective": best, "warned": warned, "rivals": {}}
    solution = getattr(model, "solution_", None)
    result["method"] = str(getattr(solution, "method", ""))
    by_default = rivals(cell)[0]
    entries: list[tuple[str, Callable[..., Any], tuple[Any, ...], list[float]]] = [
        ("hiperplano", mine.fit, (table,), [first])
    ]
    result["ours"], result["default"] = first, float("nan")
    yield result
    seconds, theirs, _ = _attempt(by_default, table, None, clock)
    result["default"] = seconds
    if theirs is not None:
        entries.append(("default", by_default.fit, (table,), [seconds]))
        result["default_gap"] = objective(cell, table, theirs) / max(best, 1e-300) - 1.0
    result["short"] = {}
    for rival in rivals(cell):
        tried = _tried(cell, rival, table, best, clock, end)
        if tried.is_good:
            arguments = (table,) if tried.tol is None else (table, tried.tol)
            entries.append((f"{rival.name} (tol {tried.tol})", rival.fit, arguments, [tried.seconds]))
            result["rivals"] = {name: min(runs) for name, _, _, runs in entries[1:] if name != "default"}
        else:
            result["short"][f"{rival.name} (tol {tried.tol})"] = tried.seconds
        yield result
    loose = _tried(cell, mine, table, best, clock, end) if mine.tolerances else None
    if loose is not None and loose.is_good:
        entries.append(("loose", mine.fit, (table, loose.tol), [loose.seconds]))
        result["loose"], result["loose_tol"] = loose.seconds, loose.tol
    end = max(end, perf_counter() + 0.5 * limit)  # first runs load and compile what others need not
    for _ in range(_ROUNDS - 1):
        for _name, fit, arguments, runs in entries:
            if perf_counter() + min(runs) < end:
                repeats = max(1, int(_SHORTEST / max(min(runs), 1e-6)))
                runs.append(_repeated(fit, arguments, repeats, clock))
    times = {name: min(runs) for name, _, _, runs in entries}
    result["ours"], result["default"] = times.pop("hiperplano"), times.pop("default", result["default"])
    if "loose" in times:
        result["loose"] = times.pop("loose")
    result["rivals"] = times
    yield result


def _warm_up(cell: Cell) -> None:
    """Let everyone import and compile what it needs, on a small table of the same kind."""
    density = 1.0 if cell.layout != "csr" else 0.3
    tiny = replace(cell, n=300, d=8, classes=min(cell.classes, 3), density=density, table="")
    table = make(tiny, None)
    for each in (ours(tiny), *rivals(tiny)):
        _attempt(each, table, None, perf_counter)


class _Tried(NamedTuple):
    seconds: float
    tol: float | None
    is_good: bool


def _tried(cell: Cell, rival: Contender, table: Any, best: float, clock: Callable[[], float], end: float) -> _Tried:
    """A rival at the loosest tolerance at which it is as good as we are; if it never is, at the last one tried.

    Everyone is tried once, whatever the time: a rival nobody has seen may be the fastest.
    """
    last = _Tried(float("inf"), None, False)
    for tol in rival.tolerances or (None,):
        if np.isfinite(last.seconds) and perf_counter() > end:
            break
        seconds, model, _ = _attempt(rival, table, tol, clock)
        if model is None:
            break
        last = _Tried(seconds, tol, is_as_good(cell, objective(cell, table, model), best))
        if last.is_good:
            break
    return last


def _attempt(rival: Contender, table: Any, tol: float | None, clock: Callable[[], float]) -> tuple[float, Any, bool]:
    try:
        return _once(rival.fit, table, clock, *(() if tol is None else (tol,)))
    except Exception:  # whatever a library raises is its result
        return float("nan"), None, False


def _once(fit: Callable[..., Any], table: Any, clock: Callable[[], float], *more: Any) -> tuple[float, Any, bool]:
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = clock()
        model = fit(table, *more)
        return clock() - start, model, bool(caught)


def _repeated(fit: Callable[..., Any], arguments: tuple[Any, ...], repeats: int, clock: Callable[[], float]) -> float:
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = clock()
        for _ in range(repeats):
            fit(*arguments)
        return (clock() - start) / repeats


if __name__ == "__main__":
    asked = json.loads(sys.stdin.read())
    place = Path(asked["folder"]) if asked["folder"] else None
    for known in _measure(Cell(**asked["cell"]), asked["limit"], place):
        print(json.dumps(known), flush=True)
