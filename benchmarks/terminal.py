"""Time the command `hiperplano`: `uv run python -m benchmarks.terminal [--rows N] [--repeats N]`.

Three things are measured, each as the best of several runs in a fresh process. What is compared is run in turn, so that
a machine that is slow for a while is slow for all:

- `hiperplano --help`;
- `hiperplano fit` with report on a CSV of 1,000 rows and 10 columns;
- the same on a CSV of 1,000,000 rows and 30 columns, beside the time that pyarrow needs to read that file and the bare
  model to be fitted to the coded training rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

COMMAND = [sys.executable, "-m", "hiperplano.cli.main"]


def write_table(path: Path, n_rows: int, n_numeric: int, groups: tuple[int, ...]) -> None:
    """Numbers of several scales, words, some cells without a value, and a target of two classes."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, n_numeric))
    columns: dict[str, pa.Array] = {}
    for j in range(n_numeric):
        gaps = rng.random(n_rows) < (0.02 if j % 6 == 0 else 0.0)
        columns[f"x{j:02d}"] = pa.array(np.round(numbers[:, j] * 10 ** (j % 5), 4), mask=gaps)
    score = numbers @ rng.normal(size=n_numeric) * 0.4 - 2
    for k, count in enumerate(groups):
        codes = rng.integers(0, count, n_rows).astype(np.int32)
        names = pa.array([f"group {value}" for value in range(count)])
        columns[f"c{k}"] = pa.DictionaryArray.from_arrays(pa.array(codes, mask=rng.random(n_rows) < 0.01), names)
        score += 0.3 * (codes % 3 - 1)
    columns["y"] = pa.array(np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "yes", "no"))
    pa.csv.write_csv(pa.table({name: _text(column) for name, column in columns.items()}), path)


def _text(column: pa.Array) -> pa.Array:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def best(repeats: int, *works: Callable[[], object]) -> list[float]:
    """The shortest of several times of each piece of work, in seconds; they take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def command(*arguments: str) -> Callable[[], object]:
    # An installed program has its bytecode beside it; the first run writes what is missing.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run([*COMMAND, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)


def bare_fit(path: Path) -> Callable[[], object]:
    """The model's fit on coded training rows."""
    from hiperplano import LogisticRegression
    from hiperplano.cli.workflow.problem import TableOptions, read_problem
    from hiperplano.cli.workflow.training import train_validation_split
    from hiperplano.features.coding import Coding

    problem = read_problem(path, "y", TableOptions())
    training, _ = train_validation_split(problem.target, 0.3, 0)
    rows = Coding(tuple(problem.columns)).fit_transform(problem.frame.take(training))
    y = problem.target.values[training]
    return lambda: LogisticRegression(C=np.inf).fit(rows, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, large, out = Path(folder, "small.csv"), Path(folder, "large.csv"), str(Path(folder, "out"))
        write_table(small, 1_000, 7, (3, 5))
        write_table(large, given.rows, 23, (3, 4, 6, 8, 12, 30))
        (quick,) = best(given.repeats, command("--help"))
        print(f"hiperplano --help                        {quick:6.2f} s")
        (fit,) = best(given.repeats, command("fit", str(small), "-t", "y", "--out", out, "--quiet"))
        print(f"fit and report, 1,000 x 10               {fit:6.2f} s")
        reading, fitting, whole = best(
            given.repeats,
            lambda: pa.csv.read_csv(large),
            bare_fit(large),
            command("fit", str(large), "-t", "y", "--out", out, "--quiet"),
        )
        print(f"pyarrow reads {given.rows:,} x 30           {reading:6.2f} s")
        print(f"the bare model fits the training rows    {fitting:6.2f} s")
        print(f"hiperplano fit with report               {whole:6.2f} s = {whole / (reading + fitting):.2f} times both")


if __name__ == "__main__":
    main()
