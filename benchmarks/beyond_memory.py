"""A folder of Parquet larger than the address space that a fit may use: its time, its memory, and decoding alone.

    uv run python -m benchmarks.beyond_memory [--gigabytes 6] [--limit 2] [--columns 40] [--folder FOLDER]
    uv run python -m benchmarks.beyond_memory --equal [--rows 1000000] [--columns 50]

Writes float32 columns and a label to files of a million rows in a folder that is removed afterwards, fits
`LogisticRegression` to `scan(folder)` in a process whose address space is limited (RLIMIT_AS), times decoding alone in
others, and prints one JSON object. Arrow's own allocator reserves a gigabyte of addresses when it is loaded, used or
not: under a limit (`--limit 0` for none) the system's is used. With `--written FOLDER` a folder that is there is used,
and stays.

With `--equal` the same rows are fitted as an array, as record batches, from a Parquet file and as dask arrays, and the
largest differences of their coefficients are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_FILE_ROWS = 1_000_000
_WAYS = "by_file", "by_dataset", "by_dataset_one_ahead"


def write_folder(folder: Path, n_rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Files of rows with the labels of a logistic model, whose coefficients are returned."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    coef = rng.normal(size=columns) / np.sqrt(columns)
    for number, first in enumerate(range(0, n_rows, _FILE_ROWS)):
        m = min(_FILE_ROWS, n_rows - first)
        x = rng.standard_normal((columns, m), dtype=np.float32)
        y = (coef @ x + rng.logistic(size=m) > 0).astype(np.int8)
        made = {f"x{j}": x[j] for j in range(columns)} | {"y": y}
        pq.write_table(pa.table(made), folder / f"part-{number:04}.parquet", row_group_size=2**18)
    return coef


def decode(folder: str, columns: list[str], way: str) -> dict[str, float]:
    """Seconds to decode all columns and nothing else, and the memory of that: the best of three."""
    import pyarrow.dataset as arrow_dataset
    import pyarrow.parquet as pq

    paths = sorted(map(str, Path(folder).iterdir()))

    def by_file() -> None:
        for path in paths:
            for _batch in pq.ParquetFile(path).iter_batches(2**17, columns=columns):
                pass

    def by_dataset(**ahead: int) -> None:
        for _batch in arrow_dataset.dataset(paths).to_batches(columns=columns, **ahead):
            pass

    ways = {
        "by_file": by_file,
        "by_dataset": by_dataset,
        "by_dataset_one_ahead": lambda: by_dataset(batch_readahead=2, fragment_readahead=1),
    }
    return {"seconds": min(_seconds(ways[way]) for _ in range(3)), "peak_gigabytes": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def _seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def fit(folder: str, limit: float) -> dict[str, object]:
    """Fit under a limit of the address space, in gigabytes; 0 for none."""
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (int(limit * 2**30),) * 2)
    from hiperplano import LogisticRegression, scan
    from hiperplano.data.stream.progress import Progress

    ends: list[float] = []

    def note(progress: Progress) -> None:
        if progress.rows == progress.n_rows:
            ends.append(progress.seconds)

    start = time.perf_counter()
    rows = scan(folder, "y", progress=note)
    scanned = time.perf_counter()
    model = LogisticRegression().fit(rows)
    ended = time.perf_counter()
    return {
        "rows": rows.n_rows,
        "seconds_first_pass": scanned - start,
        "seconds_fit": ended - scanned,
        "seconds_of_passes": ends,
        "peak_gigabytes": _peak(),
        "status": str(model.solution_.status),
    }


def measure(folder: Path, limit: float, columns: int) -> dict[str, object]:
    """Fit in one process, decode in others."""
    told = ["--folder", str(folder), "--limit", str(limit), "--columns", str(columns)]
    pool = {"ARROW_DEFAULT_MEMORY_POOL": "system"} if limit else {}
    found = _in_process(pool, "--fit", *told)
    alone = {way: _in_process(pool, "--decode", way, *told) for way in _WAYS}
    fastest = min(found["seconds_of_passes"][-2:])  # the best, as of decoding: labels, sample and Hessian come before
    return found | {
        "decoding_alone": alone,
        "share_of_decoding_speed": {way: one["seconds"] / fastest for way, one in alone.items()},
    }


def _in_process(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.beyond_memory", *arguments]
    process = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    return dict(json.loads(process.stdout))


def compare(n_rows: int, columns: int) -> dict[str, float]:
    """Largest differences to the coefficients of the rows in memory."""
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hiperplano import LogisticRegression, scan

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, columns))
    y = (X @ rng.normal(size=columns) / np.sqrt(columns) + rng.logistic(size=n_rows) > 0).astype(int)
    table = pa.table({f"x{j}": X[:, j] for j in range(columns)} | {"y": y})
    size = -(-n_rows // 16)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, Path(folder) / "rows.parquet")
        fits = {
            "record batches": LogisticRegression().fit(scan(lambda: table.to_batches(2**16), "y")),
            "Parquet": LogisticRegression().fit(scan(folder, "y")),
            "dask": LogisticRegression().fit(da.from_array(X, (size, columns)), da.from_array(y, size)),
        }
    here = LogisticRegression().fit(X, y)
    return {name: float(np.abs(model.coef_ - here.coef_).max()) for name, model in fits.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=6.0)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--written", default=None)
    parser.add_argument("--equal", action="store_true")
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--decode", choices=_WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        found: Any = fit(given.folder, given.limit)
    elif given.decode:
        found = decode(given.folder, [f"x{j}" for j in range(given.columns)], given.decode)
    elif given.equal:
        found = compare(given.rows, given.columns)
    elif given.written:
        found = measure(Path(given.written), given.limit, given.columns)
    else:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            write_folder(Path(folder), int(given.gigabytes * 1e9 / (4 * given.columns)), given.columns)
            found = measure(Path(folder), given.limit, given.columns)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
