"""One pass over the partitions, on the active Dask scheduler, with errors that name the partition."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dask

from hiperplano.data.cluster.parts import Parts, is_future, tasks, values
from hiperplano.data.cluster.tasks import Place, unreadable
from hiperplano.errors import ClusterError, HiperplanoError

_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


def computed(wanted: Parts, places: Sequence[Place], inputs: Sequence[Parts]) -> list[Any]:
    """Results in memory; an error names the partition that failed.

    Parameters
    ----------
    places : sequence of Place
        Position of each partition.
    inputs : sequence of Parts
        Inputs of the tasks of each partition.
    """
    with _named_faults(places, inputs):
        return values(wanted)


def kept(wanted: Parts, rows: Parts, places: Sequence[Place], inputs: Sequence[Parts]) -> tuple[list[Any], Parts]:
    """Results in memory, and others of the same graph that stay on the workers."""
    with _named_faults(places, inputs):
        first, stay = dask.persist(wanted, rows)
        return values(first), stay


@contextmanager
def _named_faults(places: Sequence[Place], inputs: Sequence[Parts]) -> Iterator[None]:
    try:
        # A large graph is intended here: a statistic may hold d × d numbers. The setting exists only once a client was
        # created.
        with dask.config.set({_LARGE_GRAPH: "1GB"} if "distributed" in sys.modules else {}):
            yield
    except HiperplanoError:
        raise
    except Exception as problem:  # workers pass on any exception, which is raised again below
        lost = _lost(problem, inputs)
        if lost is not None:
            raise lost from problem
        found = _first_unreadable(places, inputs)
        if found is not None:
            raise unreadable(*found) from found[1]
        raise


def _first_unreadable(places: Sequence[Place], inputs: Sequence[Parts]) -> tuple[Place, BaseException] | None:
    """The first partition that cannot be read, and its error, found by bisection."""
    if not inputs:
        return None
    probes = tasks(_nothing, zip(*(parts.keys for parts in inputs), strict=True), [parts.graph for parts in inputs])
    low, high, problem = 0, len(probes.keys), _error_of(probes)
    if problem is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        found = _error_of(probes.some(range(low, middle)))
        if found is None:
            low = middle
        else:
            high, problem = middle, found
    return places[low], _error_of(probes.some([low])) or problem


def _error_of(probes: Parts) -> Exception | None:
    try:
        values(probes)
    except Exception as problem:  # any exception counts
        return problem
    return None


def _nothing(*parts: Any) -> None:
    """Read, and discard."""


def _lost(problem: Exception, inputs: Sequence[Parts]) -> ClusterError | None:
    """The error for lost workers or a lost scheduler; None for other problems."""
    if "distributed" not in sys.modules:
        return None
    from concurrent.futures import CancelledError

    from distributed import KilledWorker, client
    from distributed.comm import CommClosedError

    if isinstance(problem, KilledWorker):
        return ClusterError(
            "Dask's workers died again and again while they summed a partition ({problem}); most often they ran out "
            "of memory. Make partitions smaller (X.rechunk), or give workers more memory.",
            problem=problem,
        )
    closed = getattr(client, "ClosedClientError", CommClosedError)  # in newer versions
    results = (result for parts in inputs for result in parts.graph.values() if is_future(result))
    if not isinstance(problem, CommClosedError | CancelledError | closed) and not any(
        result.status in ("cancelled", "lost") for result in results
    ):
        return None
    return ClusterError(
        "The connection to Dask's scheduler was lost during a pass ({kind}: {problem}). Connect a new client, load the "
        "data again there, and repeat the call; a fit that fails leaves the model as it was.",
        kind=type(problem).__name__,
        problem=problem,
    )
