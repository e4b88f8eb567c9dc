"""Dask arrays and dataframes → rows on a cluster."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.data.cluster import is_dask
from hiperplano.data.cluster.design import Cluster, Pieces
from hiperplano.data.cluster.passes import computed, shipped
from hiperplano.data.cluster.tasks import Place, Reader, look, piece, pieces_together
from hiperplano.data.finite import refuse_weights
from hiperplano.data.validate import check_weight, plain_rows, refuse_masked
from hiperplano.errors import InvalidData, InvalidType


@dataclass(frozen=True)
class Partitions:
    """The parts of a dask collection, in their order.

    Attributes
    ----------
    parts : list of Delayed
    lengths : list of int or None
        Rows in each; None where dask does not know.
    example : array or table
        One row, or two, of the same kind as those of the parts.
    """

    parts: list[Delayed]
    lengths: list[int] | None
    example: Any


def cluster_of(X: Any, y: Any = None, sample_weight: Any = None) -> Cluster:
    """Rows, targets and weights that come as dask collections, or targets and weights as arrays beside them.

    Parameters
    ----------
    X : dask array of shape (n, d), or dask dataframe
    y : dask or other array, series or table of shape (n,) or (n, targets), optional
    sample_weight : dask or other array or series of shape (n,), number, or None
    """
    rows = partitions(X, "X")
    example = plain_rows(rows.example)
    sparse, n_columns = issparse(example), int(example.shape[1])
    given = {"y": y, "sample_weight": sample_weight}
    others = {name: partitions(values, name) for name, values in given.items() if is_dask(values)}
    seen = _looked_at({"X": rows, **others}, stored=sparse)
    lengths = [n for n, _ in seen["X"]]
    n_rows, full = sum(lengths), [number for number, n in enumerate(lengths) if n]
    if not full:
        raise InvalidData(
            "X holds 0 rows in {n} partitions; a fit needs rows. Check how they were read.", n=len(lengths)
        )
    starts = [0, *accumulate(lengths)]
    cluster = Cluster(
        [rows.parts[one] for one in full],
        [lengths[one] for one in full],
        Reader(example.dtype, n_columns, sparse),
        {"y": Pieces(tuple(shipped(np.empty((lengths[one], 0))) for one in full), (0,))},
        [Place(one, starts[one], lengths[one]) for one in full],
        _names(X),
        density=sum(stored for _, stored in seen["X"]) / (n_rows * n_columns) if sparse else 1.0,
    )
    for name, values in given.items():
        if values is None:
            continue
        if name in others:
            parts = _aligned(others[name], [n for n, _ in seen[name]], lengths, name)
            width = tuple(others[name].example.shape[1:])
            vector: Any = Pieces(tuple(parts[one] for one in full), width)
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
        return Partitions(list(given.to_delayed()), None, example)
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
    if given.ndim == 2 and len(given.chunks[1]) > 1:
        warnings.warn(
            f"{name} is cut into {len(given.chunks[1])} chunks of columns, which are put together again in every pass. "
            f"Call {name} = {name}.rechunk({{1: -1}}).persist() first.",
            UserWarning,
            stacklevel=2,
        )
        given = given.rechunk({1: -1})
    lengths = None if any(np.isnan(size) for size in given.chunks[0]) else [int(size) for size in given.chunks[0]]
    example = np.zeros((1, *given.shape[1:]), given.dtype)
    if issparse(given._meta):
        example = type(given._meta)(example)
    return Partitions(list(given.to_delayed().ravel()), lengths, example)


def _not_two_dimensional(ndim: int) -> InvalidData:
    return InvalidData(
        "Expected 2D array, got {ndim}D dask collection instead: X must have rows and columns. For one column pass "
        "X.reshape(-1, 1), or frame[[name]].",
        ndim=ndim,
    )


def _looked_at(given: dict[str, Partitions], stored: bool) -> dict[str, list[tuple[int, int]]]:
    """Rows of every partition, and for sparse rows how many numbers are stored: one pass if dask does not know."""
    see = delayed(look, pure=False)
    unknown = {name: one for name, one in given.items() if one.lengths is None or (stored and name == "X")}
    parts = [part for one in unknown.values() for part in one.parts]
    places = [Place(number) for one in unknown.values() for number in range(len(one.parts))]
    found = iter(computed([see(part) for part in parts], places, [(part,) for part in parts]) if parts else [])
    return {
        name: [next(found) for _ in one.parts] if name in unknown else [(n, 0) for n in one.lengths or ()]
        for name, one in given.items()
    }


def _aligned(given: Partitions, lengths: list[int], wanted: list[int], name: str) -> list[Delayed]:
    """The entries of a target or of weights by partitions of the rows, which may be cut otherwise."""
    _refuse_other_length(name, sum(lengths), sum(wanted))
    one, join = delayed(piece, pure=False), delayed(pieces_together, pure=False)
    if lengths == wanted:
        return [one(name, Place(number), part) for number, part in enumerate(given.parts)]
    cuts = [0, *accumulate(lengths)]
    found = []
    for start, stop in pairwise([0, *accumulate(wanted)]):
        first, last = np.searchsorted(cuts, start, side="right") - 1, np.searchsorted(cuts, stop, side="left")
        found.append(join(name, [given.parts[i] for i in range(first, last)], start - cuts[first], stop - start))
    return found


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
    """Names of the columns, where all are text, as scikit-learn takes them."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return np.asarray(columns, dtype=object)
