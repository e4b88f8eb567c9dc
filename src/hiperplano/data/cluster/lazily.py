"""Predictions as Dask arrays: each partition is predicted on its worker, when it is computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import dask.array as da
import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.cluster.collections import Partitions, partitions
from hiperplano.data.cluster.design import Cluster
from hiperplano.data.cluster.parts import fresh_name, from_host
from hiperplano.data.cluster.tasks import Place, unreadable
from hiperplano.data.in_memory import InMemory


@dataclass(frozen=True)
class _Call:
    """A call of a model's method, sent to each worker once."""

    model: Any
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    nothing: Array = field(default_factory=lambda: np.empty(0))

    def __call__(self, part: Any) -> Array:
        return np.asarray(getattr(self.model, self.method)(part, *self.args, **self.kwargs))


def lazily(model: Any, method: str, X: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A Dask array with the results of a model's method for the rows of a Dask array, a dataframe, or a cluster.

    Its chunks of rows are those of X. The shape and dtype come from a call with one row of zeros.
    """
    if isinstance(X, Cluster):
        nothing = InMemory(np.zeros((1, X.n_columns), X.dtype), np.empty((1, 0)), None, names=X.names)
        rows = Partitions(X.each_as_rows(), list(X.lengths), nothing)
    else:
        rows = partitions(X, "X")
    example = _Call(model, method, args, kwargs)(rows.example)
    call = from_host("call", [_Call(model, method, args, kwargs, example[:0])])
    lengths: Any = rows.lengths or [np.nan] * len(rows.parts.keys)
    name, zeros = fresh_name(method), (0,) * (example.ndim - 1)
    graph = {**call.graph, **rows.parts.graph}
    for number, key in enumerate(rows.parts.keys):
        graph[name, number, *zeros] = (_of_partition, call.keys[0], number, key)
    chunks = (tuple(lengths), *((size,) for size in example.shape[1:]))
    return da.Array(graph, name, chunks, meta=example[:0])


def _of_partition(call: _Call, number: int, part: Any) -> Array:
    if not (part.n_rows if isinstance(part, InMemory) else part.shape[0]):
        return call.nothing
    try:
        return call(part)
    except Exception as problem:  # user code may raise anything
        raise unreadable(Place(number), problem) from problem
