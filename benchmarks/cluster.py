"""Dask: our logistic regression against dask-ml's, two workers against one, and the bytes that travel in a pass.

    uv run --group rivals python -m benchmarks.cluster [peer | workers | bytes] [--rows N] [--columns D]

`peer` fits dask arrays in the threads of this process, as both libraries do by default, to a largest gradient entry of
1e-6. `workers` times one pass with sums of d × d (the Hessian of the first step) on one and on two worker processes
of one thread. `bytes` counts what a pass sends: from the driver, between workers, and to the driver.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from cloudpickle import dumps
from distributed import Client, LocalCluster, wait

from benchmarks.workload import Array
from hiperplano import LogisticRegression
from hiperplano.data.cluster.collections import cluster_of
from hiperplano.data.cluster.design import Cluster
from hiperplano.data.design import add
from hiperplano.solvers.statistics import moments

_PARTITIONS = 16


def make(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Rows and labels as dask arrays, made where they will lie."""
    rng = da.random.default_rng(0)
    size = -(-n_rows // _PARTITIONS)
    X = rng.normal(size=(n_rows, n_columns), chunks=(size, n_columns))
    truth = np.random.default_rng(1).normal(size=n_columns) / np.sqrt(n_columns)
    return X, (X @ truth + rng.logistic(size=n_rows, chunks=size) > 0).astype(int)


def largest_gradient(X: Any, y: Any, coef: Array, intercept: float, C: float) -> float:
    """Of the mean loss, by dask's own arithmetic."""
    apart = 1 / (1 + da.exp(-(X @ coef + intercept))) - y
    level, slopes = da.compute(apart.mean(), X.T @ apart)
    return float(max(np.abs((slopes + coef / C) / X.shape[0]).max(), abs(level)))


def peer(n_rows: int, n_columns: int) -> None:
    """Our fit and dask-ml's, each to a gradient of 1e-6."""
    from dask_ml.linear_model import LogisticRegression as Peer

    X, y = (each.persist() for each in make(n_rows, n_columns))
    C = 1.0
    models: dict[str, Callable[[], Any]] = {
        "hiperplano": lambda: LogisticRegression(C=C, tol=1e-6).fit(X, y),
        "dask-ml lbfgs": lambda: Peer(C=C, solver="lbfgs", tol=1e-7, max_iter=1000).fit(X, y),
    }
    for name, fit in models.items():
        start = time.perf_counter()
        model = fit()
        seconds = time.perf_counter() - start
        coef, intercept = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        print(f"{name:16} {seconds:7.2f} s   largest gradient entry {largest_gradient(X, y, coef, intercept, C):.1e}")


def workers(n_rows: int, n_columns: int) -> None:
    """Seconds of one pass that sums d × d numbers, on one worker process and on two."""
    seconds = {}
    for n in (1, 2):
        with _cluster(n) as client:
            rows = _persisted(client, n_rows, n_columns)
            passes = [_seconds_of_a_pass(rows) for _ in range(4)]
            seconds[n] = min(passes[1:])
            print(f"{n} worker(s): {seconds[n]:.3f} s a pass")
    print(f"ratio {seconds[1] / seconds[2]:.2f}")


def count_bytes(n_rows: int, n_columns: int) -> None:
    """What travels in a pass, against the formula of docs/scale.md."""
    with _cluster(2) as client:
        rows = _persisted(client, n_rows, n_columns)
        moments(rows, centred=False)
        before, start = _received(client), time.time()
        (found,) = rows.fold(_Square())
        between = _received(client) - before
        sums = len(dumps(found))
        graph = len(dumps(_Square()))
        parts = len(rows._lengths)
        print(f"{n_rows} x {n_columns} in {parts} partitions, one pass in {time.time() - start:.2f} s")
        print(f"statistic sent {graph} bytes; sums to the driver {sums} bytes (8 d² = {8 * n_columns**2})")
        print(f"between workers {between} bytes; at most (partitions − 1)·8 d² = {(parts - 1) * 8 * n_columns**2}")


class _Square:
    """xᵀx of a block."""

    sums_squares = True

    def __call__(self, block: Any) -> tuple[Array]:
        return (block.weighted_products(np.ones(len(block))),)


def _cluster(n: int) -> Client:
    return Client(LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None))


def _persisted(client: Client, n_rows: int, n_columns: int) -> Cluster:
    X, y = client.persist(list(make(n_rows, n_columns)))
    wait([X, y])
    return cluster_of(X, y)


def _seconds_of_a_pass(rows: Cluster) -> float:
    start = time.perf_counter()
    rows.fold(_Square(), add)
    return time.perf_counter() - start


def _received(client: Client) -> int:
    """Bytes that workers have received from each other so far."""
    return sum(client.run(lambda dask_worker: sum(t["total"] for t in dask_worker.transfer_incoming_log)).values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["peer", "workers", "bytes"], nargs="?", default="peer")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    {"peer": peer, "workers": workers, "bytes": count_bytes}[given.what](given.rows, given.columns)


if __name__ == "__main__":
    main()
