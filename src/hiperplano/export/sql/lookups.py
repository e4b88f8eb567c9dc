"""Several lookups in the same column as one table with several coefficients."""

from __future__ import annotations

from typing import Any

from hiperplano.data.design import Array
from hiperplano.export.formula import Cell, Feature, Lookup


def merged_lookups(features: tuple[Feature, ...], weights: Array) -> list[tuple[float, Feature]]:
    """Features with nonzero weights; lookups of one cell are added up.

    Parameters
    ----------
    weights : ndarray of shape (features,)
    """
    found: list[tuple[float, Feature]] = []
    by_cell: dict[Cell, list[tuple[float, Lookup]]] = {}
    places: dict[Cell, int] = {}
    for weight, feature in zip(weights.tolist(), features, strict=True):
        if not weight:
            continue
        if isinstance(feature, Lookup):
            if feature.cell not in by_cell:
                places[feature.cell] = len(found)
                found.append((1.0, feature))
            by_cell.setdefault(feature.cell, []).append((weight, feature))
        else:
            found.append((weight, feature))
    for cell, lookups in by_cell.items():
        found[places[cell]] = (1.0, _sum(lookups))
    return found


def _sum(lookups: list[tuple[float, Lookup]]) -> Lookup:
    tables = [{value: number for values, number in lookup.groups for value in values} for _, lookup in lookups]
    values = dict.fromkeys(value for table in tables for value in table)
    numbers = {
        value: _added(
            [(weight, table.get(value, each.other)) for (weight, each), table in zip(lookups, tables, strict=True)]
        )
        for value in values
    }
    groups: dict[float | None, list[Any]] = {}
    for value, number in numbers.items():
        groups.setdefault(number, []).append(value)
    return Lookup(
        lookups[0][1].cell,
        tuple((tuple(group), number) for number, group in groups.items()),
        _added([(weight, each.empty) for weight, each in lookups]),
        _added([(weight, each.other) for weight, each in lookups]),
    )


def _added(terms: list[tuple[float, float | None]]) -> float | None:
    if any(number is None for _, number in terms):
        return None
    return float(sum(weight * number for weight, number in terms if number))
