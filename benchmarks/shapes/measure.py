"""Time the contenders of one cell in turns, in a process of its own with a given number of threads."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shapes.cells import MODELS, Cell
from benchmarks.shapes.contenders import Contender, is_as_good
from benchmarks.shapes.dispatch import objective, ours, rivals
from benchmarks.shapes.tables import make

_SHORTEST, _ROUNDS = 0.02, 3
_TO_BEGIN = 60.0  # seconds for compiling and making the table
_FOR_US, _FOR_THEM = 30.0, 10.0  # seconds for our first fit, and, besides the limit, for everyone else's


class Measurer:
    """A process with a given number of threads that has imported everything, and forks for each cell.

    What a cell starts or compiles is gone with its process: the next one begins afresh, but without imports.
    """

    def __init__(self, threads: int) -> None:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.shapes.measure"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | dict.fromkeys(names, str(threads)),
        )

    def measured(self, cell: Cell, limit: float, folder: Path | None) -> dict[str, Any]:
        """What `_measure` finds, or why there is nothing.

        Parameters
        ----------
        limit : float
            Seconds for the whole cell; half as many more for repetitions where all of them are spent.
        """
        asked = {"cell": cell.as_json(), "limit": limit, "folder": str(folder) if folder else None}
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def _watched(cell: Cell, limit: float, folder: Path | None) -> dict[str, Any]:
    """What `_measure` finds in a process of its own, which is ended when it takes much longer than the limit.

    Ten times our own time, if that is not too long, and twice the limit are enough for everyone else.
    """
    fork = multiprocessing.get_context("fork")
    answers, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_send, args=(sender, cell, limit, folder))
    process.start()
    sender.close()
    found: dict[str, Any] = {}
    end = perf_counter() + _TO_BEGIN
    while answers.poll(max(0.0, end - perf_counter())):
        try:
            before, found = found, answers.recv()
        except EOFError:
            break
        if "ours" not in found:
            end = perf_counter() + _FOR_US
        elif "ours" not in before:
            end = perf_counter() + 2 * limit + min(10 * found["ours"], _FOR_THEM)
    process.kill()
    process.join()
    return found if "ours" in found or "failed" in found else {"failed": f"no answer within {_FOR_US:.0f} s"}


def _send(sender: Connection, cell: Cell, limit: float, folder: Path | None) -> None:
    try:
        for known in _measure(cell, limit, folder):
            sender.send(known)
    except Exception as problem:  # the next cell may go well
        sender.send({"failed": f"{type(problem).__name__}: {problem}"[:300]})


def _measure(cell: Cell, limit: float, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Times of everyone who is as accurate as we are, and of scikit-learn at its defaults: what is known so far.

    The first answer is empty: everything is ready.

    A rival runs at the loosest tolerance with which it reaches our objective. So do we, once more, which shows what our
    further digits cost. Times are wall seconds; where one thread is allowed that is CPU time.
    """
    _warm_up(cell)
    table = make(cell, folder)
    yield {}
    clock = process_time if os.environ.get("OMP_NUM_THREADS") == "1" else perf_counter
    end = perf_counter() + limit
    mine = ours(cell)
    first, model, warned = _once(mine.fit, table, clock)
    best = objective(cell, table, model)
    result: dict[str, Any] = {"objective": best, "warned": warned, "rivals": {}}
    solution = getattr(model, "solution_", None)
    result["method"] = str(getattr(solution, "method", ""))
    by_default = rivals(cell)[0]
    runs = [first]
    if first < limit:  # a first run loads what others need not, and a rival that takes too long ends the process
        runs.append(_repeated(mine.fit, (table,), _repeats(first), clock))
    entries: list[tuple[str, Callable[..., Any], tuple[Any, ...], list[float]]] = [
        ("hiperplano", mine.fit, (table,), runs)
    ]
    result["ours"], result["default"] = min(runs), float("nan")
    yield result
    seconds, theirs, _ = _attempt(by_default, table, None, clock)
    result["default"] = seconds
    if theirs is not None:
        runs = [seconds]
        if seconds < limit:
            runs.append(_repeated(by_default.fit, (table,), _repeats(seconds), clock))
            result["default"] = min(runs)
        entries.append(("default", by_default.fit, (table,), runs))
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
                runs.append(_repeated(fit, arguments, _repeats(min(runs)), clock))
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


def _repeats(seconds: float) -> int:
    return max(1, int(_SHORTEST / max(seconds, 1e-6)))


def _repeated(fit: Callable[..., Any], arguments: tuple[Any, ...], repeats: int, clock: Callable[[], float]) -> float:
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = clock()
        for _ in range(repeats):
            fit(*arguments)
        return (clock() - start) / repeats


def _serve() -> None:
    """Measure the cells that standard input names, one a line."""
    for name in ("glum", "pandas", "polars", "numba", "sklearn.discriminant_analysis", "sklearn.svm"):
        import_module(name)
    for model in MODELS:  # imports what it needs
        ours(Cell(model, 10, 2))
    for line in sys.stdin:
        asked = json.loads(line)
        place = Path(asked["folder"]) if asked["folder"] else None
        print(json.dumps(_watched(Cell(**asked["cell"]), asked["limit"], place)), flush=True)


if __name__ == "__main__":
    _serve()
