"""Linear models as PMML's `RegressionModel`, with encoded columns as derived fields."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement

from hiperplano.errors import NotAvailable
from hiperplano.export.formula import (
    Cell,
    Combination,
    Feature,
    Formula,
    Imputed,
    LinearScores,
    Lookup,
    Number,
    Scaled,
    Steps,
    cells_of,
)
from hiperplano.export.pmml.predicates import text_of, type_of, type_of_label

_TARGET = "hiperplano_target"


def add_regression(root: Element, model: Any, formula: Formula, cells: list[Cell], dictionary: Element) -> None:
    """One table of coefficients for a number or a class; the first of two classes has none."""
    scores, decision = formula.scores, formula.decision
    if not isinstance(scores, LinearScores) or (decision is None and scores.n_scores > 1):
        _refuse(model)
    if decision is not None and (decision.link != "softmax" or decision.costs is not None or decision.cutoff):
        _refuse(model)
    assert isinstance(scores, LinearScores)
    classes = [] if decision is None else decision.classes
    function = "classification" if classes else "regression"
    target = SubElement(dictionary, "DataField", name=_TARGET, optype="categorical" if classes else "continuous")
    target.set("dataType", type_of_label(classes[0]) if classes else "double")
    for label in classes:
        SubElement(target, "Value", value=text_of(label))
    normalisation = {True: "softmax", False: "logit"}[scores.n_scores > 1] if classes else "none"
    found = SubElement(root, "RegressionModel", modelName=type(model).__name__, functionName=function)
    found.set("normalizationMethod", normalisation)
    schema = SubElement(found, "MiningSchema")
    for cell in cells:
        SubElement(schema, "MiningField", name=cell.name)
    SubElement(schema, "MiningField", name=_TARGET, usageType="target")
    _add_output(found, classes)
    fields = _add_derived(found, formula)
    tables = zip(scores.coef.tolist(), scores.intercept.tolist(), strict=True)
    labels: list[Any] = classes[1:] if len(classes) == 2 else classes or [None]
    for label, (coef, intercept) in zip(labels, tables, strict=True):
        table = _table(found, label, intercept)
        for field, j in fields:
            if coef[j]:
                SubElement(table, "NumericPredictor", name=field, coefficient=repr(coef[j]))
    if len(classes) == 2:
        _table(found, classes[0], 0.0)


def _refuse(model: Any) -> None:
    raise NotAvailable(
        "{model} cannot be written as PMML: it is no linear regression of one target, logistic regression, linear "
        "discriminant analysis or scorecard. Use to_sql or to_onnx.",
        model=type(model).__name__,
    )


def _table(parent: Element, label: Any, intercept: float) -> Element:
    table = SubElement(parent, "RegressionTable", intercept=repr(intercept))
    if label is not None:
        table.set("targetCategory", text_of(label))
    return table


def _add_output(parent: Element, classes: list[Any]) -> None:
    output = SubElement(parent, "Output")
    name, kind = ("label", type_of_label(classes[0])) if classes else ("prediction", "double")
    optype = "categorical" if classes else "continuous"
    SubElement(output, "OutputField", name=name, feature="predictedValue", dataType=kind, optype=optype)
    for label in classes:
        field = {"name": f"probability_{text_of(label)}", "feature": "probability", "value": text_of(label)}
        SubElement(output, "OutputField", field | {"dataType": "double", "optype": "continuous"})


def _add_derived(parent: Element, formula: Formula) -> list[tuple[str, int]]:
    """The names of the fields with the used features, which are derived unless they are columns."""
    fields, made = [], []
    for feature, j in formula.used_features():
        if isinstance(feature, Number) and not feature.cell.codes:
            fields.append((feature.cell.name, j))
        else:
            made.append((feature, j))
            fields.append((f"hiperplano_feature_{j + 1}", j))
    if made:
        where = SubElement(parent, "LocalTransformations")
        for feature, j in made:
            derived = {"name": f"hiperplano_feature_{j + 1}", "displayName": formula.names[j]}
            field = SubElement(where, "DerivedField", derived | {"optype": "continuous", "dataType": "double"})
            _write(field, feature)
    return fields


def _write(parent: Element, feature: Feature) -> None:
    """A feature as an expression."""
    match feature:
        case Number(cell):
            _number(parent, cell)
        case Imputed(inner, fill):
            (cell,) = cells_of(inner)
            branch = _apply(parent, "if")
            _empty(branch, cell)
            _constant(branch, fill)
            _write(branch, inner)
        case Scaled(inner, shift, scale):
            quotient = _apply(parent, "/")
            difference = _apply(quotient, "-")
            _write(difference, inner)
            _constant(difference, shift)
            _constant(quotient, scale)
        case Combination(features, weights, constant):
            where = _apply(parent, "+")
            _constant(where, constant)
            _sum(where, list(zip(weights, features, strict=True)))
        case Lookup():
            _lookup(parent, feature)
        case Steps():
            _steps(parent, feature)


def _sum(parent: Element, terms: list[tuple[float, Feature]]) -> None:
    """Σ weight·feature by halving, since + takes two arguments and documents should not be deeply nested."""
    if len(terms) > 1:
        where = _apply(parent, "+")
        _sum(where, terms[: len(terms) // 2])
        _sum(where, terms[len(terms) // 2 :])
    else:
        product = _apply(parent, "*")
        _constant(product, terms[0][0])
        _write(product, terms[0][1])


def _number(parent: Element, cell: Cell) -> None:
    if cell.kind == "date":
        _microseconds(parent, cell)
        return
    for code in cell.codes:  # a missing value instead: `if` without an else branch is missing if its condition is false
        parent = _apply(parent, "if")
        different = _apply(parent, "notEqual")
        SubElement(different, "FieldRef", field=cell.name)
        _constant(different, code)
    SubElement(parent, "FieldRef", field=cell.name)


def _microseconds(parent: Element, cell: Cell) -> None:
    """Microseconds of a date since 1970, to the second, PMML's smallest unit.

    Days and seconds separately fit into 32 bits.
    """
    where = _apply(parent, "+")
    for function, unit in (("dateDaysSinceYear", 86_400e6), ("dateSecondsSinceMidnight", 1e6)):
        product = _apply(where, "*")
        _constant(product, unit)
        count = _apply(product, function)
        SubElement(count, "FieldRef", field=cell.name)
        if function == "dateDaysSinceYear":
            SubElement(count, "Constant", dataType="integer").text = "1970"


def _empty(parent: Element, cell: Cell) -> None:
    """Whether a cell is missing, or holds a number that stands for a missing value."""
    where = _apply(parent, "or") if cell.codes else parent
    SubElement(_apply(where, "isMissing"), "FieldRef", field=cell.name)
    for code in cell.codes:
        same = _apply(where, "equal")
        SubElement(same, "FieldRef", field=cell.name)
        _constant(same, code)


def _lookup(parent: Element, feature: Lookup) -> None:
    """if missing … else if among … else …"""
    parent = _apply(parent, "if")
    _empty(parent, feature.cell)
    _constant_or_missing(parent, feature.empty)
    for values, number in feature.groups:
        if number == feature.other:
            continue
        parent = _apply(parent, "if")
        where = parent if len(values) == 1 else _apply(parent, "or")
        for value in values:
            same = _apply(where, "equal")
            SubElement(same, "FieldRef", field=feature.cell.name)
            written = text_of(float(value) if feature.cell.kind == "number" else value, feature.cell)
            SubElement(same, "Constant", dataType=type_of(feature.cell)).text = written
        _constant_or_missing(parent, number)
    _constant_or_missing(parent, feature.other)


def _steps(parent: Element, feature: Steps) -> None:
    parent = _apply(parent, "if")
    _empty(parent, feature.cell)
    _constant_or_missing(parent, feature.empty)
    kind = type_of(feature.cell)
    tests = [("equal", code, number) for codes, number in feature.special for code in codes]
    tests += [("lessThan", cut, number) for cut, number in zip(feature.cuts, feature.values, strict=False)]
    for function, value, number in tests:
        parent = _apply(parent, "if")
        test = _apply(parent, function)
        SubElement(test, "FieldRef", field=feature.cell.name)
        SubElement(test, "Constant", dataType=kind).text = text_of(float(value), feature.cell)
        _constant(parent, number)
    _constant(parent, feature.values[-1])


def _apply(parent: Element, function: str) -> Element:
    return SubElement(parent, "Apply", function=function)


def _constant(parent: Element, value: float) -> None:
    SubElement(parent, "Constant", dataType="double").text = repr(float(value))


def _constant_or_missing(parent: Element, value: float | None) -> None:
    if value is None:
        SubElement(parent, "Constant", dataType="double", missing="true")
    else:
        _constant(parent, value)
