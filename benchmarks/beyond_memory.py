"""A folder of Parquet larger than the address space that a fit may use: its time, its memory, and decoding alone.

    uv run python -m benchmarks.beyond_memory [--gigabytes 6] [--limit 2] [--columns 40] [--folder FOLDER]

Writes float32 columns and a label to files of a million rows in a folder that is removed afterwards, fits
`LogisticRegression` to `scan(folder)` in a process whose address space is limited (RLIMIT_AS), and prints one JSON
object. Arrow's own allocator reserves a gigabyte of addresses when it is loaded, used or not: the process takes the
system's instead.
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
from pathlib import Path

import numpy as np

_FILE_ROWS = 1_000_000


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


def decode(folder: str, columns: list[str]) -> float:
    """Seconds to decode all columns, and nothing else, in bounded memory."""
    import pyarrow.parquet as pq

    start = time.perf_counter()
    for path in sorted(Path(folder).iterdir()):
        for _batch in pq.ParquetFile(path, buffer_size=2**18, pre_buffer=False).iter_batches(2**17, columns=columns):
            pass
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "rows": rows.n_rows,
        "seconds_first_pass": scanned - start,
        "seconds_fit": ended - scanned,
        "seconds_of_passes": ends,
        "peak_gigabytes": peak,
        "decoding_alone": [decode(folder, rows.names.tolist()) for _ in range(2)],
        "status": str(model.solution_.status),
        "coef": model.coef_[0].tolist(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=6.0)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--fit", default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        print(json.dumps(fit(given.fit, given.limit)))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        n_rows = int(given.gigabytes * 1e9 / (4 * given.columns))
        coef = write_folder(Path(folder), n_rows, given.columns)
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e9
        command = [sys.executable, "-m", "benchmarks.beyond_memory", "--fit", folder, "--limit", str(given.limit)]
        environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
        process = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
        found = json.loads(process.stdout)
    away = float(np.abs(np.array(found.pop("coef")) - coef).max())
    print(
        json.dumps({"gigabytes_on_disk": size, "limit": given.limit, **found, "from_true_coefficients": away}, indent=1)
    )


if __name__ == "__main__":
    main()
