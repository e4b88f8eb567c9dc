"""A minimal Dask collection with one key for each partition, and the task graphs built from it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import dask.threaded
from dask.base import compute_as_if_collection
from dask.core import flatten
from dask.optimization import cull
from dask.utils import ensure_dict

from hiperplano.data.cluster.tasks import combined

Key = tuple[str, int] | str
Graph = dict[Any, Any]

_BRANCHES = 8  # number of sums added by one task of the reduction tree


@dataclass(frozen=True, eq=False)
class Parts:
    """One result for each partition.

    It implements Dask's collection interface, so that `dask.persist` keeps results on the workers. A graph of plain
    dicts costs a tenth of one made of `dask.delayed` calls.

    Attributes
    ----------
    graph : dict
        Tasks, or results, by key.
    keys : list
        Keys of the results, in the order of the partitions.
    """

    graph: Graph
    keys: list[Any]

    @classmethod
    def of(cls, collection: Any) -> Parts:
        """The partitions of a dask array or dataframe."""
        if hasattr(collection, "optimize"):  # a dataframe
            collection = collection.optimize()
        graph, keys = ensure_dict(collection.__dask_graph__()), list(flatten(collection.__dask_keys__()))
        optimized = ensure_dict(collection.__dask_optimize__(graph, keys))
        # Persisted results are missing from optimized graphs, although tasks refer to them; they are added to keep them
        # alive.
        return cls({key: result for key, result in graph.items() if is_future(result)} | optimized, keys)

    def some(self, which: Sequence[int]) -> Parts:
        """The results of some partitions."""
        return Parts(self.graph, [self.keys[one] for one in which])

    def each(self, task: Callable[..., Any], *first: Any) -> Parts:
        """One task for every result, which is its last argument."""
        return tasks(task, ([*first, key] for key in self.keys), [self.graph])

    def __dask_graph__(self) -> Graph:
        return self.graph

    def __dask_keys__(self) -> list[Any]:
        return self.keys

    def __dask_postcompute__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return list, ()

    def __dask_postpersist__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _persisted, (self.keys,)

    def __dask_tokenize__(self) -> Any:
        return tuple(self.keys)

    @staticmethod
    def __dask_optimize__(graph: Any, keys: Any, **_: Any) -> Graph:
        found: Graph = cull(ensure_dict(graph), keys)[0]
        return found

    __dask_scheduler__ = staticmethod(dask.threaded.get)


def _persisted(graph: Graph, keys: list[Any], *, rename: Any = None) -> Parts:
    return Parts(graph, keys)


def is_future(result: Any) -> bool:
    """Whether a result is stored on a worker."""
    return "distributed" in sys.modules and isinstance(result, sys.modules["distributed"].Future)


def values(parts: Parts) -> list[Any]:
    """The results in memory, from the active scheduler."""
    found: list[Any] = list(compute_as_if_collection(Parts, parts.graph, parts.keys))
    return found


def from_host(name: str, contents: Iterable[Any]) -> Parts:
    """Objects in memory, each of which is sent to the workers once."""
    keys = fresh_keys(name)
    graph = dict(zip(keys, contents, strict=False))
    return Parts(graph, list(graph))


def fresh_name(name: str) -> str:
    """A unique name."""
    return f"hiperplano-{name}-{uuid4().hex}"


def fresh_keys(name: str) -> Iterable[tuple[str, int]]:
    """Unique keys."""
    token, number = fresh_name(name), 0
    while True:
        yield token, number
        number += 1


def tasks(task: Callable[..., Any], arguments: Iterable[Sequence[Any]], graphs: Iterable[Graph]) -> Parts:
    """Calls of a function, one for each list of arguments, in which keys of graphs stand for their results."""
    keys = fresh_keys(task.__name__)
    graph = {key: (task, *listed) for key, listed in zip(keys, arguments, strict=False)}
    names = list(graph)
    for other in graphs:
        graph.update(other)
    return Parts(graph, names)


def tree(work: Parts, parts: Parts) -> Parts:
    """The sums of all partitions, adding neighbours first.

    The shape of the tree depends only on the number of partitions, so the result is the same to the last bit, whatever
    the schedule.
    """
    graph, level = {**work.graph, **parts.graph}, parts.keys
    while len(level) > 1:
        groups = [level[start : start + _BRANCHES] for start in range(0, len(level), _BRANCHES)]
        added = tasks(combined, ([work.keys[0], group] for group in groups), [])
        graph.update(added.graph)
        level = added.keys
    return Parts(graph, level)
