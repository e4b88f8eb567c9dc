"""Features as SQL expressions of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any

from sqlglot import exp

from hiperplano.export.formula import Cell, Combination, Feature, Imputed, Lookup, Number, Scaled, Steps
from hiperplano.export.sql.dialects import LARGEST, Dialect, Expression, divided, total


@dataclass(frozen=True)
class FeatureWriter:
    """Writes features.

    Attributes
    ----------
    columns : mapping of Cell to str
        Names of the columns that hold the cells, as `Dialect.cell` makes them.
    """

    dialect: Dialect
    columns: Mapping[Cell, str]

    def _column(self, cell: Cell) -> Expression:
        return exp.column(self.columns[cell])

    def weighted(self, weight: float, feature: Feature) -> Expression:
        """weight·feature; lookup tables are multiplied directly."""
        if isinstance(feature, Lookup | Steps):
            return self.write(feature, weight)
        return exp.Mul(this=self.dialect.number(weight), expression=_bracketed(self.write(feature)))

    @singledispatchmethod
    def write(self, feature: Any, weight: float = 1.0) -> Expression:
        """A feature, NULL if the row has no prediction."""
        raise TypeError(type(feature))

    @write.register
    def _(self, feature: Number, weight: float = 1.0) -> Expression:
        return self._column(feature.cell)

    @write.register
    def _(self, feature: Imputed, weight: float = 1.0) -> Expression:
        return exp.Coalesce(this=self.write(feature.feature), expressions=[self.dialect.number(feature.fill)])

    @write.register
    def _(self, feature: Scaled, weight: float = 1.0) -> Expression:
        found = self.write(feature.feature)
        if feature.shift:
            found = exp.paren(exp.Sub(this=_bracketed(found), expression=self.dialect.number(feature.shift)))
        if feature.scale == 1.0:
            return found
        return divided(_bracketed(found), self.dialect.number(feature.scale))

    @write.register
    def _(self, feature: Combination, weight: float = 1.0) -> Expression:
        terms = [self.weighted(w, each) for w, each in zip(feature.weights, feature.features, strict=True) if w]
        return total([self.dialect.double(feature.constant), *terms])

    @write.register
    def _(self, feature: Lookup, weight: float = 1.0) -> Expression:
        by_number: dict[float | None, list[Any]] = {}
        known = {value for values, _ in feature.groups for value in values}
        for values, number in feature.groups:
            if number != feature.other:
                spelled = [each for value in values for each in self._spellings(feature.cell, value, known)]
                by_number.setdefault(_times(number, weight), []).extend(spelled)
        cases = [(self._among(feature.cell, values), number) for number, values in by_number.items()]
        if feature.empty != feature.other:
            cases.insert(0, (self._is_empty(feature.cell), _times(feature.empty, weight)))
        return self._case(cases, _times(feature.other, weight))

    @write.register
    def _(self, feature: Steps, weight: float = 1.0) -> Expression:
        column = self._column(feature.cell)
        cases: list[tuple[Expression, float | None]] = [(self._is_empty(feature.cell), _times(feature.empty, weight))]
        for codes, number in feature.special:
            cases.append((self._among(feature.cell, list(codes)), number * weight))
        if not feature.infinite:
            beyond = exp.GT(this=exp.Abs(this=column), expression=self.dialect.number(LARGEST))
            cases.append((beyond, None))
        for cut, number in zip(feature.cuts, feature.values, strict=False):
            cases.append((exp.LT(this=column.copy(), expression=self.dialect.number(cut, exact=True)), number * weight))
        return self._case(cases, feature.values[-1] * weight)

    def _case(self, cases: list[tuple[Expression, float | None]], other: float | None) -> Expression:
        """Cases with one constant of certain type, which determines the type of all."""
        if not cases:
            return exp.null() if other is None else self.dialect.double(other)
        found, constant = exp.Case(), self.dialect.double
        for condition, number in cases:
            found = found.when(condition, exp.null() if number is None else constant(number), copy=False)
            constant = constant if number is None else self.dialect.number
        return found if other is None else found.else_(constant(other), copy=False)

    def _is_empty(self, cell: Cell) -> Expression:
        return exp.Is(this=self._column(cell), expression=exp.null())

    def _spellings(self, cell: Cell, value: Any, known: set[Any]) -> list[Any]:
        """If a label may be a number or a boolean in the table: also its spelling in this system."""
        if cell.kind != "label":
            return [value]
        return [each for each in self.dialect.spellings(value) if each == value or each not in known]

    def _among(self, cell: Cell, values: list[Any]) -> Expression:
        if cell.kind in ("number", "date"):
            listed = [self.dialect.number(value, exact=True) for value in values]
        else:
            listed = [self.dialect.text(value) for value in values]
        if len(listed) == 1:
            return exp.EQ(this=self._column(cell), expression=listed[0])
        return exp.In(this=self._column(cell), expressions=listed)


def _times(number: float | None, weight: float) -> float | None:
    return None if number is None else number * weight


def _bracketed(expression: Expression) -> Expression:
    return exp.paren(expression, copy=False) if isinstance(expression, exp.Binary) else expression
