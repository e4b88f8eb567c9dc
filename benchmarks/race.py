"""Race hiperplano against its rivals.

    uv run --group rivals python -m benchmarks.race [WORKLOAD ...] [--quick] [--data FOLDER]

Exits with 1 if ours failed or was less accurate than a rival somewhere; a target that is not reached is shown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.machine import Neighbours, environment, usable_cores
from benchmarks.memory import weigh
from benchmarks.outcome import Measured, Outcome
from benchmarks.results import merge
from benchmarks.table import plain
from benchmarks.timing import Entry, Plan, Say, one_round, warm_up
from benchmarks.workload import Request, Workload, load_workload, workload_names

Weigh = Callable[[int], int | None]
"""Place of a contender → bytes that one fit of it adds."""

_QUICK = Plan(rounds=3, budget=5.0, shortest=0.02)


def race(name: str, workload: Workload[Any], request: Request, plan: Plan, say: Say, weigh: Weigh | None) -> Outcome:
    """Run one workload: accuracy first, then the remaining rounds, then memory."""
    entries = [Entry(contender) for contender in workload.contenders]
    small = workload.make(request._replace(quick=True))
    warm_up(entries[:1], small)
    if entries[0].failed:
        say(f"  stopped: {entries[0].contender.name} {entries[0].note}")
        return _outcome(name, workload, request, entries)
    warm_up(entries[1:], small)
    problem = workload.make(request)
    neighbours = Neighbours()
    say(f"  round 1 of {plan.rounds}")
    one_round(entries, problem, plan, say)
    distances = _judge(workload, problem, entries)
    outcome = _outcome(name, workload, request, entries, distances)
    if outcome.lost:
        say("  stopped: speed does not count without accuracy")
        return outcome
    for number in range(2, plan.rounds + 1):
        say(f"  round {number} of {plan.rounds}")
        one_round(entries, problem, plan, say)
    taken = neighbours.cores()
    del problem
    memory: list[int | None] = [None] * len(entries)
    if weigh is not None and workload.weighed:
        say("  weighing")
        for place, entry in enumerate(entries):
            if entry.runs and entry.runs[0] <= plan.budget:
                memory[place] = weigh(place)
    return replace(_outcome(name, workload, request, entries, distances, memory), neighbours=taken)


def _judge(workload: Workload[Any], problem: Any, entries: Sequence[Entry]) -> list[float | None]:
    """Distances of the answers there are."""
    answered = [entry for entry in entries if entry.answer is not None]
    if workload.accuracy is None or not answered:
        return [None] * len(entries)
    found = iter(workload.accuracy.distances(problem, [entry.answer for entry in answered]))
    return [None if entry.answer is None else float(next(found)) for entry in entries]


def _outcome(
    name: str,
    workload: Workload[Any],
    request: Request,
    entries: Sequence[Entry],
    distances: Sequence[float | None] = (),
    memory: Sequence[int | None] = (),
) -> Outcome:
    nothing = [None] * len(entries)
    ours, *rivals = (
        Measured(entry.contender.name, tuple(entry.runs), distance, weight, entry.note, entry.threads)
        for entry, distance, weight in zip(entries, distances or nothing, memory or nothing, strict=True)
    )
    accuracy = workload.accuracy
    return Outcome(
        workload=name,
        description=workload.description,
        target=workload.target,
        ours=ours,
        rivals=tuple(rivals),
        meaning=accuracy.meaning if accuracy else "",
        equal=accuracy.equal if accuracy else 0.0,
        memory_limit=None if request.quick else workload.memory_limit,
        quick=request.quick,
        real=workload.table is not None,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    known = workload_names()
    unknown = [name for name in options.workloads if name not in known]
    if unknown:
        print(f"No workload {', '.join(unknown)}; there are: {', '.join(known)}.", file=sys.stderr)
        return 2
    request = Request(options.quick, options.data)
    plan = _QUICK if options.quick else Plan(max(3, options.rounds), options.budget)
    plan = plan._replace(threads=tuple(sorted({1, usable_cores()}, reverse=True)))
    # Data of a quick run are too small for figures to keep.
    folder = options.output or (None if options.quick else Path(__file__).parent)
    outcomes = []
    chosen = options.workloads or known
    for position, name in enumerate(chosen, start=1):
        workload = load_workload(name)
        _say(f"[{position}/{len(chosen)}] {name}: {workload.description}")
        missing = _missing_table(workload, request)
        if missing:
            _say(f"  left out: {missing}")
            continue
        # A fit of small data adds next to nothing, and every weighing starts an interpreter.
        unweighed = options.no_memory or options.quick
        weighing = None if unweighed else lambda place, name=name: weigh(name, place, request)
        outcomes.append(race(name, workload, request, plan, _say, weighing))
        if folder is not None:
            merge(folder, environment(), outcomes[-1:])  # at once: a long run that is broken off keeps its rows
    if outcomes:
        print(plain(outcomes))
    return 1 if any(outcome.lost for outcome in outcomes) else 0


def _missing_table(workload: Workload[Any], request: Request) -> str:
    """Why a workload on real data cannot run, or nothing."""
    if workload.table is None:
        return ""
    if request.folder is None:
        return f"it reads {workload.table}; give its folder with --data"
    return "" if (request.folder / workload.table).exists() else f"{request.folder} holds no {workload.table}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.race", description="Race hiperplano against its rivals")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="names of files in benchmarks/workloads; all")
    parser.add_argument("--quick", action="store_true", help="small data, to try things out; nothing is kept")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where real tables lie")
    parser.add_argument("--rounds", type=int, default=Plan().rounds, help="3 or more (default: %(default)s)")
    parser.add_argument(
        "--budget", type=float, default=Plan().budget, help="seconds for all runs of a contender (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="of results.md and results.json")
    parser.add_argument("--no-memory", action="store_true", help="do not measure extra memory")
    return parser


if __name__ == "__main__":
    sys.exit(main())
