"""One pass over the partitions: one graph, whose sums are added in a tree that depends on the partitions alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dask
from dask.delayed import Delayed, delayed

from hiperplano.data.cluster.tasks import Place, combined, unreadable
from hiperplano.errors import ClusterError, HiperplanoError

_BRANCHES = 8  # sums that are added at once
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


def shipped(value: Any) -> Delayed:
    """A value that goes to the workers once in a pass, and not with every task."""
    return delayed(value, traverse=False, pure=False)


def tree(work: Delayed, parts: Sequence[Delayed]) -> Delayed:
    """The sums of all partitions, neighbours first.

    The shape depends on the number of partitions alone, so the bits of the result do not depend on who added when.
    """
    join, level = delayed(combined, pure=False), list(parts)
    while len(level) > 1:
        groups = [level[start : start + _BRANCHES] for start in range(0, len(level), _BRANCHES)]
        level = [join(work, group) if len(group) > 1 else group[0] for group in groups]
    return level[0]


def computed(wanted: Any, places: Sequence[Place], inputs: Sequence[tuple[Any, ...]]) -> Any:
    """What a graph gives, on the host; an error names the partition that failed.

    Parameters
    ----------
    wanted : Delayed, or list of them
    places, inputs
        Of every partition: where it lies, and what its tasks are made of.
    """
    with _named_faults(places, inputs):
        return dask.compute(wanted, optimize_graph=False)[0]


def kept(
    wanted: Delayed, vectors: list[Delayed], places: Sequence[Place], inputs: Sequence[tuple[Any, ...]]
) -> tuple[Any, list[Delayed]]:
    """What a graph gives, and other results of the same graph that stay where they are made."""
    with _named_faults(places, inputs):
        first, *others = dask.persist(wanted, *vectors, optimize_graph=False)
        return first.compute(), others


@contextmanager
def _named_faults(places: Sequence[Place], inputs: Sequence[tuple[Any, ...]]) -> Iterator[None]:
    try:
        # A statistic of d × d numbers is meant; the setting is there once a client has been made.
        with dask.config.set({_LARGE_GRAPH: "1GB"} if "distributed" in sys.modules else {}):
            yield
    except HiperplanoError:
        raise
    except Exception as problem:
        lost = _lost(problem)
        if lost is not None:
            raise lost from problem
        found = _first_unreadable(places, inputs)
        if found is not None:
            raise unreadable(*found) from found[1]
        raise


def _first_unreadable(places: Sequence[Place], inputs: Sequence[tuple[Any, ...]]) -> tuple[Place, BaseException] | None:
    """The first partition that fails before any of our code sees it, and its error; halves are read to find it."""
    probe = delayed(_nothing, pure=False)
    probes = [probe(*parts) for parts in inputs]
    low, high, problem = 0, len(probes), _error_of(probes)
    if problem is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        found = _error_of(probes[low:middle])
        if found is None:
            low = middle
        else:
            high, problem = middle, found
    return places[low], _error_of(probes[low:high]) or problem


def _error_of(probes: list[Delayed]) -> Exception | None:
    try:
        dask.compute(probes, optimize_graph=False)
    except Exception as problem:
        return problem
    return None


def _nothing(*parts: Any) -> None:
    """Read, and forget."""


def _lost(problem: Exception) -> ClusterError | None:
    """The error for workers or a scheduler that are not there any more; None for other problems."""
    if "distributed" not in sys.modules:
        return None
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    if isinstance(problem, KilledWorker):
        return ClusterError(
            "Dask's workers died again and again while they summed a partition ({problem}); most often they ran out "
            "of memory. Make partitions smaller (X.rechunk), or give workers more memory.",
            problem=problem,
        )
    if not isinstance(problem, CommClosedError | CancelledError):
        return None
    return ClusterError(
        "The connection to Dask's scheduler was lost during a pass ({kind}: {problem}). Connect a new client, load the "
        "data again there, and repeat the call; a fit that fails leaves the model as it was.",
        kind=type(problem).__name__,
        problem=problem,
    )
