"""Predictions as dask arrays: every partition is predicted where it lies, when its values are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from hiperplano.data.block import Array
from hiperplano.data.cluster.collections import one_chunk_of_columns, partitions
from hiperplano.data.cluster.tasks import Place, unreadable


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
    """A dask array with what a method of a model makes of the rows of a dask array or dataframe.

    Its rows are cut as those of X. The shape and type come from a call with one row of zeros.
    """
    rows = partitions(X, "X")
    example = _Call(model, method, args, kwargs)(rows.example)
    call = delayed(_Call(model, method, args, kwargs, example[:0]), traverse=False, pure=False)
    if isinstance(X, da.Array):
        shape = {"drop_axis": 1} if example.ndim == 1 else {"chunks": (X.chunks[0], (example.shape[1],))}
        return one_chunk_of_columns(X).map_blocks(_of_block, call=call, meta=example[:0], **shape)
    run = delayed(_of_partition, pure=False)
    parts = [
        da.from_delayed(run(call, number, part), (np.nan, *example.shape[1:]), meta=example[:0])
        for number, part in enumerate(X.to_delayed())
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _of_block(part: Any, call: Any, block_id: tuple[int, ...]) -> Array:
    return _of_partition(call, block_id[0], part)


def _of_partition(call: _Call, number: int, part: Any) -> Array:
    if not part.shape[0]:
        return call.nothing
    try:
        return call(part)
    except Exception as problem:
        raise unreadable(Place(number), problem) from problem
