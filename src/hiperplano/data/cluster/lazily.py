"""Predictions as dask arrays: every partition is predicted where it lies, when its values are asked for."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from hiperplano.data.block import Array
from hiperplano.data.cluster.collections import partitions
from hiperplano.data.cluster.passes import shipped
from hiperplano.data.cluster.tasks import Place, unreadable


def lazily(model: Any, method: str, X: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A dask array with what a method of a model makes of the rows of a dask array or dataframe.

    Its rows are cut as those of X. The shape and type come from a call with one row of zeros.
    """
    rows = partitions(X, "X")
    example = np.asarray(getattr(model, method)(rows.example, *args, **kwargs))
    run, sent = delayed(_of_partition, pure=False), shipped((model, method, args, kwargs, example[:0]))
    lengths: list[Any] = rows.lengths or [np.nan] * len(rows.parts)
    parts = [
        da.from_delayed(run(sent, Place(number), part), (length, *example.shape[1:]), meta=example[:0])
        for number, (part, length) in enumerate(zip(rows.parts, lengths, strict=True))
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _of_partition(sent: tuple[Any, ...], place: Place, part: Any) -> Array:
    model, method, args, kwargs, nothing = sent
    if not part.shape[0]:
        return np.asarray(nothing)
    try:
        found = getattr(model, method)(part, *args, **kwargs)
    except Exception as problem:
        raise unreadable(place, problem) from problem
    return np.asarray(found, dtype=nothing.dtype if nothing.dtype.kind != "U" else None)
