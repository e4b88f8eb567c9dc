"""Column types that are known before tables are read: columns of plain numbers need no first pass."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from hiperplano.features.scanning.cells import is_plain
from hiperplano.features.scanning.learning.first_pass import Wanted
from hiperplano.tables.batches import BatchedTable

_FEWEST_GROUPS = 8  # least number of row groups for a sample drawn from some of them


def known_type(tables: Sequence[BatchedTable], wanted: Wanted, nan_is_missing: bool) -> str | None:
    """The common type of the columns, if the schemas and footers of the files prove that they are numbers without gaps.

    Return None if only reading can tell: other kinds of columns, cells that may be empty, files that cannot be read
    from the middle. NaN may stand for a gap if `nan_is_missing`; otherwise it is an error in the pass that reads it
    first.
    """
    names = [column.name for column in wanted.columns]
    if any(column.kind != "numeric" or column.codes for column in wanted.columns):
        return None
    groups = [table.groups() for table in tables]
    if any(each is None for each in groups) or sum(len(each or ()) for each in groups) < _FEWEST_GROUPS:
        return None
    kinds = [schema.field(name).type for schema in (table.schema() for table in tables) for name in names]
    if not all(map(is_plain, kinds)) or (nan_is_missing and any(map(pa.types.is_floating, kinds))):
        return None
    if not all(table.is_complete(names) for table in tables):
        return None
    return "float32" if all(map(pa.types.is_float32, kinds)) else "float64"
