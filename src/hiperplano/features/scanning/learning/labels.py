"""Targets and weights of a chunk; errors name the file and the row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hiperplano.data.design import Array
from hiperplano.data.validate import weights_of_some
from hiperplano.errors import InvalidData, InvalidTarget
from hiperplano.features.scanning.cells import kind_of_type
from hiperplano.tables.batches import BatchedTable


def target_of(chunk: pa.Table, names: Sequence[str], table: BatchedTable, start: int, n_rows: int) -> Array:
    """The targets of a chunk, of shape (rows, targets): numbers, or labels of any kind."""
    if not names:
        return np.empty((n_rows, 0))
    return np.column_stack([_labels(chunk.column(name), name, table, start) for name in names])


def _labels(cells: pa.ChunkedArray, name: str, table: BatchedTable, start: int) -> Array:
    gaps = cells.is_null(nan_is_null=pa.types.is_floating(cells.type)).to_numpy()
    if gaps.any():
        raise InvalidTarget(
            "The target {name!r} has no value in row {row} of {file}; every row needs one. Drop the rows without it.",
            name=name,
            row=start + int(np.flatnonzero(gaps)[0]) + 1,
            file=table.name,
        )
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if pa.types.is_boolean(kind):
        return np.asarray(cells.to_numpy())
    if kind_of_type(kind) == "date":
        raise InvalidTarget(
            "The target {name!r} holds dates ({file}); a classifier needs labels, a regression numbers. Choose another "
            "column.",
            name=name,
            file=table.name,
        )
    if kind_of_type(kind) == "numeric":
        values = cells.cast(kind).cast(pa.float64()) if pa.types.is_decimal(kind) else cells.cast(kind)
        return np.asarray(values.to_numpy())
    coded = cells.cast(pa.string()).combine_chunks().dictionary_encode()
    words = np.array(coded.dictionary.to_pylist() or [""], dtype=str)
    return np.asarray(words[coded.indices.to_numpy()])


def weight_of(chunk: pa.Table, name: str, table: BatchedTable, start: int) -> Array:
    """The weights of a chunk's rows."""
    cells = chunk.column(name)
    if kind_of_type(cells.type) != "numeric":
        raise InvalidData(
            "The weight {name!r} holds {kind} in {file}; weights are numbers. Choose another column.",
            name=name,
            kind=str(cells.type),
            file=table.name,
        )
    values = np.asarray(cells.cast(pa.float64()).to_numpy())
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise InvalidData(
            "The weight {name!r} is {value} in row {row} of {file}; weights must be numbers of 0 or more. Use 0 for "
            "rows that should not count.",
            name=name,
            value=str(cells[first].as_py()),
            row=start + first + 1,
            file=table.name,
        )
    return weights_of_some(values, len(values))
