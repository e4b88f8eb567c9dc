"""Features as ONNX nodes, several columns at a time if they are of one kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto

from hiperplano.errors import NotAvailable
from hiperplano.export.formula import (
    Cell,
    Combination,
    Feature,
    Formula,
    Imputed,
    Lookup,
    Number,
    Scaled,
    Steps,
    cells_in,
)
from hiperplano.export.onnx.graph import Graph, Tensor


@dataclass
class FeatureNodes:
    """Adds features to a graph.

    Attributes
    ----------
    columns : dict of Cell to Tensor
        Tensors of shape (n, 1): numbers with NaN for empty cells, or texts with "" for empty cells.
    rows : Tensor
        All cells as one array, if the input is one; else "".
    """

    graph: Graph
    cells: tuple[Cell, ...]
    rows: Tensor = ""
    columns: dict[Cell, Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph, formula: Formula) -> FeatureNodes:
        """Start with the inputs of a formula: `X` for an array, else one input for each column."""
        found = cls(graph, formula.cells)
        if formula.as_array:
            found.rows = graph.add_input("X", TensorProto.DOUBLE, len(formula.cells))
            return found
        used = cells_in(formula.features)
        names = [cell.name for cell in used]
        for cell in formula.cells:
            if names.count(cell.name) > 1:
                raise NotAvailable(
                    "column {name!r} is taken as text and as a number; an input of ONNX has one kind. Use it in one "
                    "way.",
                    name=cell.name,
                )
            if cell in used:
                kind = TensorProto.STRING if cell.kind in ("text", "label") else TensorProto.DOUBLE
                found.columns[cell] = found._without_codes(cell, graph.add_input(cell.name, kind, 1))
        return found

    def column(self, cell: Cell) -> Tensor:
        """One cell of each row, of shape (n, 1)."""
        if cell not in self.columns:
            place = [each.name for each in self.cells].index(cell.name)
            number = self.graph.constant([place], np.int64)
            self.columns[cell] = self._without_codes(cell, self.graph.add("Gather", self.rows, number, axis=1))
        return self.columns[cell]

    def _without_codes(self, cell: Cell, column: Tensor) -> Tensor:
        """Replace numbers that stand for missing values by NaN."""
        for code in cell.codes:
            same = self.graph.add("Equal", column, self.graph.constant(code))
            column = self.graph.add("Where", same, self.graph.constant(np.nan), column)
        return column

    def write(self, features: tuple[Feature, ...]) -> Tensor:
        """Columns of features, of shape (n, features)."""
        first, graph = features[0], self.graph
        if len({type(feature) for feature in features}) == 1:
            if isinstance(first, Number):
                return self._numbers([feature.cell for feature in features if isinstance(feature, Number)])
            if isinstance(first, Scaled):
                inner = self.write(tuple(each.feature for each in features if isinstance(each, Scaled)))
                shifts = [each.shift for each in features if isinstance(each, Scaled)]
                scales = [each.scale for each in features if isinstance(each, Scaled)]
                return graph.add("Div", graph.add("Sub", inner, graph.constant(shifts)), graph.constant(scales))
            if isinstance(first, Imputed):
                inner = self.write(tuple(each.feature for each in features if isinstance(each, Imputed)))
                fills = [float(each.fill) for each in features if isinstance(each, Imputed)]
                return graph.add("Where", graph.add("IsNaN", inner), graph.constant(fills), inner)
            if isinstance(first, Lookup) and all(isinstance(f, Lookup) and f.cell == first.cell for f in features):
                return self._lookups([each for each in features if isinstance(each, Lookup)])
            if isinstance(first, Combination) and all(
                isinstance(each, Combination) and each.features == first.features for each in features
            ):
                return self._combinations([each for each in features if isinstance(each, Combination)])
            if len(features) == 1 and isinstance(first, Steps):
                return self._steps(first)
        return graph.add("Concat", *(self.write(run) for run in _runs(features)), axis=1)

    def _numbers(self, cells: list[Cell]) -> Tensor:
        if self.rows and cells == list(self.cells) and not any(cell.codes for cell in cells):
            return self.rows
        columns = [self.column(cell) for cell in cells]
        return columns[0] if len(columns) == 1 else self.graph.add("Concat", *columns, axis=1)

    def _combinations(self, features: list[Combination]) -> Tensor:
        weights = np.array([feature.weights for feature in features]).T
        product = self.graph.add("MatMul", self.write(features[0].features), self.graph.constant(weights))
        return self.graph.add("Add", product, self.graph.constant([feature.constant for feature in features]))

    def _lookups(self, features: list[Lookup]) -> Tensor:
        """A table row for each value; the last two rows are for other values and for empty cells."""
        cell, graph = features[0].cell, self.graph
        values = list(dict.fromkeys(value for each in features for group, _ in each.groups for value in group))
        columns = []
        for each in features:
            numbers = {value: number for group, number in each.groups for value in group}
            columns.append([*(numbers.get(value, each.other) for value in values), each.other, each.empty])
        table = np.array(columns, dtype=np.float64).T  # None (no prediction) becomes NaN
        find = self._index_of_text if cell.kind in ("text", "label") else self._index_of_number
        return graph.add("Gather", graph.constant(table), graph.flat(find(cell, values)), axis=0)

    def _index_of_text(self, cell: Cell, values: list[Any]) -> Tensor:
        other, empty = len(values), len(values) + 1
        known = {str(value): number for number, value in enumerate(values)}
        known.setdefault("", empty)
        return self.graph.add(
            "LabelEncoder",
            self.column(cell),
            domain="ai.onnx.ml",
            keys_strings=list(known),
            values_int64s=list(known.values()),
            default_int64=other,
        )

    def _index_of_number(self, cell: Cell, values: list[Any]) -> Tensor:
        graph, column = self.graph, self.column(cell)
        known = values or [np.nan]  # NaN equals nothing
        same = graph.as_double(graph.add("Equal", column, graph.constant([known])))
        there = graph.add("Greater", graph.add("ReduceMax", same, axes=[1], keepdims=1), graph.constant(0.0))
        place = graph.add("ArgMax", same, axis=1, keepdims=1)
        found = graph.add("Where", there, place, graph.constant([[len(values)]], np.int64))
        return graph.add("Where", graph.add("IsNaN", column), graph.constant([[len(values) + 1]], np.int64), found)

    def _steps(self, feature: Steps) -> Tensor:
        """The number of cuts that a value has reached is its interval number."""
        graph, column, n_bins = self.graph, self.column(feature.cell), len(feature.cuts or (0,)) + 1
        values = feature.values if feature.cuts else feature.values * 2
        table = [*values, *(number for _, number in feature.special)]
        codes = [code for group, _ in feature.special for code in group]
        owners = [n_bins + number for number, (group, _) in enumerate(feature.special) for _ in group]
        # One interval: a cut that only infinity reaches, with the same number on both sides.
        cuts = feature.cuts or (np.inf,)
        reached = graph.as_double(graph.add("GreaterOrEqual", column, graph.constant([cuts])))
        found = graph.as_index(graph.add("ReduceSum", reached, graph.constant([1], np.int64), keepdims=1))
        for code, owner in zip(codes, owners, strict=True):
            same = graph.add("Equal", column, graph.constant([[code]]))
            found = graph.add("Where", same, graph.constant([[owner]], np.int64), found)
        unknown = np.nan if feature.empty is None else feature.empty
        outside = {"IsNaN": unknown} if feature.infinite else {"IsNaN": unknown, "IsInf": np.nan}
        for test, number in outside.items():
            table.append(number)
            place = graph.constant([[len(table) - 1]], np.int64)
            found = graph.add("Where", graph.add(test, column), place, found)
        numbers = graph.constant(np.array(table, dtype=np.float64)[:, None])
        return graph.add("Gather", numbers, graph.flat(found), axis=0)


def _runs(features: tuple[Feature, ...]) -> list[tuple[Feature, ...]]:
    """Neighbouring features that can be written together."""
    runs: list[list[Feature]] = []
    for feature in features:
        alone = isinstance(feature, Steps)
        same = bool(runs) and _kin(runs[-1][-1]) == _kin(feature) and not alone
        if same:
            runs[-1].append(feature)
        else:
            runs.append([feature])
    return [tuple(run) for run in runs]


def _kin(feature: Feature) -> tuple[Any, ...]:
    match feature:
        case Lookup(cell):
            return Lookup, cell
        case Combination(features):
            return Combination, features
        case _:
            return (type(feature),)
