"""Compare this checkout's speed with another's: is any workload slower than before?

    uv run python -m benchmarks.compare OTHER_CHECKOUT [WORKLOAD ...] [--rounds 3] [--data FOLDER]

Both run the workloads of this checkout, each in interpreters of its own, in turns, so that whatever slows the machine
slows both. A ratio is the other's time over this one's: below 0.9 is slower by more than a tenth.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.timing import Entry, Plan, one_round, warm_up
from benchmarks.workload import Request, load_workload, workload_names

_ROOT = Path(__file__).parent.parent


def measure(name: str, request: Request, rounds: int) -> float:
    """Median seconds of our own contender in this interpreter."""
    workload = load_workload(name)
    entries = [Entry(workload.ours)]
    warm_up(entries, workload.make(request._replace(quick=True)))
    problem = workload.make(request)
    for _ in range(rounds):
        one_round(entries, problem, Plan(), lambda text: None)
    if entries[0].failed:
        raise RuntimeError(entries[0].note)
    return median(entries[0].runs)


def measured_in(checkout: Path, name: str, options: argparse.Namespace) -> float:
    """The same in a new interpreter that imports the package of a checkout."""
    command = [sys.executable, "-m", "benchmarks.compare", str(checkout), name, "--rounds", str(options.rounds)]
    command += ["--one"] + (["--data", str(options.data)] if options.data else [])
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    ran = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{name} in {checkout}: {ran.stderr.strip().splitlines()[-1]}")
    return float(json.loads(ran.stdout))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, metavar="OTHER_CHECKOUT")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where real tables lie")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        warnings.simplefilter("ignore")
        print(json.dumps(measure(options.workloads[0], Request(False, options.data), options.rounds)))
        return 0
    slower = 0
    for name in options.workloads or workload_names():
        table = load_workload(name).table
        if table is not None and (options.data is None or not (options.data / table).exists()):
            print(f"{name:28} left out: it reads {table}")
            continue
        try:
            turns = [(measured_in(options.other, name, options), measured_in(_ROOT, name, options)) for _ in range(2)]
        except RuntimeError as problem:
            print(f"{name:28} failed: {problem}", flush=True)
            slower += 1
            continue
        other, ours = (min(times) for times in zip(*turns, strict=True))
        slower += other / ours < 0.9
        print(f"{name:28} {other * 1e3:10.1f} ms {ours * 1e3:10.1f} ms  ratio {other / ours:5.2f}", flush=True)
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
