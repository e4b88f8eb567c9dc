"""Dask: two worker processes against one, and the bytes that travel in a fit.

    uv run python -m benchmarks.cluster [workers | bytes] [--rows N] [--columns D]

`workers` times one pass that sums d × d numbers, on one and on two worker processes of one thread each. `bytes` fits a
logistic regression on two and counts, for every graph, what the driver sends, what workers send each other, and what
the driver gets. (The race has a row against dask-ml: `benchmarks/workloads/logistic_dask.py`.)
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import dask.array as da
import numpy as np
from cloudpickle import dumps
from distributed import Client, LocalCluster, wait

from benchmarks.workload import Array
from hiperplano import LogisticRegression
from hiperplano.data.cluster import design as passes
from hiperplano.data.cluster.collections import cluster_of
from hiperplano.data.cluster.design import Cluster

_PARTITIONS = 16


def make(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Rows and labels as dask arrays, made where they will lie."""
    rng = da.random.default_rng(0)
    size = -(-n_rows // _PARTITIONS)
    X = rng.normal(size=(n_rows, n_columns), chunks=(size, n_columns))
    truth = np.random.default_rng(1).normal(size=n_columns) / np.sqrt(n_columns)
    return X, (X @ truth + rng.logistic(size=n_rows, chunks=size) > 0).astype(int)


class Square:
    """Σ w·x·xᵀ: the work of a Newton step."""

    def __call__(self, block: Any) -> tuple[Array]:
        return (block.weighted_products(np.ones(len(block))),)


def time_workers(n_rows: int, n_columns: int) -> None:
    """Seconds of one pass on one worker process and on two."""
    seconds = {}
    for n in (1, 2):
        with _cluster(n) as cluster, Client(cluster) as client:
            rows = _persisted(client, n_rows, n_columns)
            found = []
            for _ in range(4):
                start = time.perf_counter()
                rows.fold(Square())
                found.append(time.perf_counter() - start)
            seconds[n] = min(found[1:])
            print(f"{n} worker(s): {seconds[n]:.3f} s a pass")
    print(f"ratio {seconds[1] / seconds[2]:.2f}")


def count_bytes(n_rows: int, n_columns: int) -> None:
    """What travels in each graph of a fit."""
    run, keep = passes.computed, passes.kept
    with _cluster(2) as cluster, Client(cluster) as client:
        rows = _persisted(client, n_rows, n_columns)
        print(f"{n_rows} x {n_columns} in {len(rows.lengths)} partitions; 8 d² = {8 * n_columns**2} bytes")
        print("   reads rows      sent    among workers       got")

        def tell(wanted: Any, inputs: Any, answer: Any, before: int) -> None:
            there = {key for parts in inputs for key in parts.graph}
            sent = len(dumps([task for key, task in wanted.graph.items() if key not in there]))
            reads = any(key == rows._parts.keys[0] for key in there)
            print(f"{reads!s:>13}{sent:10d}{_received(client) - before:17d}{len(dumps(answer)):10d}")

        def computed(wanted: Any, places: Any, inputs: Any) -> Any:
            before = _received(client)
            answer = run(wanted, places, inputs)
            tell(wanted, inputs, answer, before)
            return answer

        def kept(wanted: Any, stay: Any, places: Any, inputs: Any) -> Any:
            before = _received(client)
            answer = keep(wanted, stay, places, inputs)
            tell(stay, inputs, answer[0], before)
            return answer

        passes.computed, passes.kept = computed, kept
        try:
            model = LogisticRegression(tol=1e-6).fit(rows)
        finally:
            passes.computed, passes.kept = run, keep
        print(model.solution_)


def _cluster(n: int) -> LocalCluster:
    return LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None)


def _persisted(client: Client, n_rows: int, n_columns: int) -> Cluster:
    X, y = client.persist(list(make(n_rows, n_columns)))
    wait([X, y])
    return cluster_of(X, y)


def _received(client: Client) -> int:
    """Bytes that workers have received from each other so far."""
    return sum(client.run(_received_by).values())


def _received_by(dask_worker: Any) -> int:
    return int(sum(one["total"] for one in dask_worker.transfer_incoming_log))


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["workers", "bytes"])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--columns", type=int, default=50)
    given = parser.parse_args()
    {"workers": time_workers, "bytes": count_bytes}[given.what](given.rows, given.columns)


if __name__ == "__main__":
    main()
