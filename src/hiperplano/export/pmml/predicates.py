"""Values, types and conditions in PMML."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from hiperplano.export.formula import Cell


def type_of(cell: Cell) -> str:
    """The data type of a field."""
    return {"number": "double", "date": "dateTime"}.get(cell.kind, "string")


def type_of_label(label: Any) -> str:
    """The data type of a class label."""
    return {bool: "boolean", int: "integer", float: "double"}.get(type(label), "string")


def text_of(value: Any, cell: Cell | None = None) -> str:
    """A value in PMML's format: numbers with all digits, dates in ISO format."""
    if cell is not None and cell.kind == "date":
        return str(np.datetime64(int(value), "us").astype("datetime64[us]")).removesuffix(".000000")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else str(value)


def is_missing(parent: Element, cell: Cell) -> None:
    """The condition that a field is missing."""
    SubElement(parent, "SimplePredicate", field=cell.name, operator="isMissing")


def among(parent: Element, cell: Cell, values: list[Any]) -> None:
    """The condition that a field has one of some values.

    (An array of texts has no clear way to write a quote.)
    """
    where = parent if len(values) == 1 else SubElement(parent, "CompoundPredicate", booleanOperator="or")
    for value in values:
        written = text_of(float(value) if cell.kind == "number" else value, cell)
        SubElement(where, "SimplePredicate", field=cell.name, operator="equal", value=written)


def between(parent: Element, cell: Cell, low: float | None, high: float | None) -> None:
    """The condition low ≤ field < high; an end may be open."""
    ends = [("greaterOrEqual", low), ("lessThan", high)]
    known = [(operator, end) for operator, end in ends if end is not None]
    if not known:
        SubElement(parent, "SimplePredicate", field=cell.name, operator="isNotMissing")
        return
    where = parent if len(known) == 1 else SubElement(parent, "CompoundPredicate", booleanOperator="and")
    for operator, end in known:
        SubElement(where, "SimplePredicate", field=cell.name, operator=operator, value=text_of(end, cell))
