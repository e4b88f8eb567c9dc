"""What is known of columns before tables are read: of plain numbers, a first reading tells nothing that a fit needs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from hiperplano.features.scanning.cells import is_plain
from hiperplano.features.scanning.learning.first_pass import Wanted
from hiperplano.tables.batches import BatchedTable

_FEWEST_GROUPS = 8  # row groups, for a sample of the rows that is drawn from some of them


def known_type(tables: Sequence[BatchedTable], wanted: Wanted, nan_is_missing: bool) -> str | None:
    """The type of the columns as numbers, if schemas and footers of the files tell that they are numbers without gaps.

    None where only reading can tell: other kinds of columns, cells that may be empty, files that cannot be read from
    the middle. NaN may stand for a gap, if `nan_is_missing`; else it is an error in whatever pass comes to it first.
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
