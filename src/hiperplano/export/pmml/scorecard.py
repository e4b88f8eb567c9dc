"""A scorecard as PMML's `Scorecard`."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement

from hiperplano.export.formula import Cell, Feature, Formula, Lookup, Steps
from hiperplano.export.pmml.predicates import among, between, is_missing

_REASONS = 3


def add_scorecard(root: Element, card: Any, formula: Formula, cells: list[Cell]) -> None:
    """Characteristics are the variables, and attributes their bins.

    The first attribute whose condition holds gives its points.
    """
    assert formula.points is not None
    model = SubElement(
        root,
        "Scorecard",
        modelName="Scorecard",
        functionName="regression",
        initialScore=repr(formula.points.constant),
        useReasonCodes="true",
        reasonCodeAlgorithm="pointsBelow",
        baselineMethod="max",
    )
    schema = SubElement(model, "MiningSchema")
    for cell in cells:
        SubElement(schema, "MiningField", name=cell.name)
    output = SubElement(model, "Output")
    SubElement(output, "OutputField", name="points", feature="predictedValue", dataType="double", optype="continuous")
    for rank in range(1, min(_REASONS, len(card.variables_)) + 1):
        reason = {"feature": "reasonCode", "rank": str(rank), "dataType": "string", "optype": "categorical"}
        SubElement(output, "OutputField", {"name": f"reason_{rank}"} | reason)
    parts = SubElement(model, "Characteristics")
    for variable, feature in zip(card.variable_points(), formula.points.features, strict=True):
        named = {"name": variable.name, "reasonCode": variable.name, "baselineScore": repr(variable.best)}
        _add_bins(SubElement(parts, "Characteristic", named), feature)


def _add_bins(parent: Element, feature: Feature) -> None:
    assert isinstance(feature, Steps | Lookup)
    cell = feature.cell
    groups = feature.special if isinstance(feature, Steps) else feature.groups
    is_missing(_attribute(parent, feature.empty), cell)
    for values, points in groups:
        if values:
            among(_attribute(parent, points), cell, list(values))
    if isinstance(feature, Steps):
        ends = [None, *feature.cuts, None]
        for low, high, points in zip(ends[:-1], ends[1:], feature.values, strict=True):
            between(_attribute(parent, points), cell, low, high)
    elif feature.other is not None:
        SubElement(_attribute(parent, feature.other), "True")


def _attribute(parent: Element, points: float | None) -> Element:
    return SubElement(parent, "Attribute", partialScore=repr(float(points or 0.0)))
