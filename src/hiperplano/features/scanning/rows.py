"""Rows of tables that are read again in every pass, with the same coding as a table in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sklearn.pipeline import Pipeline

from hiperplano.data.design import Array
from hiperplano.data.stream import Settings, Stream
from hiperplano.data.stream.drawn import DrawnRows
from hiperplano.errors import InvalidParameter
from hiperplano.features.coding import Coding
from hiperplano.features.columns import USED, Column
from hiperplano.features.scanning.as_they_are import UncodedColumns
from hiperplano.features.scanning.cells import is_plain, kind_of_type
from hiperplano.features.scanning.learning.beforehand import known_type
from hiperplano.features.scanning.learning.drawing import Draw, spread_rows
from hiperplano.features.scanning.learning.first_pass import FirstPass, Wanted, first_pass, refuse_unlike
from hiperplano.features.scanning.learning.medians import find_medians
from hiperplano.features.scanning.source import CodedColumns, PlainNumbers, TableSource
from hiperplano.features.table_columns import TableColumns
from hiperplano.tables.batches import BatchedTable
from hiperplano.tables.batches.table import GivenBatches, typed_table


class ScannedRows(Stream):
    """Rows of tables, read again in every pass: the result of `scan`. It replaces X and y.

    Attributes
    ----------
    n_rows, n_columns : int
        Number of rows, and of output columns.
    names : ndarray of str
        Names of the output columns.
    """

    tables: Sequence[BatchedTable]
    learning: Learning
    code: PlainNumbers | CodedColumns | UncodedColumns
    coded: Coding | None = None
    draw: Draw | None = None

    @property
    def n_tables(self) -> int:
        """Number of files, or other tables, with the rows."""
        return len(self.tables)

    @property
    def coding(self) -> Coding:
        """The fitted coding of the tables' columns, as a step of a pipeline for tables in memory.

        Medians of columns without gaps are computed on first use, since new rows may have gaps.
        """
        if self.coded is None:
            self.coded = _learned_coding(self.learning.first, every_median=True)
        return self.coded

    def drawn_rows(self) -> DrawnRows | None:
        return None if self.draw is None else self.draw.rows(self.code, self.tables)

    def chosen_rows(self, size: int, seed: int) -> Array:
        if self.draw is not None or not isinstance(self.source, TableSource):
            return super().chosen_rows(size, seed)
        return spread_rows(self._sizes, sorted(self.source.beginnings), size, seed)

    def as_they_are(self) -> ScannedRows:
        """The same rows with the original columns of the tables instead of coded ones, for binning."""
        if not isinstance(self.code, CodedColumns):
            return self
        source = self.source
        assert isinstance(source, TableSource)
        schema = typed_table(self.learning.tables).schema()
        code = UncodedColumns.of(self.learning.first.tallies, schema, self.code.known_only)
        changed = self.with_vectors()
        changed.code, changed.source = code, source.coded_by(code)
        changed.n_columns, changed.names, changed.dtype = len(code.columns), code.made, changed.source.dtype
        return changed

    def pipeline(self, model: Any) -> Pipeline:
        """Pipeline of the coding and a model fitted to these rows, for tables in memory and for saving.

        Parameters
        ----------
        model : fitted estimator
            Fitted to these rows.

        Returns
        -------
        Pipeline
            Fitted pipeline for pandas frames with the columns of the files.
        """
        names = [column.name for column in self.learning.wanted.columns]
        if list(getattr(model, "feature_names_in_", ())) == names != self.coding.get_feature_names_out().tolist():
            chosen = TableColumns(names)  # for a model that bins uncoded columns
            chosen.n_features_in_ = len(names)
            return Pipeline([("columns", chosen), ("model", model)])
        return Pipeline([("coding", self.coding), ("model", model)])


@dataclass
class Learning:
    """Results of the first pass over columns, computed on demand.

    Attributes
    ----------
    tables : sequence of BatchedTable
        Tables that encoders learn from.
    """

    tables: Sequence[BatchedTable]
    wanted: Wanted
    settings: Settings
    nan_is_missing: bool

    @cached_property
    def first(self) -> FirstPass:
        """The first pass over all columns."""
        return first_pass(self.tables, self.wanted, self.settings, self.nan_is_missing)


def scan_tables(
    tables: Sequence[BatchedTable],
    wanted: Wanted,
    settings: Settings,
    like: ScannedRows | None,
    nan_is_missing: bool,
    one_target: bool,
) -> ScannedRows:
    """Read all tables once, and build the design that reads them again.

    If the files show in advance that the columns are plain numbers, only targets and weights are read.
    """
    refuse_unlike(tables, wanted.names)
    learning = Learning(tables, wanted, settings, nan_is_missing)
    may_be_plain = like is None or isinstance(like.code, PlainNumbers)
    known = known_type(tables, wanted, nan_is_missing) if may_be_plain else None
    found = learning.first if known is None else first_pass(tables, wanted.without_columns(), settings, nan_is_missing)
    dtype = (known or _plain_type(tables, found)) if may_be_plain else None
    coding = None if like is None else like.coded
    if dtype is not None:
        names = tuple(column.name for column in wanted.columns)
        code: PlainNumbers | CodedColumns = PlainNumbers(names, dtype if like is None else like.dtype.name)
    else:
        coding = _learned_coding(found) if like is None else like.coding
        changes = any(isinstance(table, GivenBatches) for table in tables)
        code = CodedColumns(coding, known_only=like is None and changes)
    row_bytes = len(code.made) * (4 if code.dtype == "float32" else 8)
    found = found.in_chunks_for(row_bytes, settings, by_column=isinstance(code, PlainNumbers))
    source = TableSource(found.walk, found.sizes, found.places, code, seen=known is None)
    rows = ScannedRows(source, found.vectors, one_target, settings)
    rows.tables, rows.code, rows.learning = tables, code, learning if like is None else like.learning
    rows.draw = found.draw if known is None else None
    # A coding with medians only for columns with gaps is valid for these rows, but not for others.
    rows.coded = coding if like is not None or not isinstance(code, CodedColumns) else None
    return rows


def _plain_type(tables: Sequence[BatchedTable], found: FirstPass) -> str | None:
    """The type of the columns if all are numbers without gaps, which need no coding; else None."""
    if len(found.numbers) < len(found.tallies) or any(tally.n_gaps or tally.column.codes for tally in found.numbers):
        return None
    names = [tally.column.name for tally in found.numbers if tally.column.kind == "numeric"]
    if len(names) < len(found.tallies):
        return None
    schemas = [table.schema() for table in tables]
    if not all(is_plain(schema.field(name).type) for schema in schemas for name in names):
        return None
    return "float32" if all(tally.single for tally in found.numbers) else "float64"


def _learned_coding(found: FirstPass, every_median: bool = False) -> Coding:
    """The coding of the columns, with medians for columns with gaps, or for all."""
    unknown = [tally for tally in found.numbers if tally.has_values and tally.median is None]
    unknown = unknown if every_median else [tally for tally in unknown if tally.n_gaps]
    if unknown:
        find_medians(found.walk, unknown)
    return Coding.learned([tally.encoder() for tally in found.tallies])


def wanted_columns(
    table: BatchedTable,
    targets: Sequence[str],
    columns: Sequence[str | Column] | None,
    weight: str | None,
    kinds: Mapping[str, str | Sequence[str]],
    like: ScannedRows | None,
) -> Wanted:
    """The requested columns, with their kinds."""
    if like is not None:
        if columns is not None or kinds:
            raise InvalidParameter(
                "scan: like was given together with columns or kinds; the columns are those of the other scan. Leave "
                "one of them out."
            )
        return Wanted(like.learning.wanted.columns, targets, weight)
    schema = table.schema()
    others = {*targets, weight}
    names = [name for name in schema.names if name not in others] if columns is None else list(columns)
    table.has([*(name if isinstance(name, str) else name.name for name in names), *kinds])
    if not names:
        raise InvalidParameter(
            "scan: no column is left to learn from; {file} holds the target alone. Choose columns.", file=table.name
        )
    chosen = [
        each if isinstance(each, Column) else _column(each, kind_of_type(schema.field(each).type), kinds.get(each))
        for each in names
    ]
    return Wanted(chosen, targets, weight)


def _column(name: str, by_type: str, given: str | Sequence[str] | None) -> Column:
    if given is None:
        return Column(name, by_type or "numeric")
    if not isinstance(given, str):
        return Column(name, "ordered", order=tuple(map(str, given)))
    allowed = tuple(kind for kind in USED if kind != "ordered")
    if given not in allowed or (given == "numeric" and by_type == "nominal") or (given == "date" and by_type != "date"):
        raise InvalidParameter(
            "scan: column {name!r} cannot be {kind!r}: by its type it is {found}. Choose one of {kinds} that fits it, "
            "or list its values from low to high.",
            name=name,
            kind=given,
            found=by_type or "empty",
            kinds=", ".join(allowed),
        )
    return Column(name, given)
