"""Conversion of Dask arrays and dataframes to a `Cluster` design."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import dask.array as da
import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.data.cluster import is_dask
from hiperplano.data.cluster.design import Cluster, Pieces
from hiperplano.data.cluster.parts import Parts, from_host, tasks
from hiperplano.data.cluster.passes import computed
from hiperplano.data.cluster.tasks import Place, Reader, look, piece, pieces_together
from hiperplano.data.error_messages import refuse_masked
from hiperplano.data.finite import refuse_weights
from hiperplano.data.validate import check_weight, plain_rows
from hiperplano.errors import InvalidData, InvalidType
from hiperplano.messages import Message


@dataclass(frozen=True)
class Partitions:
    """The parts of a dask collection, in their order.

    Attributes
    ----------
    parts : Parts
    lengths : list of int or None
        Rows in each part; None if Dask does not know.
    example : array or table
        One or two rows of the same type as those of the parts.
    """

    parts: Parts
    lengths: list[int] | None
    example: Any


def cluster_of(X: Any, y: Any = None, sample_weight: Any = None) -> Cluster:
    """A design from rows, targets and weights given as Dask collections; targets and weights may also be arrays.

    Parameters
    ----------
    X : dask array of shape (n, d), or dask dataframe
    y : dask or other array, series or table of shape (n,) or (n, targets), optional
    sample_weight : dask or other array or series of shape (n,), number, or None
    """
    rows = partitions(X, "X")
    example = plain_rows(rows.example)
    sparse, n_columns = issparse(example), int(example.shape[1])
    beside = {"y": y, "sample_weight": sample_weight}
    others = {name: partitions(values, name) for name, values in beside.items() if is_dask(values)}
    seen = _looked_at({"X": rows, **others}, stored=sparse)
    lengths = [n for n, _ in seen["X"]]
    n_rows, full = sum(lengths), [number for number, n in enumerate(lengths) if n]
    if not full:
        raise InvalidData(
            "X holds 0 rows in {n} partitions; a fit needs rows. Check how they were read.", n=len(lengths)
        )
    starts = [0, *accumulate(lengths)]
    cluster = Cluster(
        rows.parts.some(full),
        [lengths[one] for one in full],
        Reader(example.dtype, n_columns, sparse),
        {"y": Pieces(from_host("nothing", [np.empty((lengths[one], 0)) for one in full]), (0,))},
        [Place(one, starts[one], lengths[one]) for one in full],
        _names(X),
        density=sum(stored for _, stored in seen["X"]) / (n_rows * n_columns) if sparse else 1.0,
    )
    for name, values in beside.items():
        if values is None:
            continue
        if name in others:
            parts = _aligned(others[name], [n for n, _ in seen[name]], lengths, name)
            width = tuple(others[name].example.shape[1:])
            vector: Any = Pieces(parts.some(full), width)
        else:
            vector = check_weight(values, n_rows) if name == "sample_weight" else _on_host(values, n_rows)
            width = vector.shape[1:]
        cluster = cluster.with_vectors(**{"weight" if name == "sample_weight" else name: vector})
        cluster.one_target = cluster.one_target or (name == "y" and not width)
    if "sample_weight" in others:
        refuse_weights(cluster)
    return cluster


def partitions(given: Any, name: str) -> Partitions:
    """The parts of a dask array, dataframe or series."""
    if isinstance(given, da.Array):
        return _array_partitions(given, name)
    if hasattr(given, "_meta_nonempty") and hasattr(given, "to_delayed"):
        example = given._meta_nonempty
        if name == "X" and example.ndim != 2:
            raise _not_two_dimensional(example.ndim)
        return Partitions(Parts.of(given), None, example)
    raise InvalidType(
        "{name} is a dask {kind}; rows must be in a dask array or a dask dataframe. Convert it, for example with "
        "dask.array.from_delayed.",
        name=name,
        kind=type(given).__name__,
    )


def _array_partitions(given: Any, name: str) -> Partitions:
    if name == "X" and given.ndim != 2:
        raise _not_two_dimensional(given.ndim)
    if any(np.isnan(size) for size in given.shape[1:]):
        raise InvalidData(
            "{name} is a dask array with an unknown number of columns; it must be known. Call "
            "{name}.compute_chunk_sizes() first.",
            name=name,
        )
    if name == "X" and len(given.chunks[1]) > 1:
        warnings.warn(
            Message(
                "{name} is cut into {n} chunks of columns, which are put together again in every pass. Call {name} = "
                "{name}.rechunk({{1: -1}}).persist() first.",
                name=name,
                n=len(given.chunks[1]),
            ),
            UserWarning,
            stacklevel=2,
        )
    given = one_chunk_of_columns(given)
    lengths = None if any(np.isnan(size) for size in given.chunks[0]) else [int(size) for size in given.chunks[0]]
    example = np.zeros((1, *given.shape[1:]), given.dtype)
    if issparse(given._meta):
        example = type(given._meta)(example)
    return Partitions(Parts.of(given), lengths, example)


def one_chunk_of_columns(given: Any) -> Any:
    """A Dask array that is chunked along its rows only."""
    return given.rechunk({1: -1}) if given.ndim == 2 and len(given.chunks[1]) > 1 else given


def _not_two_dimensional(ndim: int) -> InvalidData:
    return InvalidData(
        "Expected 2D array, got {ndim}D dask collection instead: X must have rows and columns. For one column pass "
        "X.reshape(-1, 1), or frame[[name]].",
        ndim=ndim,
    )


def _looked_at(collections: dict[str, Partitions], stored: bool) -> dict[str, list[tuple[int, int]]]:
    """Rows of every partition, and number of stored entries for sparse rows; needs one pass if Dask does not know."""
    unknown = {name: one for name, one in collections.items() if one.lengths is None or (stored and name == "X")}
    keys = [key for one in unknown.values() for key in one.parts.keys]
    parts = Parts({key: task for one in unknown.values() for key, task in one.parts.graph.items()}, keys)
    places = [Place(number) for one in unknown.values() for number in range(len(one.parts.keys))]
    found = iter(computed(parts.each(look), places, [parts]) if keys else [])
    return {
        name: [next(found) for _ in one.parts.keys] if name in unknown else [(n, 0) for n in one.lengths or ()]
        for name, one in collections.items()
    }


def _aligned(given: Partitions, lengths: list[int], wanted: list[int], name: str) -> Parts:
    """The entries of a target or of weights by partitions of the rows, whose boundaries may differ."""
    _refuse_other_length(name, sum(lengths), sum(wanted))
    parts, cuts = given.parts, [0, *accumulate(lengths)]
    if lengths == wanted:
        return tasks(piece, ([name, Place(one), key] for one, key in enumerate(parts.keys)), [parts.graph])
    calls = []
    for start, stop in pairwise([0, *accumulate(wanted)]):
        first, last = np.searchsorted(cuts, start, side="right") - 1, np.searchsorted(cuts, stop, side="left")
        calls.append([name, parts.keys[first:last], start - cuts[first], stop - start])
    return tasks(pieces_together, calls, [parts.graph])


def _on_host(y: Any, n_rows: int) -> Array:
    refuse_masked(y=y)
    values = np.asarray(y)
    _refuse_other_length("y", len(values) if values.ndim else 0, n_rows)
    return values


def _refuse_other_length(name: str, found: int, n_rows: int) -> None:
    if found != n_rows:
        raise InvalidData(
            "Found input variables with inconsistent numbers of samples: X has {n_rows} rows, {name} has {found}. Each "
            "row needs one entry. Check how they were cut.",
            n_rows=n_rows,
            name=name,
            found=found,
        )


def _names(X: Any) -> Array | None:
    """Names of the columns, if all are strings, as in scikit-learn."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return np.asarray(columns, dtype=object)
